"""A winner as one file that needs torch-geometric alone."""

from dataclasses import fields
from typing import Any, NamedTuple

from clar_tune.conditions import parts_of
from clar_tune.configuration import Configuration
from clar_tune.errors import ParameterError
from clar_tune.graphs import (
    BLOCK_MODELS,
    DATASETS,
    PROTOCOLS,
    RAW_FEATURES,
    VARIANTS,
    base_name,
)
from clar_tune.records import Params, Value
from clar_tune.script.pieces import Pieces, arguments_of, has_part
from clar_tune.version import NUMBERS_VERSION

OPTIMISER = ("lr", "weight_decay")
RULES = ("max_epochs", "patience", "warmup", "select", "stop")
SPLITS = {
    "random-60-20-20": "random",
    "balanced-60-20-20": "balanced",
    "coauthor-20-30": "coauthor",
}
"""Protocols that draw their splits; those of others come with the graph."""
SAME = {"nl": "clar"}
"""Regularizers that are a case of another."""
WIDTH = 80
"""Characters of a value that stands in one line."""

HEADER = '''\
"""{method} on {graph}: {origin}.

Needs torch and torch-geometric, with numpy beneath them, and nothing else. It trains on the
splits of its {finals} finals and prints their test scores:

    python {name} FOLDER

FOLDER has the files of the graph as torch-geometric lays them out; what is not there it
downloads. {draws}
"""

'''
SAME_DRAWS = "Stored scores come again, but for an answer that the last digits decide."
OTHER_DRAWS = "Stored scores come again up to chance: they were trained by other random numbers."


class Piece(NamedTuple):
    """A backbone or a regularizer: the part it is written by, or where the user's own is."""

    part: str
    own: str = ""

    def stand_in(self, name: str) -> str:
        """What is written in the place of a part: the import of the user's class."""
        module, _, attribute = self.own.partition(":")
        return f'"""A class of the user\'s."""\n\nfrom {module} import {attribute} as {name}\n'


def script_of(configuration: Configuration, name: str) -> str:
    """The script that trains a configuration on its pairs; ``name`` is that of its file."""
    _check(configuration)
    backbone, _, regularizer = configuration.method.partition("+")
    network, penalty = _piece("networks", backbone), _piece("penalties", regularizer or "none")
    source, graph = _source(configuration.graph)
    values: dict[str, Any] = {"GRAPH": graph, **_shares(configuration, network, penalty)}
    given = {"constants": _constants(configuration, values)}
    if network.own:
        given["networks.own"] = network.stand_in("Network")
    if penalty.own:
        given["own"] = penalty.stand_in("Own")
    pieces = Pieces(
        {
            "networks": network.part,
            "penalties": penalty.part,
            "scores": configuration.metric,
            "sources": source,
            "splits": SPLITS.get(configuration.protocol, "fixed"),
        },
        given,
    )
    pieces.add("main")
    return _header(configuration, name) + pieces.text()


def _header(configuration: Configuration, name: str) -> str:
    origin = f"trial {configuration.trial} of run {configuration.run}"
    same = configuration.engine == "torch" and configuration.numbers == NUMBERS_VERSION
    return HEADER.format(
        method=configuration.method,
        graph=configuration.graph,
        origin=origin if configuration.run else "one training",
        finals=len(configuration.pairs),
        name=name,
        draws=SAME_DRAWS if same else OTHER_DRAWS,
    )


def _check(configuration: Configuration) -> None:
    """Refuse what no script is written for, and say what does it."""
    varied = [key for key in parts_of(configuration.condition) if key in VARIANTS]
    reasons = {
        f"the condition {', '.join(varied)} changes the graph": bool(varied),
        "it learns numbers, not classes": configuration.metric == "mse",
        "test nodes were withheld by --outer-test": configuration.outer_test > 0,
        "it has no finals yet, whose splits the script would train on": not configuration.pairs,
        f"no script knows the protocol {configuration.protocol}": not (
            configuration.protocol in SPLITS or PROTOCOLS[configuration.protocol].fixed
        ),
    }
    for reason, holds in reasons.items():
        if holds:
            raise _refused(configuration.method, reason)


def _refused(what: str, reason: str) -> ParameterError:
    return ParameterError(
        f"--script: {what}: {reason}. Train it with `clar-tune train --from`, or take `--json`."
    )


def _piece(folder: str, name: str) -> Piece:
    if ":" in name:
        return Piece("own", name)
    part = SAME.get(name, name)
    if not has_part(f"{folder}.{part}"):
        raise _refused(name, "it is not among the methods that scripts are written for")
    return Piece(part)


def _source(graph: str) -> tuple[str, dict[str, Any]]:
    """Which part reads a graph, and what it is told."""
    base = base_name(graph)
    if base in BLOCK_MODELS:
        model = BLOCK_MODELS[base]
        sizes = {field.name: getattr(model, field.name) for field in fields(model)}
        return "generated", {"name": base, **sizes}
    known = DATASETS.get(base)
    if known is None or known.source is None:
        raise _refused(graph, "the graph is not in the catalogue")
    source = known.source
    if source.pyg_class is None:
        return "file", {"path": f"{source.folder}/{source.files[0]}"}
    return "dataset", {"kind": source.pyg_class, "name": source.folder.partition("/")[0]}


def _shares(configuration: Configuration, network: Piece, penalty: Piece) -> dict[str, Params]:
    """The parameters by what takes them; one that nothing takes would be ignored in silence."""
    left: dict[str, Value] = dict(configuration.params)
    optimiser = {name: left.pop(name) for name in OPTIMISER}
    shares: dict[str, Params] = {}
    for name, piece, part in (
        ("NETWORK", network, f"networks.{network.part}"),
        ("PENALTY", penalty, f"penalties.{penalty.part}"),
    ):
        known = () if piece.own else arguments_of(part, name.title())
        shares[name] = {key: left.pop(key) for key in known if key in left}
    if network.own and penalty.own and left:
        raise _refused(
            configuration.method, f"which of its classes takes {', '.join(left)} is not known"
        )
    for name, piece in (("NETWORK", network), ("PENALTY", penalty)):
        if piece.own:
            shares[name], left = left, {}
    if left:
        raise _refused(configuration.method, f"scripts do not know {', '.join(left)}")
    rules = {name: getattr(configuration, name) for name in RULES}
    return {**shares, "RULES": {**optimiser, **rules}}


def _constants(configuration: Configuration, values: dict[str, Any]) -> str:
    """The part that says what is trained."""
    undirected = configuration.preprocessing == "undirected"
    normalised = undirected or base_name(configuration.graph) not in RAW_FEATURES
    named = {
        "METHOD": f"{configuration.method} on {configuration.graph}",
        "METRIC": configuration.metric,
        **values,
        "PREPROCESSING": {"undirected": undirected, "normalised": normalised},
        "THREADS": configuration.threads,
        "PAIRS": [
            (pair.number, pair.split_seed, pair.init_seed, pair.test_score)
            for pair in configuration.pairs
        ],
    }
    lines = [f"{name} = {_written(value)}" for name, value in named.items()]
    title = "What is trained; of each pair its number, both seeds, and the score that is stored."
    return f'"""{title}"""\n\n' + "\n".join(lines) + "\n"


def _written(value: Any) -> str:
    """A value in one line, or with a line for each item where it is long."""
    if len(repr(value)) <= WIDTH or not isinstance(value, dict | list):
        return repr(value)
    items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    lines = [f"    {item!r}," if key is None else f"    {key!r}: {item!r}," for key, item in items]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([opening, *lines, closing])
