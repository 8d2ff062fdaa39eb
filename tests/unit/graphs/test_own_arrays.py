"""Every form of a user's arrays is told apart, and every wrong one is one clear error."""

import numpy as np
import pytest
import scipy.sparse as sp
from support.own_graphs import NODES, arrays

from clar_tune.errors import GraphError
from clar_tune.graphs.own_arrays import arrays_of, own_graph
from clar_tune.testing import check_graph

EDGES = arrays()["edge_index"]
LABELS = arrays()["y"]
SHARE = {"all": np.ones(NODES, bool), "none": np.zeros(NODES, bool)}


def test_a_graph_is_what_searches_need():
    graph = own_graph("mine", arrays())
    check_graph(graph, protocol="own")
    assert (graph.num_nodes, graph.num_classes, graph.splits, graph.metric) == (
        36,
        3,
        3,
        "accuracy",
    )
    assert own_graph("mine", arrays_of(graph)).hash == graph.hash


@pytest.mark.parametrize(
    "same",
    [
        {"edge_index": EDGES.T},
        {"edge_index": EDGES.astype(np.int32)},
        {"edge_index": np.concatenate([EDGES, EDGES[:, :4]], axis=1)},
        {"x": sp.coo_array(arrays()["x"])},
        {"y": LABELS[:, None]},
        {f"{part}_mask": arrays()[f"{part}_mask"].T for part in ("train", "val", "test")},
        {"train_mask": arrays()["train_mask"].astype(np.uint8)},
    ],
    ids=["E x 2", "int32", "twice", "sparse", "column", "splits x nodes", "0 and 1"],
)
def test_other_forms_of_the_same_arrays_give_the_same_graph(same):
    assert own_graph("mine", arrays(**same)).hash == own_graph("mine", arrays()).hash


def test_features_that_are_handed_over_stay_as_they_are():
    x = sp.csr_array(([1.0, 0.0], ([0, 1], [0, 0])), shape=(NODES, 1))
    own_graph("mine", arrays(x=x))
    assert x.nnz == 2


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"x": None}, r"no features \(x\)"),
        ({"edge_index": None}, "no edges"),
        ({"y": None}, "no labels"),
        ({"edge_index": np.array([[0, 1], [1, 0]])}, r"\[2, 2\], which is \[2, E\] as well as"),
        ({"edge_index": np.zeros((3, 4), int)}, r"the shape \[3, 4\], \[2, E\] or \[E, 2\]"),
        ({"edge_index": np.arange(6)}, r"the shape \[6\]"),
        ({"edge_index": EDGES.astype(float)}, "are float64: numbers of nodes are whole"),
        ({"edge_index": EDGES - 1}, "from node -1 to node 34, and the 36 nodes"),
        ({"edge_index": EDGES + 1}, "from node 1 to node 36, and the 36 nodes .* 0 to 35"),
        ({"edge_index": np.zeros((2, 0), int)}, "there are none"),
        ({"y": LABELS.astype(float)}, r"labels \(y\) are float64"),
        ({"y": LABELS - 1}, "reach down to -1"),
        ({"y": LABELS * 2}, "0, 2, 4: .* without a gap"),
        ({"y": LABELS * 0}, "all labels"),
        ({"y": LABELS[:-1]}, "have 36 rows, and there are 35 labels"),
        ({"y": np.eye(3)[LABELS]}, r"the shape \[36, 3\]"),
        ({"x": np.zeros(NODES)}, r"the shape \[36\], \[nodes, features\]"),
        ({"x": np.full((NODES, 2), np.nan)}, "72 of them are not finite"),
        ({"x": np.full((NODES, 2), "word")}, "numbers are needed"),
        ({"val_mask": arrays()["train_mask"]}, "split 0: node 0 is in train_mask and val_mask"),
        (
            {"val_mask": SHARE["none"]},
            "different numbers of splits: train_mask has 3, val_mask has 1",
        ),
        ({"val_mask": arrays()["val_mask"] & False}, "split 0: val_mask holds no node"),
        ({"val_mask": np.arange(8)}, r"val_mask has the shape \[8\], and there are 36 nodes"),
        ({"val_mask": np.eye(NODES)}, r"\[36, 36\]: which of both"),
        ({"val_mask": arrays()["val_mask"] * 2}, "val_mask is no mask"),
    ],
)
def test_what_does_not_fit_is_one_clear_error(wrong, told):
    with pytest.raises(GraphError, match=told) as refusal:
        own_graph("mine", arrays(**wrong))
    assert str(refusal.value).startswith("mine: ")


def test_masks_that_are_not_all_there_are_no_splits():
    assert own_graph("mine", arrays(test_mask=None)).splits == 0


@pytest.mark.parametrize(
    ("small", "classes", "metric"),
    [(11, 2, "roc_auc"), (12, 2, "accuracy"), (18, 2, "accuracy"), (2, 3, "accuracy")],
)
def test_the_metric_follows_from_the_labels(small, classes, metric):
    labels = np.zeros(NODES, int)
    labels[:small] = 1
    labels[-1] = classes - 1 if classes > 2 else labels[-1]
    assert own_graph("mine", arrays(y=labels)).metric == metric


def test_the_metric_may_be_set():
    labels = LABELS == 0
    assert own_graph("mine", arrays(y=labels), "roc_auc").metric == "roc_auc"
    with pytest.raises(
        GraphError, match="mine: metric roc_auc needs two classes, and there are 3"
    ):
        own_graph("mine", arrays(), "roc_auc")
    with pytest.raises(GraphError, match="unknown metric 'mse'. .*accuracy, roc_auc"):
        own_graph("mine", arrays(), "mse")
