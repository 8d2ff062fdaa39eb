import pytest

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.models.method import Method
from clar_tune.models.tensors import TensorGraph


def test_names_are_parsed_and_printed():
    assert Method.parse("gcn") == Method("gcn", "none")
    assert Method.parse("sage+clar") == Method("sage", "clar")
    for text in ("gcn", "gat+preg", "pkg.mod:Net+clar", "gcn+pkg.mod:Reg"):
        assert Method.parse(text).name == text


def test_misspelt_names_get_a_hint():
    with pytest.raises(UnknownName, match=r"backbone 'gnc'.*Did you mean 'gcn'"):
        Method.parse("gnc+clar")
    with pytest.raises(UnknownName, match=r"regularizer 'clra'.*Did you mean 'clar'"):
        Method.parse("gcn+clra")
    with pytest.raises(UnknownName, match="regularizer ''"):
        Method.parse("gcn+")


def test_parameters_come_from_optimiser_backbone_and_regularizer():
    common = {"lr", "weight_decay", "hidden", "layers", "dropout"}
    assert set(Method.parse("gcn").parameters()) == common
    clar = {"alpha", "beta", "samples", "sampling", "clamp", "reduction", "scale"}
    assert set(Method.parse("gcn+clar").parameters()) == common | clar
    assert set(Method.parse("gcn+nl").parameters()) == common | {"alpha", "clamp", "reduction"}
    assert set(Method.parse("gat").parameters()) == common | {
        *("heads", "attention_dropout", "activation"),
    }
    assert set(Method.parse("gpr").parameters()) == common | {"K", "restart"}


def test_unknown_and_impossible_parameters_are_refused():
    method = Method.parse("gcn+clar")
    with pytest.raises(UnknownName, match=r"parameter of gcn\+clar 'alpa'.*'alpha'"):
        method.checked({"alpa": 1})
    for wrong in ({"layers": 0}, {"clamp": 0}, {"lr": 0}, {"lr": "fast"}, {"weight_decay": None}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            method.checked(wrong)


def test_decay_spares_what_the_backbone_names(tiny_graph):
    graph = TensorGraph.of(tiny_graph)
    method = Method.parse("gpr")
    model = method.build_model(graph, method.complete({}))
    decayed, spared = model.parameter_groups(5e-4)
    assert decayed["weight_decay"] == 5e-4
    assert spared["weight_decay"] == 0
    assert [id(p) for p in spared["params"]] == [id(model.network.gamma)]


def test_own_modules_are_built_like_built_in_ones(tiny_graph):
    method = Method.parse("support.own_classes:OwnNetwork+support.own_classes:OwnPenalty")
    params = method.checked({"width": 5, "weight": 0.5})
    assert set(params) == {"lr", "weight_decay", "width", "weight"}
    graph = TensorGraph.of(tiny_graph)
    model = method.build_model(graph, params)
    logits = model(graph, graph.adjacency)
    assert logits.shape == (8, 2)
    assert not model.deterministic
    penalty = method.build_regularizer(params).penalty(logits, graph.adjacency)
    assert penalty.names == ("penalty",)
    assert penalty.loss.requires_grad


@pytest.mark.parametrize(
    "name",
    [
        "no_such_module:Net",
        "support.own_classes:Missing",
        "support.own_classes:tiny",
        "torch:Tensor",
    ],
)
def test_what_cannot_be_imported_is_named(name):
    with pytest.raises(ParameterError, match=name.partition(":")[0]):
        Method.parse(name).parameters()


def test_a_parameter_without_a_default_must_be_given():
    method = Method.parse("gcn+support.own_classes:Demanding")
    assert method.checked({"strength": 2.0})["strength"] == 2.0
    with pytest.raises(ParameterError, match="strength.*needs a value"):
        method.checked({})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "support.own_classes:TakesNothing",
            r"widths of input and output first, as in `def __init__",
        ),
        ("support.own_classes:TakesMore", "needs depth. Give defaults, or put them behind a `*`"),
        ("gcn+support.own_classes:TakesMore", "needs inputs, outputs, depth. Give defaults"),
    ],
)
def test_a_class_that_cannot_be_built_is_refused(name, message):
    with pytest.raises(ParameterError, match=message):
        Method.parse(name).parameters()


def test_equal_settings_look_equal():
    method = Method.parse("gcn+clar")
    assert method.complete({"alpha": 1}) == method.complete({}) == method.complete({"alpha": 1.0})
    assert type(method.complete({"alpha": 1})["alpha"]) is float
    assert Method.parse("gpr").checked({"restart": 1})["restart"] == 1.0
