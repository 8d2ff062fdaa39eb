"""Where a graph comes from: each has ``read_graph``."""
