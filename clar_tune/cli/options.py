"""Options that several commands share, and spans of time as people write them."""

import re

import click

store_option = click.option(
    "--store",
    envvar="CLAR_TUNE_STORE",
    default="clar-store",
    show_default="$CLAR_TUNE_STORE, then ./clar-store",
    metavar="STORE",
    help="Directory or bucket that holds the results.",
)

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Duration(click.ParamType[float]):
    """``90``, ``45s``, ``30m``, ``1.5h`` or ``1h30m``, in seconds."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds; zero and less are refused."""
        if isinstance(value, int | float):
            return float(value)
        text = str(value).strip().lower()
        parts = re.findall(r"([0-9]*\.?[0-9]+)([smhd])", text)
        if "".join(number + unit for number, unit in parts) == text and parts:
            seconds = sum(float(number) * UNITS[unit] for number, unit in parts)
        elif re.fullmatch(r"[0-9]*\.?[0-9]+", text):
            seconds = float(text)
        else:
            self.fail(f"{value!r} is no span of time: write 90s, 30m, 1.5h or 1h30m.", param, ctx)
        if seconds <= 0:
            self.fail(f"{value!r}: choose more than 0.", param, ctx)
        return seconds
