"""What switches a regularizer off, and what it is compared with; readers of results ask too."""

from collections.abc import Mapping

from clar_tune.records import Params

ARMS = ("off", "cross", "nl", "any")
"""What the finals of a winner may have beside ``on``, in the order in which they are trained."""

ANY = "any"
"""The sampling that draws from all pairs: what it does as well is not the complement's doing."""

OFF: Mapping[str, tuple[Params, ...]] = {
    "clar": ({"alpha": 0.0, "beta": 0.0}, {"scale": 0.0}),
    "nl": ({"alpha": 0.0},),
    "preg": ({"weight": 0.0},),
    "madreg": ({"weight": 0.0},),
    "dropedge": ({"rate": 0.0},),
    "adagraph": ({"rounds": 1},),
    "prior": ({"tau": 0.0},),
    "seen": ({"classes": "all"},),
}
"""Of each built-in regularizer the ways to switch it off: with the values of any of them a
training is that of the plain backbone. A user's own is off when it is not called."""

CORRECTIONS = frozenset({"prior", "seen"})
"""Built-in regularizers without any penalty, which correct answers once a training is over."""

_NO_COMPLEMENT: tuple[Params, ...] = ({"beta": 0.0}, {"scale": 0.0})

IDLE: Mapping[str, Mapping[str, tuple[Params, ...]]] = {
    "clar": {
        "samples": _NO_COMPLEMENT,
        "sampling": _NO_COMPLEMENT,
        "clamp": OFF["clar"],
        "reduction": OFF["clar"],
        "scale": ({"alpha": 0.0, "beta": 0.0},),
    },
    "nl": dict.fromkeys(("clamp", "reduction"), OFF["nl"]),
    "preg": {"form": OFF["preg"]},
    "madreg": dict.fromkeys(("clamp", "near", "remote"), OFF["madreg"]),
    "adagraph": {
        "n_add": OFF["adagraph"],
        "n_drop": OFF["adagraph"],
        "t_add": ({"n_add": 0}, *OFF["adagraph"]),
        "t_drop": ({"n_drop": 0}, *OFF["adagraph"]),
        "order": ({"n_add": 0}, {"n_drop": 0}, *OFF["adagraph"]),
    },
}
"""Of each built-in regularizer, by parameter, where that does nothing: beside the values of any
of its ways, all of its own train the same. Of a user's own nothing is known."""


def is_off(regularizer: str, params: Params) -> bool:
    """Whether a configuration leaves its regularizer out; a user's own is never known to."""
    if regularizer == "none":
        return True
    return any(
        all(name in params and params[name] == value for name, value in way.items())
        for way in OFF.get(regularizer, ())
    )


def idle_arms(regularizer: str, winner: Params) -> frozenset[str]:
    """Arms that a winner does not have: each would be the winner itself.

    One whose regularizer is off has none; one of clar without the complement's term has neither
    ``nl`` nor ``any``, and one that draws any pairs not ``any``.
    """
    if is_off(regularizer, winner):
        return frozenset(ARMS)
    if regularizer != "clar" or not winner["beta"]:
        return frozenset({"nl", "any"})
    return frozenset({"any"} if winner.get("sampling") == ANY else ())


def arms_beside(regularizer: str, *, plain: bool) -> tuple[str, ...]:
    """Arms that finals of a regularizer can have beside ``on``.

    ``plain``: whether its backbone is searched alone as well, whose winner ``cross`` needs.
    """
    if regularizer == "none":
        return ()
    shared = ("off", "cross") if plain else ("off",)
    return (*shared, "nl", "any") if regularizer == "clar" else shared
