"""A user's own graphs from code: ``module:function``, and torch-geometric's own datasets."""

import importlib
import inspect
from traceback import extract_tb
from types import ModuleType
from typing import Any

from clar_tune.errors import CannotImport, GraphError, UnknownName
from clar_tune.graphs.download import cache_folder
from clar_tune.graphs.graph import Graph

PYG = "pyg:"


def graph_of_function(name: str) -> Graph:
    """What ``module:function`` returns, called without arguments."""
    from clar_tune.graphs.own_tensors import graph_from

    place, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(place)
        load = getattr(module, attribute)
    except Exception as error:  # a user's module may raise anything
        raise CannotImport(
            f"{name}: cannot be imported ({type(error).__name__}: {error}). Write "
            "`package.module:function` of a module that Python finds from here."
        ) from error
    try:
        made = load()
    except Exception as error:
        raise GraphError(
            f"{name} failed at {_line(module, error)}: {type(error).__name__}: {error}"
        ) from error
    return graph_from(name, made)


def graph_of_class(name: str) -> Graph:
    """The one graph of ``pyg:Class/Name``, or ``pyg:Class``, downloaded into the cache once."""
    from torch_geometric import datasets

    from clar_tune.graphs.own_tensors import graph_from

    title, _, which = name.removeprefix(PYG).partition("/")
    if title not in datasets.__all__:
        raise UnknownName("class of torch_geometric.datasets", title, datasets.__all__)
    kind = getattr(datasets, title)
    folder = cache_folder() / "pyg" / title
    given = _arguments(name, kind, which, str(folder))
    try:
        dataset = kind(**given)
    except Exception as error:  # no network, a name that it does not have, files that changed
        raise GraphError(
            f"{name}: torch-geometric does not load it ({type(error).__name__}: {error}). It "
            f"keeps its files in {folder}."
        ) from error
    return graph_from(name, dataset)


def _arguments(name: str, kind: type, which: str, folder: str) -> dict[str, Any]:
    """What a dataset's class is given, as far as it takes a folder and a name."""
    known = inspect.signature(kind).parameters
    if which and "name" not in known:
        raise GraphError(f"{name}: {kind.__name__} is one dataset. Write {PYG}{kind.__name__}.")
    if not which and "name" in known and known["name"].default is inspect.Parameter.empty:
        raise GraphError(
            f"{name}: {kind.__name__} has several datasets. Write {PYG}{kind.__name__}/NAME."
        )
    return {
        **({"root": folder} if "root" in known else {}),
        **({"name": which} if which else {}),
    }


def _line(module: ModuleType, error: Exception) -> str:
    """The last line of a user's file that an error came through."""
    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == module.__file__]
    frame = (own or frames)[-1]
    return f"{frame.filename}:{frame.lineno}"
