"""Spaces whose conditions vary the graph."""

DROPPED = """\
graphs: [csbm-homophily]
methods: [gcn, gcn+clar]
protocol: balanced-60-20-20
conditions: [{sweep: {drop_edges: [0, 0.4, 0.8]}}]
training: {max_epochs: 12, patience: 12, warmup: 1}
search: {trials: 3, repeats: 2}
finals: 2
settings:
  tuned:
    shared: {hidden: 8}
    regularizers: {clar: {alpha: {choices: [0, 0.1, 1]}, scale: {choices: [1, 10]}}}
"""


FILTERED = """\
graphs: [csbm-homophily]
methods: [gcn, gcn+clar]
protocol: whole-graph
conditions: [{sweep: {filter: [low-pass, high-pass]}}]
training: {max_epochs: 40, patience: 20, warmup: 1}
search: {trials: 2, repeats: 2}
finals: 2
settings:
  tuned:
    shared: {hidden: 8, lr: 0.1}
    regularizers: {clar: {alpha: {choices: [0, 0.001]}, beta: {choices: [0, 0.001]}}}
"""
