"""Plans of one method, for what its trainings need."""

from support.simulation import plan_from

SPACE = """
description: one method
graphs: [{graph}]
methods: [{method}]
protocol: balanced-60-20-20
search: {{trials: 2, repeats: 2}}
finals: 2
settings:
  tuned:
    shared: {{dropout: 0.5, {shared}}}
    regularizers: {{{regularizers}}}
"""


def plan(graph="csbm-homophily", method="gcn", shared="hidden: 32", **options):
    own = "clar: {sampling: edge}" if "clar" in method else ""
    text = SPACE.format(graph=graph, method=method, shared=shared, regularizers=own)
    return plan_from(text, **options)
