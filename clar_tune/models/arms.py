"""What is trained beside a winner, on the same splits, to tell what its regularizer does."""

from dataclasses import dataclass

from clar_tune.models.method import Method
from clar_tune.records import Params
from clar_tune.switches import ANY, idle_arms


@dataclass(frozen=True, slots=True)
class Arm:
    """A method with all its parameters."""

    method: Method
    params: Params


def arms_of(method: Method, winner: Params, plain_winner: Params | None = None) -> dict[str, Arm]:
    """The arms of a winner's finals by name.

    ``on``
        the winner.
    ``off``
        its shared parameters without its regularizer: the plain backbone.
    ``cross``
        the plain winner's shared parameters with the winner's penalties, if there is one.
    ``nl``, ``any``
        of clar: without the complement's term, and with pairs of any nodes in its place.

    A winner whose regularizer is off, as that of every plain backbone, has no other arm; one
    without the complement's term has neither ``nl`` nor ``any``: both would be the winner.
    """
    plain, shared = method.plain, method.plain.share_of(winner)
    arms = {"on": Arm(method, winner), "off": Arm(plain, shared)}
    if plain_winner is not None:
        penalties = {name: value for name, value in winner.items() if name not in shared}
        arms["cross"] = Arm(method, {**plain.share_of(plain_winner), **penalties})
    if method.regularizer == "clar":
        arms["nl"] = Arm(method, {**winner, "beta": 0.0})
        arms["any"] = Arm(method, {**winner, "sampling": ANY})
    idle = idle_arms(method.regularizer, winner)
    return {name: arm for name, arm in arms.items() if name not in idle}


def method_of_arm(method: Method, arm: str) -> Method:
    """What an arm of a method's finals trains."""
    return method.plain if arm == "off" else method
