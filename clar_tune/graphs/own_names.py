"""Names that stand for a user's own graphs: paths, import paths, torch-geometric's classes."""

from pathlib import Path

from clar_tune.errors import GraphError
from clar_tune.graphs.catalogue import DATASETS, base_name
from clar_tune.graphs.data_folders import find_file
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.kept import kept_file, kept_names
from clar_tune.graphs.own_files import SUFFIXES, read_file
from clar_tune.graphs.own_imports import PYG, graph_of_class, graph_of_function

FORMS = ("FILE.npz", "FILE.pt", "module:function", "pyg:Class/Name")
"""What may be written where a graph is named."""

LONGEST = 200
"""Characters of a name: it stands in every row."""


def beside_the_catalogue() -> list[str]:
    """What may name a graph besides those of the catalogue."""
    return [*kept_names(), *FORMS]


def is_file(name: str) -> bool:
    """Whether a name is the path of a file."""
    return name.endswith(SUFFIXES)


def is_import_path(name: str) -> bool:
    """Whether a name is that of a user's function or class, so that to load it runs code."""
    return ":" in name and not is_file(name) and not name.startswith(PYG)


def is_own(name: str) -> bool:
    """Whether a name stands for a user's own graph."""
    if base_name(name) in DATASETS:
        return False
    return is_file(name) or ":" in name or kept_file(name) is not None


def read_own(name: str, data: Path | None = None) -> Graph:
    """The raw graph that a user's own name stands for, called by that name."""
    if "," in name or not name.isprintable() or len(name) > LONGEST:
        raise GraphError(
            f"{name!r} cannot name a graph: names have no commas and at most {LONGEST} "
            "characters. Rename it, or keep it under a name: `clar-tune graphs add`."
        )
    if is_file(name):
        return read_file(name, find_file(name, data))
    if name.startswith(PYG):
        return graph_of_class(name)
    if ":" in name:
        return graph_of_function(name)
    file = kept_file(name)
    if file is None:
        raise GraphError(f"no graph is kept as {name!r} here. Add it: `clar-tune graphs add`.")
    return read_file(name, file)
