"""``clar-tune graphs``."""

import click


@click.group()
def graphs() -> None:
    """List, fetch and verify graphs."""
