"""Options that several commands share, and what options can hold: spans of time, names."""

import re

import click

from clar_tune.space import LONGEST_TIMEOUT

store_option = click.option(
    "--store",
    envvar="CLAR_TUNE_STORE",
    default="clar-store",
    show_default="$CLAR_TUNE_STORE, then ./clar-store",
    metavar="STORE",
    help="Directory or bucket that holds the results.",
)

DIGITS = 9
"""Of a number of trials or finals; what the budget allows is told once the run is known."""

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
        if seconds > LONGEST_TIMEOUT:
            self.fail(f"{value!r}: choose at most {LONGEST_TIMEOUT:g} seconds.", param, ctx)
        return seconds


class Names(click.ParamType[tuple[str, ...]]):
    """Names separated by commas."""

    name = "names"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names; an empty one is refused."""
        names = tuple(name.strip() for name in str(value).split(","))
        if not all(names):
            self.fail(f"{value!r}: write names separated by commas.", param, ctx)
        return names


class More(click.ParamType[int]):
    """``+20`` or ``20``: so many more."""

    name = "more"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """How many more; at least one."""
        text = str(value).removeprefix("+")
        if not text.isdecimal() or len(text) > DIGITS or int(text) < 1:
            self.fail(f"{value!r}: write how many more, such as +20.", param, ctx)
        return int(text)
