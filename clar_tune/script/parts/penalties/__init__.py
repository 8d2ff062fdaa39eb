"""The regularizers: each has ``Penalty``."""
