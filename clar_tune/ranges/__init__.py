"""What a search may choose from: ranges, choices and fixed values, some under conditions."""

from clar_tune.ranges.domains import Choice, Domain, Fixed, Range, same, written
from clar_tune.ranges.sets import Parameter, ParameterSet

__all__ = ["Choice", "Domain", "Fixed", "Parameter", "ParameterSet", "Range", "same", "written"]
