"""Users' classes: arguments are bound by name, and what cannot be bound is refused."""

import re

import pytest

from clar_tune.errors import ParameterError, WrongShape
from clar_tune.models.method import Method
from clar_tune.models.tensors import TensorGraph
from clar_tune.training import form_of

OWN = "support.own_classes"


def logits(name, graph, **params):
    method, tensors = Method.parse(name), TensorGraph.of(graph)
    model = method.build_model(tensors, method.checked(params))
    return model.network, model(tensors, tensors.adjacency)


def test_a_hidden_width_is_never_the_number_of_classes(tiny_graph):
    parameters = Method.parse(f"{OWN}:HiddenBetween").parameters()
    assert set(parameters) == {"lr", "weight_decay", "hidden"}
    network, found = logits(f"{OWN}:HiddenBetween", tiny_graph, hidden=7)
    assert found.shape == (8, 2)
    assert network.first.out_features == 7 and network.second.out_features == 2


def test_the_order_of_arguments_does_not_matter(tiny_graph):
    network, found = logits(f"{OWN}:ClassesFirst", tiny_graph)
    assert found.shape == (8, 2)
    assert network.first.in_features == tiny_graph.num_features
    assert network.first.out_features == 4


def test_what_is_passed_on_to_a_base_is_bound_as_well(tiny_graph):
    network, found = logits(f"{OWN}:PassesOn", tiny_graph, width=6, bias=False)
    assert found.shape == (8, 2) and network.first.out_features == 6


def test_models_of_torch_geometric_need_no_class_around_them(tiny_graph):
    network, found = logits(
        "torch_geometric.nn:GraphSAGE", tiny_graph, hidden_channels=5, num_layers=3
    )
    assert found.shape == (8, 2)
    assert [conv.out_channels for conv in network.convs] == [5, 5, 2]


def test_a_parameter_without_a_default_is_asked_for():
    for name in (f"{OWN}:TakesMore", f"gcn+{OWN}:TakesMore"):
        with pytest.raises(ParameterError, match=r"depth: .*TakesMore needs a value"):
            Method.parse(name).complete({"inputs": 1, "outputs": 1} if "+" in name else {})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "TakesNothing",
            "no argument of its __init__ is named as the width of the input, got "
            "`def __init__(self)`. Call it in_features, in_channels or inputs, as in "
            "`def __init__(self, in_features, out_features)`",
        ),
        ("Cryptic", "width of the input, got `def __init__(self, a, hidden, c)`. Call it"),
        ("TwoNames", "out_channels and num_classes of its __init__ are both names for the width"),
        ("ByPosition", "its __init__ takes depth by position alone. Leave out the `/`"),
        ("WithoutEdges", "got `def forward(self, x)`. Write `def forward(self, x, edge_index)`"),
    ],
)
def test_a_class_that_does_not_say_what_it_takes_is_refused(name, message):
    with pytest.raises(ParameterError) as caught:
        Method.parse(f"{OWN}:{name}").parameters()
    assert message in str(caught.value)
    assert re.match(rf"{OWN}:{name} \(own_classes\.py:\d+\): ", str(caught.value))


def test_a_wrong_shape_names_the_line_of_the_class(tiny_graph):
    from clar_tune.graphs import search_nodes
    from clar_tune.training import train

    spec = Method.parse(f"{OWN}:Silent").spec(
        tiny_graph, {}, "random-60-20-20", (0, 0), max_epochs=1
    )
    nodes = search_nodes(tiny_graph, "random-60-20-20", 0)
    with pytest.raises(WrongShape, match=r"got \(8, 1\)\. See own_classes\.py:\d+\.$"):
        train(spec, form_of(tiny_graph, "torch"), nodes)
