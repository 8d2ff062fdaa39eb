"""A stored row trained again on another device than it was trained on."""

from dataclasses import replace

import pytest
from support.simulation import plan_from

from clar_tune.graphs import load
from clar_tune.search.jobs import trained
from clar_tune.search.repro import repeat_training
from clar_tune.search.trial import training_row
from clar_tune.training import form_of

SPACE = """
graphs: [csbm-homophily]
methods: [gcn]
protocol: balanced-60-20-20
training: {max_epochs: 3}
finals: 1
settings: {tuned: {shared: {hidden: 4}}}
"""


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_row_is_trained_again_where_there_is_no_such_device(device):
    plan = plan_from(SPACE, device=device)
    (study,) = plan.studies
    graph = load(study.columns.graph, plan.space.preprocessing)
    params = study.method.complete(study.parameters.at([]))
    spec = study.spec(params, "final", 0, graph.hash)
    assert spec.device == device
    here = trained(replace(spec, device="cpu"), "final", 0, graph, form_of(graph, spec.engine))
    row = training_row(study.columns, 0, replace(here, spec=spec, device=device))
    assert row.key == spec.key
    assert (row.key == here.spec.key) == (device == "cpu")
    found = repeat_training(row, plan, None)
    assert {difference.size for difference in found} == {0.0}
