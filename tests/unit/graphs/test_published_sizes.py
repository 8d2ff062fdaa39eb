"""Graphs of which no file was here: read, divided and judged from files of their form."""

import numpy as np
import pytest
from click.testing import CliRunner

from clar_tune.cli import main
from clar_tune.errors import GraphError
from clar_tune.graphs import DATASETS, Lookup, check_split, load, load_raw, locate, search_nodes

NAMES = [name for name, dataset in DATASETS.items() if dataset.source and not dataset.facts.hash]


def write(name: str, root, lacking: int = 0) -> None:
    """A file with what was published of a graph, each edge listed once; or with fewer edges."""
    dataset = DATASETS[name]
    nodes, edges, features, classes, homophily, _ = dataset.facts
    labels = np.arange(nodes) % classes
    inside = round(homophily * edges / 2)
    pairs = [(classes, inside), (1, edges // 2 - inside - lacking)]
    draw = np.random.default_rng(0)
    place = draw.random((10, nodes))
    file = root / dataset.source.folder / dataset.source.files[0]
    file.parent.mkdir(parents=True)
    np.savez(
        file,
        node_features=np.eye(features, dtype=np.float32)[np.arange(nodes) % features],
        node_labels=labels,
        edges=np.concatenate([apart(nodes, step, classes, count) for step, count in pairs]),
        train_masks=place < 0.5,
        val_masks=(place >= 0.5) & (place < 0.75),
        test_masks=place >= 0.75,
    )


def apart(nodes: int, step: int, classes: int, count: int) -> np.ndarray:
    """So many pairs of nodes: in one class where ``step`` is the number of classes, else never."""
    found = list[np.ndarray]()
    distance = step
    while count > 0:
        if step == classes or distance % classes:
            first = np.arange(min(count, nodes - distance))
            found.append(np.stack([first, first + distance], axis=1))
            count -= len(first)
        distance += step
    return np.concatenate(found)


def test_they_are_those_beyond_the_data_that_ship_with_a_hash():
    assert NAMES == ["roman-empire", "amazon-ratings", "questions"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_their_form_is_read(name, cache, tmp_path):
    assert locate(name, tmp_path) is None
    write(name, tmp_path)
    graph = load(name, data=tmp_path)
    assert (graph.num_nodes, graph.splits) == (DATASETS[name].facts.nodes, 10)
    assert graph.metric == ("roc_auc" if name == "questions" else "accuracy")
    check_split(graph, "fixed-10")
    assert len(search_nodes(graph, "fixed-10", 9).train) == graph.fixed.train[:, 9].sum()
    assert Lookup(tmp_path).facts(name).counts_as == name
    told = CliRunner().invoke(main, ["graphs", "verify", name, "--data", str(tmp_path)])
    assert told.output == f"{name}: ok\n"
    version = f"{name}@{load_raw(name, tmp_path).hash[:8]}"
    assert load_raw(version, tmp_path).name == version


def test_a_file_of_other_sizes_is_refused(cache, tmp_path):
    write("roman-empire", tmp_path, lacking=1)
    with pytest.raises(GraphError, match="edges=65852.*published is .*edges=65854") as refusal:
        load_raw("roman-empire", tmp_path)
    version = str(refusal.value).rstrip(".").split()[-1]
    assert load_raw(version, tmp_path).name == version
