"""Graphs by path, import path, torch-geometric's class, or the name that they are kept under."""

import builtins
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from support.own_graphs import NODES, arrays, npz
from torch_geometric.data import Data, HeteroData

from clar_tune.errors import CannotImport, GraphError, ParameterError, UnknownName
from clar_tune.graphs import DATASETS, Graph, Lookup, kept, load, load_raw, splits
from clar_tune.graphs.own_arrays import own_graph

MODULE = """
import torch
from torch_geometric.data import Data
from support.own_graphs import arrays

calls = []

def load():
    calls.append(1)
    return Data(**{name: torch.tensor(array) for name, array in arrays().items()})

def wrong():
    return load().x

def fails():
    return 1 / 0
"""


@pytest.fixture
def here(cache, tmp_path, monkeypatch) -> Path:
    """The current folder, with a module of the user's."""
    (tmp_path / "graphs_of_mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("graphs_of_mine", None)


def data(**changes) -> Data:
    found = arrays(**changes)
    return Data(**{name: torch.tensor(array) for name, array in found.items()})


def test_all_ways_to_name_a_graph_give_the_same_one(here):
    npz(here / "mine.npz")
    torch.save(data(), "mine.pt")
    torch.save(dict(data().to_dict()), "dict.pt")
    torch.save((data().to_dict(), None, Data), "processed.pt")
    (here / "data").mkdir()
    shutil.copy("mine.npz", "data/other.npz")
    kept.keep("mine", own_graph("", arrays()))
    names = ["mine.npz", "mine.pt", "dict.pt", "processed.pt", "data/other.npz"]
    names += [str(here / "mine.npz"), "graphs_of_mine:load", "mine"]
    graphs = [load_raw(name) for name in names]
    assert [graph.name for graph in graphs] == names
    assert {graph.hash for graph in graphs} == {own_graph("", arrays()).hash}


def test_files_of_the_heterophilous_form_are_read(here):
    found = arrays()
    masks = {f"{part}_masks": found[f"{part}_mask"].T for part in ("train", "val", "test")}
    np.savez(
        "theirs.npz",
        node_features=found["x"],
        node_labels=found["y"],
        edges=found["edge_index"].T,
        **masks,
    )
    assert load_raw("theirs.npz").hash == own_graph("", found).hash


def test_the_metric_may_stand_in_the_file(here):
    npz(here / "binary.npz", y=arrays()["y"] == 0, metric=np.array("roc_auc"))
    assert load_raw("binary.npz").metric == "roc_auc"
    torch.save({**data(y=(arrays()["y"] == 0).astype(int)).to_dict(), "metric": "roc_auc"}, "b.pt")
    assert load_raw("b.pt").metric == "roc_auc"


def test_sparse_features_stay_sparse(here):
    dense = data()
    torch.save(Data(**{**dense.to_dict(), "x": dense.x.to_sparse_csr()}), "sparse.pt")
    torch.save(dense, "dense.pt")
    assert load_raw("sparse.pt").hash == load_raw("dense.pt").hash


class Foreign:
    pass


def test_what_would_run_code_is_refused_with_the_lines_that_convert_it(here, monkeypatch):
    expected = own_graph("", arrays()).hash
    found = data()
    found.extra = Foreign()
    torch.save(found, "mine.pt")
    monkeypatch.setattr(Foreign, "__setstate__", lambda *_: pytest.fail("it ran"), raising=False)
    with pytest.raises(GraphError, match="mine.pt holds other objects") as refusal:
        load_raw("mine.pt")
    monkeypatch.undo()
    monkeypatch.chdir(here)
    first, second = str(refusal.value).splitlines()[1:]
    lines = {"torch": torch}
    exec(f"{first}\n{second}", lines)
    assert load_raw("mine.pt").hash == expected


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "is damaged"), (b"no zip", "is damaged"), (b"PK\x03\x04 cut off", "is damaged")],
)
@pytest.mark.parametrize("suffix", [".npz", ".pt"])
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_file_is_named(here, suffix, content, told):
    (here / f"mine{suffix}").write_bytes(content)
    with pytest.raises(GraphError, match=f"mine{suffix} {told}"):
        load_raw(f"mine{suffix}")


def test_objects_in_an_npz_are_not_loaded(here, monkeypatch):
    np.savez("mine.npz", **{**arrays(), "x": np.array([{}] * NODES, dtype=object)})
    with pytest.raises(GraphError, match="mine.npz is damaged or no .npz of plain arrays"):
        load_raw("mine.npz")


def test_a_tensor_alone_is_no_graph(here):
    torch.save(torch.zeros(3), "mine.pt")
    with pytest.raises(GraphError, match="mine.pt holds a Tensor: torch-geometric's Data"):
        load_raw("mine.pt")


def test_a_path_is_looked_for_in_data_folders_as_well(here, tmp_path, monkeypatch):
    away, variable = tmp_path / "away", tmp_path / "variable"
    for folder in (away, variable):
        folder.mkdir()
    with pytest.raises(GraphError, match=r"data/mine.npz: there is no such file, .*--data"):
        load_raw("data/mine.npz")
    npz(variable / "mine.npz", y=arrays()["y"][::-1].copy())
    monkeypatch.setenv("CLAR_TUNE_DATA", str(variable))
    second = load_raw("data/mine.npz").hash
    npz(away / "mine.npz")
    first = load_raw("data/mine.npz", away).hash
    assert first == own_graph("", arrays()).hash != second


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        (
            "nowhere:load",
            CannotImport,
            "nowhere:load: cannot be imported .*package.module:function",
        ),
        ("graphs_of_mine:lod", CannotImport, "has no attribute 'lod'"),
        ("graphs_of_mine:wrong", GraphError, "is a Tensor: torch-geometric's Data, or a Graph"),
        (
            "graphs_of_mine:fails",
            GraphError,
            r"failed at .*graphs_of_mine.py:16: ZeroDivisionError",
        ),
        ("pyg:Karate", UnknownName, "unknown class of torch_geometric.datasets 'Karate'"),
        ("pyg:KarateClub/Cora", GraphError, "KarateClub is one dataset. Write pyg:KarateClub."),
        ("pyg:Planetoid", GraphError, "several datasets. Write pyg:Planetoid/NAME"),
        ("a,b.npz", GraphError, "names have no commas"),
        (f"{'long' * 60}.npz", GraphError, "at most 200"),
        ("mine", UnknownName, "unknown graph 'mine'.*FILE.npz.*module:function"),
    ],
)
def test_wrong_names_are_told(here, name, error, told):
    with pytest.raises(error, match=told):
        load_raw(name)


def test_a_dataset_of_torch_geometric_is_a_graph(here):
    graph = load_raw("pyg:KarateClub")
    assert (graph.name, graph.num_nodes, graph.num_classes) == ("pyg:KarateClub", 34, 4)
    assert graph.splits == 0, "it has training nodes alone"


def test_from_pyg_checks_the_name_and_what_it_gets():
    assert Graph.from_pyg(data(), name="mine").hash == own_graph("", arrays()).hash
    binary = data(y=(arrays()["y"] == 0).astype(int))
    assert Graph.from_pyg(binary, name="mine", metric="roc_auc").metric == "roc_auc"
    for name, told in (("cora", "of the catalogue"), ("My graph", "cannot name a graph")):
        with pytest.raises(GraphError, match=told):
            Graph.from_pyg(data(), name=name)
    with pytest.raises(GraphError, match="mine is a HeteroData"):
        Graph.from_pyg(HeteroData(), name="mine")
    with pytest.raises(GraphError, match=r"mine: there are no features \(x\)"):
        Graph.from_pyg(Data(edge_index=data().edge_index, y=data().y), name="mine")


def test_a_kept_graph_is_that_which_was_kept(cache):
    graph = own_graph("mine", arrays())
    kept.keep("mine", graph)
    assert load_raw("mine").hash == graph.hash
    assert kept.kept_names() == ["mine"]
    with pytest.raises(GraphError, match="mine is kept already.*graphs rm mine"):
        kept.keep("mine", graph)
    with pytest.raises(UnknownName, match="unknown graph 'mien'. Did you mean 'mine'"):
        load_raw("mien")
    kept.forget("mine")
    assert kept.kept_names() == []
    with pytest.raises(GraphError, match="no graph is kept as 'mine'. Kept are: none"):
        kept.forget("mine")


@pytest.mark.parametrize("name", ["cora", "Mine", "../mine", "9", "", "a.b", "mine:load"])
def test_a_name_is_like_that_of_a_run_and_not_of_the_catalogue(cache, name):
    with pytest.raises(GraphError, match="Choose another name|cannot name a graph"):
        kept.own_name(name)


def test_what_is_kept_never_stands_in_for_the_catalogue(cache, monkeypatch):
    kept.keep("mine", own_graph("", arrays()))
    file = kept.kept_file("mine")
    file.rename(file.with_stem("csbm-homophily"))
    assert load_raw("csbm-homophily").hash == DATASETS["csbm-homophily"].facts.hash
    assert kept.kept_names() == []


def test_a_graph_that_cannot_be_kept_leaves_nothing_behind(cache, tmp_path):
    (tmp_path / "kept").write_text("a file")
    with pytest.raises(GraphError, match="mine cannot be kept in"):
        kept.keep("mine", own_graph("", arrays()))
    (tmp_path / "kept").unlink()
    kept.keep("mine", own_graph("", arrays()))
    assert [file.name for file in (tmp_path / "kept").iterdir()] == ["mine.npz"]


def test_a_lookup_asks_a_function_once(here):
    lookup = Lookup()
    lookup.dataset("graphs_of_mine:load")
    lookup.facts("graphs_of_mine:load")
    loaded = lookup.load("graphs_of_mine:load")
    assert sys.modules["graphs_of_mine"].calls == [1]
    assert loaded.hash == load("graphs_of_mine:load").hash


def test_a_lookup_knows_of_a_graph_what_a_manifest_says(here):
    npz(here / "mine.npz")
    facts = Lookup().facts("mine.npz")
    graph = load_raw("mine.npz")
    assert (facts.nodes, facts.edges, facts.features, facts.classes) == (36, 45, 5, 3)
    assert (facts.homophily, facts.metric, facts.splits) == (0.8, "accuracy", 3)
    assert (facts.counts_as, facts.generated, facts.notes) == ("mine.npz", False, ())
    assert facts.edges == graph.edges.shape[1]
    assert Lookup().facts("cora").nodes is None, "the catalogue knows it"


def test_a_program_may_hand_over_a_graph(cache):
    graph = own_graph("anything", arrays())
    lookup = Lookup(given={"anything": graph})
    assert lookup.dataset("anything").own
    assert lookup.load("anything").preprocessing == "undirected"
    with pytest.raises(UnknownName, match="Did you mean 'anything'"):
        lookup.dataset("anythin")


def test_naming_a_graph_of_the_catalogue_reads_nothing(cache, monkeypatch):
    monkeypatch.setattr(builtins, "open", lambda *_: pytest.fail("it read a file"))
    assert Lookup().dataset("cora").facts.nodes == 2708


def test_own_splits_are_taken_in_turn(cache):
    graph = own_graph("mine", arrays())
    pairs = [splits.seed_pair("mine", "own", 0, n, "final", graph.splits) for n in range(5)]
    assert [split for split, _ in pairs] == [0, 1, 2, 0, 1]
    assert len({seed for _, seed in pairs}) == 5
    for number in range(3):
        nodes = splits.search_nodes(graph, "own", number)
        assert np.array_equal(nodes.train, np.flatnonzero(arrays()["train_mask"][:, number]))
        tested = splits.test_nodes(graph, "own", number)
        assert np.array_equal(tested, np.flatnonzero(arrays()["test_mask"][:, number]))


@pytest.mark.parametrize(("count", "units"), [(0, "seed"), (1, "seed"), (3, "file")])
def test_what_is_independent_depends_on_how_many_splits_a_graph_brings(count, units):
    assert splits.protocol_on("own", count).units == units


def test_the_protocol_is_for_own_graphs_with_splits(cache):
    with pytest.raises(
        ParameterError, match="own is not defined for cora, only for graphs of your own"
    ):
        splits.check_protocol("cora", "own")
    without = own_graph("mine", arrays(test_mask=None))
    with pytest.raises(
        ParameterError, match="mine brings no splits. Add train_mask.*random-60-20-20"
    ):
        splits.check_split(without, "own")
    splits.check_split(own_graph("mine", arrays()), "own")
