"""Options that several commands share, and what options can hold: spans of time, names."""

import re
from collections.abc import Callable
from typing import Any

import click

from clar_tune.space import LONGEST_TIMEOUT
from clar_tune.store import LATEST

STORE = "clar-store"
"""The store where none is named."""

store_option = click.option(
    "--store",
    envvar="CLAR_TUNE_STORE",
    default=STORE,
    show_default=f"$CLAR_TUNE_STORE, then ./{STORE}",
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
    """``+20``: so many more. Without the sign it could be meant as how many there are to be."""

    name = "more"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """How many more; at least one."""
        text = str(value)
        number = text.removeprefix("+")
        if not number.isdecimal() or len(number) > DIGITS or int(number) < 1:
            self.fail(f"{value!r}: write how many more, such as +20.", param, ctx)
        if number == text:
            self.fail(
                f"{value!r}: write +{number} for {number} more than the run has.", param, ctx
            )
        return int(number)


def run_argument(default: str | None = LATEST, *, required: bool = False) -> Callable[..., Any]:
    """RUN, as an argument or behind ``--run``: a command gets it as ``run``."""

    def remember(ctx: click.Context, option: click.Parameter, given: str | None) -> None:
        if given is not None:
            ctx.meta[_BEHIND_OPTION] = given

    def choose(ctx: click.Context, argument: click.Parameter, given: str | None) -> str | None:
        behind = ctx.meta.get(_BEHIND_OPTION, given)
        if given is not None and given != behind:
            raise click.UsageError(f"two runs, {given} and {behind}: name one.", ctx)
        if required and behind is None and not ctx.resilient_parsing:
            raise click.UsageError(f"which run? Name it, as in {ctx.command_path} {LATEST} …", ctx)
        return default if behind is None else behind

    told = "" if default is None else f"  [default: {default}]"
    option = click.option(
        *("--run", "run_option"),
        metavar="RUN",
        is_eager=True,  # known before the argument is looked at
        expose_value=False,
        callback=remember,
        help=f"The same as the argument RUN.{told}",
    )
    argument = click.argument("run", required=False, metavar="[RUN]", callback=choose)
    return lambda command: argument(option(command))


_BEHIND_OPTION = "clar_tune.cli.options.run"
