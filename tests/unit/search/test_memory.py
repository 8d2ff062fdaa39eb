"""What trainings are said to need, against what they really take."""

import pytest
from support.memory_plans import SPACE, plan
from support.simulation import plan_from

from clar_tune.graphs.loading import load
from clar_tune.search import memory
from clar_tune.search.memory import GPU_PROCESS, STEP, Size, bytes_of, needs


def need(**given):
    made = plan(**given)
    graph = load(made.graphs[0])
    return bytes_of(Size.of(graph), made.studies[0])


def test_small_graphs_ask_for_the_same_so_that_workers_are_reused():
    made = plan_from()
    asked = needs(made, [load(name) for name in made.graphs])
    assert set(asked) == set(made.graphs)
    assert set(asked.values()) == {STEP}


def test_a_graph_asks_for_its_hungriest_method_and_largest_configuration():
    small, wide = need(), need(shared="hidden: {choices: [8, 2048, 16]}")
    deep = need(shared="layers: {low: 1, high: 64, integer: true}")
    assert wide > small + 2048 * 240 * 16
    assert deep > 10 * small
    assert need(method="gat") > 4 * small
    assert need(method="gcn+clar") > small


@pytest.mark.parametrize("methods", ["gcn, gat", "gat, gcn"])
def test_the_hungriest_method_counts_wherever_it_stands(methods):
    shared = "heads: 8, hidden: 512"
    both, gat = (
        needs(p, [load("csbm-homophily")])
        for p in (plan(method=methods, shared=shared), plan(method="gat", shared=shared))
    )
    assert both == gat != needs(plan(shared="hidden: 512"), [load("csbm-homophily")])


def test_drawing_by_nodes_asks_for_less_than_by_edges():
    by_edge, by_node = (
        plan_from(
            SPACE.format(
                graph="csbm-homophily",
                method="gcn+clar",
                shared="hidden: 8",
                regularizers=f"clar: {{samples: 32, sampling: {sampling}}}",
            )
        ).studies[0]
        for sampling in ("{choices: [node, edge]}", "node")
    )
    size = Size.of(load("csbm-homophily"))
    saved = bytes_of(size, by_edge) - bytes_of(size, by_node)
    assert saved == 160 * 32 * size.edges


def test_a_process_with_a_gpu_asks_for_more_of_its_host():
    graph = load("csbm-homophily")
    without, beside = (needs(plan(), [graph], gpus)[graph.name] for gpus in (0.0, 0.25))
    assert beside == without + GPU_PROCESS


def test_a_process_that_loads_programs_asks_for_more(monkeypatch):
    monkeypatch.setattr(memory, "STEP", 1)
    graphs = [load("csbm-homophily")]
    torch, native = (needs(plan_from(engine=e), graphs) for e in ("torch", "native"))
    assert native["csbm-homophily"] - torch["csbm-homophily"] == memory.NATIVE_PROCESS


def test_dense_features_and_all_frequencies_count():
    spectral = SPACE.replace("finals: 2", "finals: 2\nconditions: [{{sweep: {{band: [1, 10]}}}}]")
    given = {"graph": "csbm-homophily", "method": "gcn", "shared": "hidden: 8"}
    made = plan_from(spectral.format(**given, regularizers=""))
    size = Size.of(load("csbm-homophily"))
    assert bytes_of(size, made.studies[0]) > need(shared="hidden: 8") + 8 * size.nodes**2
