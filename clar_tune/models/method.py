"""Methods by name: ``backbone`` or ``backbone+regularizer``, and what each can be given."""

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from torch import Tensor, nn

from clar_tune.errors import CannotImport, ParameterError, UnknownName, WrongShape
from clar_tune.graphs import Graph
from clar_tune.models.adjacency import Adjacency
from clar_tune.models.backbones import BACKBONES, Backbone
from clar_tune.models.regularizers import REGULARIZERS, UNLIMITED, Penalty, Regularizer
from clar_tune.models.tensors import TensorGraph
from clar_tune.records import Params, TrainSpec, Value
from clar_tune.validation import not_negative, positive, whole

TRAINING: dict[str, Value] = {"lr": 0.01, "weight_decay": 5e-4}
"""Parameters of the optimiser, with the defaults of the code released with the paper."""


@dataclass(frozen=True, slots=True)
class Method:
    """A backbone and a regularizer, each a built-in name or an import path ``module:Class``."""

    backbone: str
    regularizer: str = "none"

    @staticmethod
    def parse(text: str) -> "Method":
        """``gcn`` or ``gcn+clar``."""
        backbone, plus, regularizer = text.partition("+")
        method = Method(backbone, regularizer if plus else "none")
        for kind, name, table in (
            ("backbone", method.backbone, BACKBONES),
            ("regularizer", method.regularizer, REGULARIZERS),
        ):
            if ":" not in name and name not in table:
                raise UnknownName(kind, name, table)
        return method

    @property
    def name(self) -> str:
        """``gcn`` or ``gcn+clar``."""
        plain = self.regularizer == "none"
        return self.backbone if plain else f"{self.backbone}+{self.regularizer}"

    @property
    def needs_classes(self) -> bool:
        """Whether it goes by predicted classes, so that numbers cannot be learned with it."""
        return bool(getattr(self._regularizer(), "needs_classes", False))

    @property
    def corrects(self) -> bool:
        """Whether it corrects answers by the shares of classes."""
        return bool(getattr(self._regularizer(), "corrects", False))

    @property
    def plain(self) -> "Method":
        """Its backbone alone."""
        return Method(self.backbone)

    def share_of(self, params: Params) -> dict[str, Value]:
        """Those of some parameters that it knows."""
        return _only(params, self.parameters())

    def parameters(self) -> dict[str, Any]:
        """Every parameter it can be given, with its default."""
        backbone = _keywords(self._backbone(), 2)
        return {**TRAINING, **backbone, **_keywords(self._regularizer(), 0)}

    def checked(self, params: Params) -> dict[str, Value]:
        """:meth:`complete`, with every value tried, so that a wrong one fails before any work."""
        complete = self.complete(params)
        _try(self._regularizer(), (), complete)
        if self.backbone in BACKBONES:
            make = BACKBONES[self.backbone]
            small = dict(complete)
            for name, bounds in make.sizes.items():
                whole(name, small[name], *bounds)  # type: ignore[arg-type]
                small[name] = bounds[0]  # one of full size can fill the memory
            _try(make, (1, 1), small)
        return complete

    def complete(self, params: Params) -> dict[str, Value]:
        """All parameters: those given, and defaults for the rest."""
        known = self.parameters()
        for name in params:
            if name not in known:
                raise UnknownName(f"parameter of {self.name}", name, known)
        complete = {
            name: _as_default(params.get(name, known[name]), known[name]) for name in known
        }
        for name, value in complete.items():
            if value is inspect.Parameter.empty:
                raise ParameterError(
                    f"{name}: {self.name} needs a value, and there is no default."
                )
        positive("lr", complete["lr"])
        not_negative("weight_decay", complete["weight_decay"])
        silent = {*_silent(self._backbone()), *_silent(self._regularizer())}
        return {n: value for n, value in complete.items() if n not in silent or value != known[n]}

    def spec(
        self, graph: Graph, params: Params, protocol: str, seeds: tuple[int, int], **rules: Any
    ) -> TrainSpec:
        """One training of this method; ``seeds`` are those of the split and of the weights."""
        split_seed, init_seed = seeds
        return TrainSpec(
            graph=graph.name,
            graph_hash=graph.hash,
            backbone=self.backbone,
            regularizer=self.regularizer,
            protocol=protocol,
            split_seed=split_seed,
            init_seed=init_seed,
            params=self.complete(params),
            **rules,
        )

    def build_model(self, graph: TensorGraph, params: Params) -> "Model":
        """A fresh model for a graph, on the CPU; torch's global generator draws its weights."""
        make = self._backbone()
        given = _only(params, _keywords(make, 2))
        network = make(graph.x.shape[1], graph.num_outputs, **given)
        return Model(network, built_in=self.backbone in BACKBONES)

    def build_regularizer(self, params: Params) -> Regularizer:
        """The regularizer with its share of the parameters."""
        make = self._regularizer()
        built = make(**_only(params, _keywords(make, 0)))
        return built if isinstance(built, Regularizer) else _Foreign(built)

    def _backbone(self) -> type[nn.Module]:
        return _resolve(self.backbone, BACKBONES, sizes=2)

    def _regularizer(self) -> type[nn.Module]:
        return _resolve(self.regularizer, REGULARIZERS)


class Model(nn.Module):
    """A network behind one face.

    Built-in backbones take sparse features and an adjacency; a user's own takes what every
    torch-geometric model takes, ``(x, edge_index)``.
    """

    def __init__(self, network: nn.Module, *, built_in: bool) -> None:
        super().__init__()
        self.network, self.built_in = network, built_in

    @property
    def deterministic(self) -> bool:
        """Whether training and evaluation give the same logits."""
        return self.built_in and bool(self.network.deterministic)

    def forward(self, graph: TensorGraph, adjacency: Adjacency) -> Tensor:
        """Logits [N, C] of all nodes on the given adjacency."""
        if self.built_in:
            logits: Tensor = self.network(graph.x, adjacency)
        else:
            logits = self.network(graph.dense_x, adjacency.edge_index)
        return logits

    def facts(self) -> dict[str, float]:
        """What the network has learned that is worth keeping."""
        return self.network.facts() if isinstance(self.network, Backbone) else {}

    def parameter_groups(self, weight_decay: float) -> list[dict[str, Any]]:
        """Parameters for the optimiser: some are spared weight decay."""
        spared = set(getattr(self.network, "no_decay", ()))
        named = list(self.network.named_parameters())
        groups = [
            {"params": [p for n, p in named if n not in spared], "weight_decay": weight_decay},
            {"params": [p for n, p in named if n in spared], "weight_decay": 0.0},
        ]
        return [group for group in groups if group["params"]]


class _Foreign(Regularizer):
    """A user's own penalty: any module called as ``penalty(h, edge_index)``."""

    has_penalty = True

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def penalty(self, h: Tensor, graph: Adjacency, draw: Any = None) -> Penalty:
        """The one term ``penalty``; it may be negative."""
        value = self.module(h, graph.edge_index)
        if not isinstance(value, Tensor) or value.numel() != 1:
            given = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
            name = type(self.module).__name__
            raise WrongShape(f"{name}: a penalty is a tensor of one number, got {given}.")
        value = value.reshape(())
        return Penalty(value, ("penalty",), value.detach().reshape(1), UNLIMITED)


def _resolve(name: str, table: Mapping[str, type[nn.Module]], sizes: int = 0) -> type[nn.Module]:
    if name in table:
        return table[name]
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a user's module may raise anything
        raise CannotImport(
            f"{name}: cannot be imported ({type(error).__name__}: {error}). "
            "Write `package.module:Class` of a module "
            f"that Python finds from here, or one of {', '.join(sorted(table))}."
        ) from error
    if not (inspect.isclass(found) and issubclass(found, nn.Module)):
        raise ParameterError(f"{name}: a subclass of torch.nn.Module is needed, got {found!r}.")
    _check_signature(name, found, sizes)
    return found


def _check_signature(name: str, kind: type[nn.Module], sizes: int) -> None:
    """Refuse a class that cannot be built from ``sizes`` widths and parameters by keyword."""
    own = list(inspect.signature(kind).parameters.values())
    places = [p for p in own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(places) < sizes and all(p.kind is not p.VAR_POSITIONAL for p in own):
        raise ParameterError(
            f"{name}: its __init__ must take the widths of input and output first, as in "
            "`def __init__(self, inputs, outputs)`."
        )
    needed = [p.name for p in places[sizes:] if p.default is p.empty]
    if needed:
        raise ParameterError(
            f"{name}: its __init__ needs {', '.join(needed)}. Give defaults, or put them behind a "
            "`*`, so that a space can name their values."
        )


def _silent(kind: type[nn.Module]) -> tuple[str, ...]:
    """Parameters that came later and are named only if they are not at their default."""
    return getattr(kind, "silent", ())


def _as_default(value: Any, default: Any) -> Any:
    """``1`` for a parameter that is ``1.0`` by default: equal settings must look equal."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and isinstance(default, float) else value


def _find_keywords(kind: type[nn.Module], sizes: int) -> Mapping[str, Any]:
    """The parameters that a class takes by keyword, bases included, with their defaults.

    The first ``sizes`` are the widths of input and output, which the graph decides.
    """
    found: dict[str, Any] = {}
    for base in kind.__mro__:
        if base is nn.Module or "__init__" not in base.__dict__:
            continue
        signature = inspect.signature(base)
        for parameter in list(signature.parameters.values())[_positional(signature, sizes) :]:
            optional = parameter.default is not parameter.empty
            if optional or parameter.kind is parameter.KEYWORD_ONLY:
                found.setdefault(parameter.name, parameter.default)
        # Only a class that passes the rest on takes its base's parameters as well.
        kinds = {parameter.kind for parameter in signature.parameters.values()}
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            break
    return found


_keywords: Callable[[Any, int], Mapping[str, Any]] = cache(_find_keywords)
"""Kept, because checks of a large space ask for them thousands of times."""


def _positional(signature: inspect.Signature, sizes: int) -> int:
    kinds = [parameter.kind for parameter in signature.parameters.values()][:sizes]
    return sum(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds)


def _try(make: type[nn.Module], sizes: tuple[int, ...], params: Params) -> None:
    """Build it with its share of the parameters, unless that went well before."""
    given = _only(params, _keywords(make, len(sizes)))
    _built(make, sizes, tuple((name, value, type(value)) for name, value in given.items()))


def _build(make: type[nn.Module], sizes: tuple[int, ...], given: tuple[Any, ...]) -> None:
    make(*sizes, **{name: value for name, value, _ in given})


_built: Callable[[Any, tuple[int, ...], tuple[Any, ...]], None] = lru_cache(4096)(_build)
"""Checks of a large space ask for the same again and again; types count, as ``1`` is ``True``."""


def _only(params: Params, names: Mapping[str, Any]) -> dict[str, Value]:
    return {name: value for name, value in params.items() if name in names}
