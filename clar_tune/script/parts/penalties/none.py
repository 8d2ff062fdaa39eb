"""No regularizer."""

from clar_tune.script.parts.plain import Plain


class Penalty(Plain):
    """The plain backbone."""
