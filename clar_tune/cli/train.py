"""``clar-tune train``."""

import click


@click.command()
def train() -> None:
    """Train once."""
