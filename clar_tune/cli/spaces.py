"""``clar-tune spaces``: list, show and check spaces."""

import json
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.options import store_option
from clar_tune.cli.output import console
from clar_tune.errors import ClarTuneError
from clar_tune.records import to_stored

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from clar_tune.models import Method
    from clar_tune.space import Correlate, Parameter, Space

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def spaces(ctx: click.Context, as_json: bool) -> None:
    """List the spaces that ship; show or check one.

    \b
    Examples:
      clar-tune spaces
      clar-tune spaces show heterophily --settings paper
      clar-tune spaces check my-space.yaml
    """  # noqa: D301
    if ctx.invoked_subcommand is not None:
        return
    from clar_tune.space import load_space, shipped_spaces

    found = [load_space(name) for name in shipped_spaces()]
    if as_json:
        click.echo(json.dumps([_summary(space) for space in found], indent=2))
    else:
        _print_list(found)


@spaces.command()
@click.argument("space", metavar="NAME_OR_FILE")
@click.option(
    "--settings", help="`tuned`, `paper` or `released`.  [default: all that the space has]"
)
@json_option
def show(space: str, settings: str | None, as_json: bool) -> None:
    """Show what each method of a space may choose from.

    Methods that share a line are treated alike.

    \b
    Example:
      clar-tune spaces show heterophily --settings paper
    """  # noqa: D301
    from clar_tune.space import load_space
    from clar_tune.validation import one_of

    loaded = load_space(space)
    chosen = list(loaded.settings)
    if settings is not None:
        chosen = [one_of(f"settings of {loaded.name}", settings, loaded.settings)]
    if as_json:
        resolved = {name: _resolved(loaded, name) for name in chosen}
        click.echo(json.dumps({**_summary(loaded), "settings": resolved}, indent=2))
        return
    _print_head(loaded)
    for name in chosen:
        _print_settings(loaded, name)


@spaces.command()
@click.argument("files", nargs=-1, required=True, metavar="NAME_OR_FILE...")
def check(files: tuple[str, ...]) -> None:
    """Check spaces; the exit code is 1 if one is wrong.

    \b
    Example:
      clar-tune spaces check my-space.yaml
    """  # noqa: D301
    from clar_tune.space import load_space

    wrong = False
    for file in files:
        try:
            click.echo(f"{file}: ok, {_extent(load_space(file))}")
        except ClarTuneError as error:
            wrong = True
            click.echo(str(error))
    if wrong:
        raise SystemExit(1)


@spaces.command()
@click.argument("run", default="latest")
@store_option
def winners(run: str, store: str) -> None:
    """Print a space in which every method of a run has its winner's values: nothing is searched.

    RUN is a name, the beginning of one, or `latest`. Trained under another protocol, the same
    configurations tell how far an effect changes with the splits.

    \b
    Example:
      clar-tune spaces winners first > winners.yaml
      clar-tune run --space winners.yaml --protocol balanced-60-20-20 --name second
      clar-tune compare first second
    """  # noqa: D301
    from clar_tune.analysis import read_run, winners_space
    from clar_tune.store import Store

    opened = Store.open(store)
    click.echo(winners_space(read_run(opened, opened.find(run).name)), nl=False)


def _extent(space: "Space") -> str:
    trainings = ", ".join(f"{name} {space.most_trainings(name):,}" for name in space.settings)
    return f"{space.studies} studies, trainings at most: {trainings}"


def _summary(space: "Space") -> dict[str, Any]:
    conditions = {method.name: space.conditions_of(method) for method in space.methods}
    return {
        "name": space.name,
        "description": space.description,
        "graphs": list(space.graphs),
        "methods": list(conditions),
        "protocols": dict(space.protocols),
        "preprocessing": space.preprocessing,
        "margin": space.margin,
        "conditions": {name: found for name, found in conditions.items() if found != ({},)},
        "columns": list(space.columns),
        "correlate": space.correlate.content if space.correlate else None,
        "paper": space.paper,
        "studies": space.studies,
        "settings": {name: _rules(space, name) for name in space.settings},
    }


def _resolved(space: "Space", settings: str) -> dict[str, Any]:
    """The rules of one of the settings, and what each method may choose from."""
    methods = {
        method.name: _stored(_parameters(space, settings, method)) for method in space.methods
    }
    levels = space.settings[settings].levels
    graphs = {graph: _stored(own.values()) for graph, own in levels.graphs.items()}
    methods_on = {
        graph: {method: _stored(own.values()) for method, own in methods.items()}
        for graph, methods in levels.methods_on.items()
    }
    rules = _rules(space, settings)
    return {**rules, "methods": methods, "graphs": graphs, "methods_on": methods_on}


def _stored(parameters: "Iterable[Parameter]") -> dict[str, Any]:
    return {
        parameter.name: {**to_stored(parameter.domain), "when": dict(parameter.when)}
        for parameter in parameters
    }


def _rules(space: "Space", settings: str) -> dict[str, Any]:
    chosen = space.settings[settings]
    return {
        "protocols": dict(chosen.protocols),
        "preprocessing": chosen.preprocessing,
        "training": to_stored(chosen.training),
        "search": to_stored(chosen.search),
        "finals": chosen.finals,
        "precision": to_stored(chosen.precision),
        "ablation": chosen.ablation,
        "most_trainings": space.most_trainings(settings),
    }


def _parameters(space: "Space", settings: str, method: "Method") -> "list[Parameter]":
    """What a method may choose from, apart from what its conditions fix."""
    condition = space.conditions_of(method)[0]
    given = space.settings[settings].levels.of(method.name, method.parameters()).values()
    return [parameter for parameter in given if parameter.name not in condition]


def _print_list(found: "list[Space]") -> None:
    from clar_tune.analysis import finals_told

    table = _table("name", "graphs", "methods", "studies", "budget", "description")
    for space in found:
        rules = _rules(space, "tuned")
        budget = finals_told(rules).partition(" finals")[0]
        if _searches(space, "tuned"):
            search = rules["search"]
            budget = f"{search['trials']} x {_repeats(search)} + {budget}"
        counts = (len(space.graphs), len(space.methods), space.studies)
        table.add_row(space.name, *map(str, counts), budget, space.description)
    _print(table)
    _print(
        "budget of each study: trials x repeats at most (after a / on graphs below 1,000 nodes), "
        "+ finals of each arm; one number: finals alone"
    )


def _searches(space: "Space", settings: str) -> bool:
    """Whether some study has more than one configuration."""
    return any(
        own.searched
        for method in space.methods
        for condition in space.conditions_of(method)
        for own in space.by_graph(settings, method, condition, space.graphs).values()
    )


def _repeats(search: dict[str, Any]) -> str:
    small = search.get("small_repeats")
    return f"{search['repeats']}/{small}" if small else str(search["repeats"])


def _print_head(space: "Space") -> None:
    from clar_tune.space import Choice

    _print(f"{space.name}: {space.description}")
    for sweep in space.conditions:
        varied = " x ".join(f"{name} {Choice(values)}" for name, values in sweep.values.items())
        _print(f"conditions of {', '.join(sweep.methods) or 'all methods'}: {varied}")
    if space.columns:
        _print(f"columns: method and {', '.join(space.columns)}; other conditions make rows")
    if space.correlate:
        _print(f"correlates: {_correlated(space.correlate)}")
    if space.paper:
        _print(f"beside Table {space.paper} of the paper")
    _print(f"margin: {100 * space.margin:g} of 100 points, below which an effect counts as none")
    _print(_extent(space))


def _correlated(correlate: "Correlate") -> str:
    from clar_tune.space import Choice

    if correlate.kind == "spearman":
        return f"Spearman of {correlate.key} and the test score"
    return f"Pearson of the test scores under {correlate.key} {Choice(correlate.of)}, in pairs"


def _print_settings(space: "Space", settings: str) -> None:
    from clar_tune.analysis import finals_told

    rules, methods = _rules(space, settings), [method.name for method in space.methods]
    arms = "" if rules["ablation"] else " without arms"
    _print(f"\n{settings}: {_listed(rules['search'])}, {finals_told(rules)}{arms}")
    protocols = rules["protocols"]
    for protocol in dict.fromkeys(protocols.values()):
        graphs = [graph for graph in space.graphs if protocols[graph] == protocol]
        _print(f"{protocol}: {', '.join(graphs)}")
    _print(f"edges: {rules['preprocessing']}")
    _print(f"training: {_listed(rules['training'])}")
    lines: dict[tuple[str, str], list[str]] = {}
    for method in space.methods:
        for parameter in _parameters(space, settings, method):
            lines.setdefault((parameter.name, _choices(parameter)), []).append(method.name)
    table = _table("parameter", "values", "methods")
    for (name, choices), users in lines.items():
        table.add_row(name, choices, "all" if users == methods else ", ".join(users))
    for line in _of_graphs(space, settings):
        table.add_row(*line)
    _print(table)


def _of_graphs(space: "Space", settings: str) -> list[tuple[str, str, str]]:
    """What single graphs have of their own: parameter, values, and who has them where."""
    levels = space.settings[settings].levels
    alike: dict[tuple[str, str, str], list[str]] = {}
    for graph, own in levels.graphs.items():
        for user, parameters in {"all": own, **levels.methods_on.get(graph, {})}.items():
            for parameter in parameters.values():
                line = parameter.name, _choices(parameter), user
                alike.setdefault(line, []).append(graph)
    return [
        (name, choices, f"{user} on {', '.join(graphs)}")
        for (name, choices, user), graphs in alike.items()
    ]


def _choices(parameter: "Parameter") -> str:
    from clar_tune.space import Choice

    when = [f"{name} is {Choice(values)}" for name, values in parameter.when.items()]
    return f"{parameter.domain} when {' and '.join(when)}" if when else str(parameter.domain)


def _listed(rules: dict[str, Any]) -> str:
    from clar_tune.space import written

    texts = {name: written(value) for name, value in rules.items() if name != "small_repeats"}
    if "small_repeats" in rules:
        texts["repeats"] += f" ({rules['small_repeats']} on graphs below 1,000 nodes)"
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def _table(*columns: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number == 0)
    return table


def _print(what: "str | Table") -> None:
    console().print(what, markup=False)
