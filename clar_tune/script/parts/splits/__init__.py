"""How nodes are divided: each has ``split``."""
