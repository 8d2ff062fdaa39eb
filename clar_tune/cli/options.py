"""Options that several commands share."""

import click

store_option = click.option(
    "--store",
    envvar="CLAR_TUNE_STORE",
    default="clar-store",
    show_default="$CLAR_TUNE_STORE, then ./clar-store",
    metavar="STORE",
    help="Directory or bucket that holds the results.",
)
