import numpy as np
import pytest

from clar_tune.errors import UnknownName
from clar_tune.graphs.block_models import BLOCK_MODELS, generate
from clar_tune.graphs.catalogue import DATASETS
from clar_tune.graphs.loading import facts_of
from clar_tune.testing import check_graph


@pytest.mark.parametrize("name", BLOCK_MODELS)
def test_facts_are_those_of_the_table(name):
    assert facts_of(generate(name)) == DATASETS[name].facts
    check_graph(lambda: generate(name))


@pytest.mark.parametrize("name", BLOCK_MODELS)
def test_graphs_keep_to_their_model(name):
    graph, model = generate(name), BLOCK_MODELS[name]
    assert graph.is_symmetric
    assert (graph.edges[0] != graph.edges[1]).all()
    assert graph.edges.shape[1] / graph.num_nodes == pytest.approx(model.degree, rel=0.1)
    assert graph.homophily == pytest.approx(model.homophily, abs=0.03)
    assert np.bincount(graph.labels).tolist() == [150] * 4
    assert set(graph.features.data) == {1.0}


def test_a_seed_gives_the_same_graph_again_and_another_seed_another():
    first, again, other = (generate("csbm-homophily", seed).hash for seed in (3, 3, 4))
    assert first == again != other


def test_unknown_model_is_refused():
    with pytest.raises(UnknownName, match="csbm-homophily"):
        generate("csbm-homophilly")
