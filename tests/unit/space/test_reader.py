import pickle
import re
from pathlib import Path

import pytest
import torch

from clar_tune.errors import SpaceError, UnknownName
from clar_tune.models.method import Method
from clar_tune.space import condition_text, load_space, parse_space, shipped_spaces
from clar_tune.space.domains import Choice, Fixed, Range
from clar_tune.space.model import SearchRules, TrainingRules
from clar_tune.space.parameters import Parameter, ParameterSet
from clar_tune.space.plan import Options, make_plan
from clar_tune.space.validate import check_sampler

GCN, CLAR = Method("gcn"), Method("gcn", "clar")
HEAD = """\
graphs: [cora, texas]
methods: [gcn, gcn+clar]
protocol: balanced-60-20-20
"""
TUNED = "settings: {tuned: {shared: {lr: {low: 0.001, high: 0.1, log: true}}}}\n"


def parse(text):
    return parse_space(text, "mine", "mine.yaml")


def tuned(text, head=HEAD):
    """A space whose tuned settings are some indented lines."""
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    return parse(f"{head}settings:\n  tuned:\n{lines}\n")


def domains(space, method, settings="tuned", condition=None):
    return {p.name: p.domain for p in space.parameters(settings, method, condition or {})}


class OwnGnn(torch.nn.Module):
    def __init__(self, inputs: int, outputs: int, *, width: int) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return x


class Fussy(torch.nn.Module):
    def __init__(self, strength: float = 1.0) -> None:
        super().__init__()
        if strength > 2:
            raise RuntimeError("too strong")


def test_the_smallest_space_has_the_defaults():
    space = parse(HEAD + TUNED)
    assert space.name == "mine"
    assert space.text == HEAD + TUNED
    assert space.graphs == ("cora", "texas")
    assert space.methods == (GCN, CLAR)
    assert space.protocols == {"cora": "balanced-60-20-20", "texas": "balanced-60-20-20"}
    assert space.preprocessing == "undirected"
    assert space.margin == 0.01
    assert space.conditions == ()
    assert space.settings["tuned"].training == TrainingRules(1000, 100, 50, "loss", "adam")
    assert space.settings["tuned"].search == SearchRules(16, 9, 3, "tpe", True)
    assert space.settings["tuned"].finals == 10
    assert domains(space, GCN) == {"lr": Range(0.001, 0.1, log=True)}
    assert pickle.loads(pickle.dumps(space)) == space


def test_every_kind_of_parameter_is_read():
    space = tuned("""\
shared:
  layers: {low: 2, high: 8, integer: true, log: true}
  dropout: {low: 0, high: 0.8}
  hidden: 32
  weight_decay: {value: 5e-4}
regularizers:
  clar:
    alpha: {choices: [-1, 0, 1e-3, 2.5]}
    reduction: {choices: [node-mean, trace]}
    clamp: {choices: [1, null], when: {reduction: trace}}
    sampling: {value: edge, when: {reduction: [trace, node-mean]}}
""")
    assert domains(space, CLAR) == {
        "layers": Range(2, 8, log=True, integer=True),
        "dropout": Range(0, 0.8),
        "hidden": Fixed(32),
        "weight_decay": Fixed(0.0005),
        "alpha": Choice((-1, 0, 0.001, 2.5)),
        "reduction": Choice(("node-mean", "trace")),
        "clamp": Choice((1, None)),
        "sampling": Fixed("edge"),
    }
    clamp = next(p for p in space.parameters("tuned", CLAR, {}) if p.name == "clamp")
    assert clamp.when == {"reduction": ("trace",)}
    assert clamp.place == "mine.yaml:15: settings.tuned.regularizers.clar.clamp"
    assert "alpha" not in domains(space, GCN)


def test_later_levels_win():
    space = tuned("""\
shared: {lr: 0.1, hidden: 8, dropout: 0.1, layers: 1}
backbones: {gcn: {hidden: 16, dropout: 0.2, layers: 2}}
regularizers: {clar: {dropout: 0.3, layers: 3}}
methods: {gcn+clar: {layers: 4}}
""")
    fixed = {"lr": Fixed(0.1), "hidden": Fixed(16)}
    assert domains(space, CLAR) == {**fixed, "dropout": Fixed(0.3), "layers": Fixed(4)}
    assert domains(space, GCN) == {**fixed, "dropout": Fixed(0.2), "layers": Fixed(2)}


def test_shared_parameters_that_a_method_does_not_have_are_skipped():
    space = tuned("shared: {alpha: 1, lr: 0.1}")
    assert domains(space, GCN) == {"lr": Fixed(0.1)}
    assert domains(space, CLAR) == {"lr": Fixed(0.1), "alpha": Fixed(1)}


def test_settings_override_the_rules_of_the_space():
    space = parse(f"""{HEAD}
training: {{max_epochs: 300, patience: 20}}
search: {{trials: 5}}
finals: 4
settings:
  tuned: {{training: {{select: accuracy}}}}
  paper: {{training: {{patience: 7, warmup: 0}}, search: {{pruning: false}}, finals: 50}}
""")
    assert space.settings["tuned"].training == TrainingRules(300, 20, 50, "accuracy")
    assert space.settings["tuned"].search == SearchRules(trials=5)
    assert space.settings["tuned"].finals == 4
    assert space.settings["paper"].training == TrainingRules(300, 7, 0)
    assert space.settings["paper"].search == SearchRules(trials=5, pruning=False)
    assert space.settings["paper"].finals == 50


def test_protocols_may_differ_by_graph():
    head = HEAD.replace("balanced-60-20-20", "{cora: planetoid, texas: geom-gcn}")
    assert parse(head + TUNED).protocols == {"cora": "planetoid", "texas": "geom-gcn"}


def test_conditions_are_products_for_some_methods():
    sweeps = """\
conditions:
  - sweep: {layers: [2, 4]}
    methods: [gcn]
  - sweep: {layers: [2], clamp: [1, null]}
    methods: [gcn+clar]
"""
    space = parse(HEAD + sweeps + TUNED)
    assert space.conditions_of(GCN) == ({"layers": 2}, {"layers": 4})
    assert space.conditions_of(CLAR) == ({"layers": 2, "clamp": 1}, {"layers": 2, "clamp": None})
    assert space.conditions_of(Method("mlp")) == ({},)
    assert space.studies == 2 * (2 + 2)
    assert domains(space, GCN, condition={"layers": 4})["layers"] == Fixed(4)
    with pytest.raises(UnknownName, match="unknown parameter of gcn 'clamp'"):
        space.parameters("tuned", GCN, {"clamp": 1})
    with pytest.raises(UnknownName, match="unknown settings of mine 'papr'"):
        space.parameters("papr", GCN, {})


def test_a_condition_overrides_a_range_and_settles_when():
    space = parse(f"""{HEAD}
conditions: [{{sweep: {{reduction: [trace, node-mean]}}, methods: [gcn+clar]}}]
settings:
  tuned:
    regularizers:
      clar:
        reduction: released
        clamp: {{choices: [1, 10], when: {{reduction: trace}}}}
""")
    assert space.parameters("tuned", CLAR, {"reduction": "trace"}).count == 2
    assert space.parameters("tuned", CLAR, {"reduction": "node-mean"}).count == 1


def test_a_sweep_may_name_variants_of_the_graph():
    sweep = "conditions: [{sweep: {drop_edges: [0, 0.5], layers: [2]}}]\n"
    space = parse(HEAD + sweep + TUNED)
    conditions = space.conditions_of(GCN)
    assert conditions == ({"drop_edges": 0, "layers": 2}, {"drop_edges": 0.5, "layers": 2})
    fixed = domains(space, GCN, condition=conditions[1])
    assert fixed["layers"] == Fixed(2) and "drop_edges" not in fixed


@pytest.mark.parametrize(
    ("sweep", "problem"),
    [
        ("{drop_edges: [0.5, 1]}", r"mine.yaml:\d+: .*drop_edges: a number in \[0, 1\) is needed"),
        ("{band: [0]}", "a whole number from 1 to 10 is needed, got 0"),
        ("{filter: [low]}", "unknown filter 'low'.*low-pass"),
        ("{drop_edge: [0.5]}", "parameter of gcn or variant of the graph.*'drop_edges'"),
    ],
)
def test_values_of_variants_are_checked_where_they_stand(sweep, problem):
    with pytest.raises(SpaceError, match=problem):
        parse(f"{HEAD}conditions: [{{sweep: {sweep}}}]\n{TUNED}")


def test_a_variant_is_nothing_that_a_parameter_can_wait_for():
    text = "regularizers: {clar: {clamp: {choices: [1, 10], when: {drop_edges: [0.5]}}}}"
    with pytest.raises(SpaceError, match="unknown parameter given to gcn"):
        tuned(text, head=HEAD + "conditions: [{sweep: {drop_edges: [0.5]}}]\n")


def test_conditions_are_written_sorted():
    assert condition_text({}) == ""
    assert condition_text({"layers": 8, "clamp": None}) == "clamp=null,layers=8"
    assert condition_text({"b": 0.3, "a": True, "c": "high-pass"}) == "a=true,b=0.3,c=high-pass"


def test_trainings_are_counted_at_most():
    budget = "search: {trials: 5, repeats: 3}\nfinals: 2\n"
    # texas and cora: gcn has nothing to search, gcn+clar has a continuous range and five arms.
    ranges = "settings: {tuned: {regularizers: {clar: {alpha: {low: 0, high: 1}}}}}\n"
    assert parse(HEAD + budget + ranges).most_trainings("tuned") == 2 * (2 + (15 + 5 * 2))
    ranges = "settings: {tuned: {regularizers: {clar: {alpha: {choices: [0, 1]}}}}}\n"
    assert parse(HEAD + budget + ranges).most_trainings("tuned") == 2 * (2 + (2 * 3 + 5 * 2))


def test_values_are_read_as_people_mean_them():
    text = "regularizers: {clar: {alpha: {choices: [1e-3, 1E2, -.5, +1, 010]}}}"
    assert domains(tuned(text), CLAR)["alpha"] == Choice((0.001, 100.0, -0.5, 1, 10))
    assert tuned("shared: {lr: 0.1}", head=HEAD + "description: no\n").description == "no"


def test_anchors_and_merge_keys_work():
    space = tuned("""\
regularizers:
  clar:
    <<: &both {alpha: {choices: &weights [0, 1]}, samples: 1}
    beta: {choices: *weights}
    samples: 2
methods:
  gcn+clar: {<<: *both, lr: 0.5}
""")
    assert domains(space, CLAR) == {
        "alpha": Choice((0, 1)),
        "samples": Fixed(1),
        "beta": Choice((0, 1)),
        "lr": Fixed(0.5),
    }


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("graphs: [cora, texsa]", "1: graphs", "unknown graph 'texsa'. Did you mean 'texas'?"),
        ("graphs: [cora, cora]", "1: graphs", "cora stands twice"),
        ("graphs: []", "1: graphs", "the list is empty"),
        ("graphs: cora", "1: graphs", "a list (`[a, b]`) is needed, got 'cora'"),
        ("graphs: [3]", "1: graphs", "text is needed, got '3'"),
        ("methods: [gcn, gcn+clr]", "2: methods", "unknown regularizer 'clr'. Did you mean"),
        ("methods: [no_such.module:Gnn]", "2: methods", "cannot be imported"),
        ("methods: [broken_module:Gnn]", "2: methods", "(ZeroDivisionError: division by zero)"),
        ("protocol: balanced", "3: protocol", "Did you mean 'balanced-60-20-20'?"),
        ("protocol: planetoid", "3: protocol", "planetoid is not defined for texas"),
        ("protocol: {cora: planetoid}", "3: protocol", "texas has no protocol"),
        (
            "protocol: {cra: planetoid}",
            "3: protocol.cra",
            "unknown key 'cra'. Did you mean 'cora'",
        ),
        ("preprocessing: directed", "4: preprocessing", "Did you mean 'undirected'?"),
        ("metods: [gcn]", "4: metods", "unknown key 'metods'. Did you mean 'methods'?"),
        ("description: [a]", "4: description", "a single value is needed, got a list"),
        ("finals: 0", "4: finals", "a whole number from 1 on is needed, got 0"),
        ("training: {patience: 1.5}", "4: training.patience", "whole number from 1 on is needed"),
        ("training: {select: los}", "4: training.select", "Did you mean 'loss'?"),
        ("training: {epochs: 9}", "4: training.epochs", "Did you mean 'max_epochs'?"),
        ("training: 5", "4: training", "a mapping (`key: value`) is needed, got '5'"),
        ("search: {trials: 0}", "4: search.trials", "from 1 on is needed, got 0"),
        ("search: {repeats: -1}", "4: search.repeats", "from 1 on is needed, got -1"),
        ("search: {reduction: 1}", "4: search.reduction", "from 2 on is needed, got 1"),
        ("search: {sampler: tep}", "4: search.sampler", "Did you mean 'tpe'?"),
        ("search: {pruning: yes}", "4: search.pruning", "true or false is needed, got 'yes'"),
        ("conditions: [{}]", "4: conditions", "`sweep` is missing or empty"),
        ("conditions: [{sweep: {layers: 2}}]", "4: conditions.sweep.layers", "a list"),
        ("conditions: [{sweep: {layers: [2, 2]}}]", "4: conditions.sweep.layers", "stands twice"),
        ("conditions: [{sweep: {layers: [0]}}]", "4: conditions.sweep.layers", "gcn refuses la"),
        ("conditions: [{sweep: {clamp: [1]}}]", "4: conditions.sweep.clamp", "parameter of gcn"),
        (
            "conditions: [{sweep: {layers: [2]}}, {sweep: {layers: [4, 2]}}]",
            "4: conditions.sweep.layers",
            "gcn has the condition layers=2 twice",
        ),
        ("conditions: [{sweep: {lr: [1]}, methods: [gc]}]", "4: conditions.methods", "'gcn'?"),
        ("settings: {paper: {}}", "4: settings", "`tuned` is missing"),
        ("settings: {tuned: {}, papr: {}}", "4: settings.papr", "Did you mean 'paper'?"),
    ],
)
def test_wrong_entries_are_named_with_their_place(line, place, message, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken_module.py").write_text("1 / 0")
    key = line.partition(":")[0]
    lines = [x for x in HEAD.splitlines() if not x.startswith(f"{key}:")]
    number = int(place.partition(":")[0])
    lines.insert(number - 1, line)
    text = "\n".join([*lines, TUNED if key != "settings" else ""])
    with pytest.raises(SpaceError) as caught:
        parse(text)
    assert str(caught.value).startswith(f"mine.yaml:{place}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("graph", "protocol", "more", "message"),
    [
        ("pubmed", "balanced-60-20-20", "conditions: [{sweep: {band: [1]}}]", "has 19,717 nodes"),
        ("cora", "balanced-60-20-20", "conditions: [{sweep: {filter: [low-pass]}}]", "all nodes"),
        ("cora", "whole-graph", "finals: 3", "classes would be tested on the nodes that they"),
    ],
)
def test_a_task_that_cannot_be_is_named_with_its_place(graph, protocol, more, message):
    head = f"graphs: [{graph}]\nmethods: [gcn]\nprotocol: {protocol}\n{more}\n"
    with pytest.raises(SpaceError) as caught:
        parse(head + "settings: {tuned: {}}")
    assert str(caught.value).startswith(f"mine.yaml:5: settings.tuned, gcn on {graph}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "path", "message"),
    [
        ("shared: {lrr: 1}", "shared.lrr", "unknown parameter 'lrr'. Did you mean 'lr'?"),
        ("shared: {restart: 0.1}", "shared.restart", "unknown parameter 'restart'"),
        ("shared: {lr: {low: 1}}", "shared.lr", "`high` is missing"),
        ("shared: {lr: {low: 2, high: 1}}", "shared.lr", "the range 2 to 1 is empty"),
        ("shared: {lr: {low: 0, high: 1, log: true}}", "shared.lr", "cannot start at 0"),
        ("shared: {lr: {low: a, high: 1}}", "shared.lr.low", "a number is needed, got 'a'"),
        ("shared: {lr: {low: 1e999, high: 1}}", "shared.lr.low", "'1e999' cannot be read"),
        ("shared: {layers: {low: 1.0, high: 3, integer: true}}", "shared.layers", "whole ends"),
        ("shared: {lr: {low: 1, high: 2, log: 1}}", "shared.lr.log", "true or false is needed"),
        ("shared: {lr: {choices: []}}", "shared.lr.choices", "the list is empty"),
        ("shared: {lr: {choices: [1, 1.0]}}", "shared.lr", "stands twice"),
        ("shared: {lr: {choices: [[1]]}}", "shared.lr.choices", "a single value is needed"),
        ("shared: {lr: {choises: [1]}}", "shared.lr.choises", "Did you mean 'choices'?"),
        ("shared: {lr: {choices: [1], value: 1}}", "shared.lr", "got choices, value"),
        ("shared: {lr: {}}", "shared.lr", "got nothing"),
        ("shared: {lr: [1, 2]}", "shared.lr", "a single value is needed, got a list"),
        ("shared: {lr: {low: 0, high: 1}}", "shared.lr", "gcn refuses lr=0: a number above 0"),
        ("shared: {lr:}", "shared.lr", "gcn refuses lr=None"),
        ("shared: {dropout: {low: 0, high: 1}}", "shared.dropout", "gcn refuses dropout=1"),
        ("shared: {layers: {choices: [2, 65]}}", "shared.layers", "gcn refuses layers=65"),
        ("shared: {lr: !!python/name:os.system x}", "shared.lr", "cannot be read"),
        ("backbones: {gnc: {lr: 1}}", "backbones.gnc", "Did you mean 'gcn'?"),
        ("backbones: {gat: {lr: 1}}", "backbones.gat", "unknown key 'gat'"),
        (
            "backbones: {gcn: {alpha: 1}}",
            "backbones.gcn.alpha",
            "unknown parameter of gcn 'alpha'",
        ),
        ("regularizers: {clar: {alfa: 1}}", "regularizers.clar.alfa", "Did you mean 'alpha'?"),
        (
            "regularizers: {clar: {sampling: {choices: [node, egde]}}}",
            "regularizers.clar.sampling",
            "gcn+clar refuses sampling='egde': unknown sampling 'egde'. Did you mean 'edge'?",
        ),
        ("methods: {gcn+nl: {alpha: 1}}", "methods.gcn+nl", "unknown key 'gcn+nl'"),
        (
            "regularizers: {clar: {clamp: {value: 1, when: {reduction: trace}}}}",
            "regularizers.clar.clamp",
            "unknown parameter given to gcn+clar 'reduction'",
        ),
        (
            "regularizers: {clar: {reduction: trace, clamp: {value: 1, when: {reduction: trac}}}}",
            "regularizers.clar.clamp.when",
            "unknown value of reduction 'trac'. Did you mean 'trace'?",
        ),
        (
            "shared: {hidden: {low: 1, high: 9}, layers: {value: 1, when: {hidden: 10}}}",
            "shared.layers.when",
            "unknown value of hidden '10'. Allowed: 1 to 9.",
        ),
        ("shared: {lr: {value: 1, when: {lr: 1}}}", "shared.lr", "goes round in a circle (lr)"),
        (
            "methods: {gcn+clar: {alpha: {choices: [0,1]}, clamp: {value: -1, when: {alpha: 1}}}}",
            "methods.gcn+clar.clamp",
            "gcn+clar refuses clamp=-1",
        ),
        ("seach: {trials: 3}", "seach", "Did you mean 'search'?"),
    ],
)
def test_wrong_parameters_are_named_with_their_place(line, path, message):
    with pytest.raises(SpaceError) as caught:
        tuned(line)
    assert str(caught.value).startswith(f"mine.yaml:6: settings.tuned.{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.yaml: the file is empty"),
        ("# nothing\n", "mine.yaml: the file is empty"),
        ("- a\n", "mine.yaml:1: a mapping"),
        ("graphs: [cora\nmethods: [gcn]\n", "mine.yaml:2: this is not YAML"),
        ("graphs:\t[\x07]\n", "mine.yaml: this is not YAML"),
        ("a: 1\n---\nb: 1\n", "mine.yaml:2: this is not YAML"),
        ("graphs: *nowhere\n", "mine.yaml:1: this is not YAML"),
        ("graphs: [cora]\n", "mine.yaml:1: `methods` is missing"),
        (f"{HEAD}graphs: [texas]\n", "mine.yaml:4: the key 'graphs' stands already in line 1"),
        (f"{HEAD}{TUNED}? [a]\n: 1\n", "mine.yaml:5: a key must be a single value"),
        ("!!python/object/apply:os.system [exit]", "mine.yaml:1: a mapping"),
    ],
)
def test_files_that_are_no_space_are_refused(text, message):
    with pytest.raises(SpaceError) as caught:
        parse(text)
    assert str(caught.value).startswith(message)


def test_repeated_keys_inside_an_aliased_mapping_are_found_once_only():
    merged = "{<<: &x {lr: 1}, lr: 2}"
    space = tuned(f"backbones: {{gcn: &y {merged}}}\nregularizers: {{clar: *y}}")
    assert domains(space, CLAR) == {"lr": Fixed(2)}


def test_own_classes_are_read_and_checked():
    own = f"{__name__}:OwnGnn"
    head = HEAD.replace("[gcn, gcn+clar]", f"[{own}]")
    assert domains(tuned("shared: {width: 8}", head), Method(own)) == {"width": Fixed(8)}
    with pytest.raises(SpaceError, match="width needs a value, as it has no default"):
        tuned("shared: {lr: 0.1}", head)
    head = HEAD.replace("[gcn, gcn+clar]", f"[gcn+{__name__}:Fussy]")
    with pytest.raises(SpaceError, match=r"refuses strength=3: RuntimeError: too strong"):
        tuned("shared: {strength: {choices: [1, 3]}}", head)


def test_values_are_judged_beside_those_they_come_with():
    head = HEAD.replace("gcn+clar", "gcn+madreg")
    space = tuned("regularizers: {madreg: {near: 9, remote: 12}}", head)
    assert domains(space, Method("gcn", "madreg")) == {"near": Fixed(9), "remote": Fixed(12)}
    with pytest.raises(SpaceError, match=r"settings.tuned.regularizers.madreg.near"):
        tuned("regularizers: {madreg: {near: {choices: [3, 9]}, remote: 8}}", head)
    with pytest.raises(SpaceError, match=r"settings.tuned.regularizers.madreg.weight"):
        tuned("regularizers: {madreg: {near: 9, remote: 12, weight: x}}", head)


CONTINUOUS = ParameterSet((Parameter("lr", Range(0.1, 1.0)),))
FINITE = ParameterSet((Parameter("a", Choice((1, 2))),))
CONDITIONAL = ParameterSet((*FINITE, Parameter("b", Choice((1, 2)), {"a": (1,)})))
NOTHING = ParameterSet((Parameter("a", Fixed(1)),))


@pytest.mark.parametrize(
    ("sampler", "pruning", "parameters", "message"),
    [
        ("grid", True, CONTINUOUS, "here: the grid sampler needs values .* but lr is continuous"),
        ("gp", True, FINITE, "here: the gp sampler learns from complete trials only"),
        ("gp", False, CONDITIONAL, "here: the gp sampler cannot search parameters with `when`"),
    ],
)
def test_samplers_that_cannot_serve_are_refused(sampler, pruning, parameters, message):
    with pytest.raises(SpaceError, match=message):
        check_sampler(sampler, pruning, parameters, "here")


@pytest.mark.parametrize(
    ("sampler", "pruning", "parameters"),
    [
        ("grid", True, CONDITIONAL),
        ("gp", False, CONTINUOUS),
        ("gp", True, NOTHING),
        ("tpe", True, CONDITIONAL),
        ("random", True, CONDITIONAL),
    ],
)
def test_samplers_that_can_serve_are_not(sampler, pruning, parameters):
    check_sampler(sampler, pruning, parameters, "here")


def test_an_unknown_sampler_is_refused():
    with pytest.raises(UnknownName, match="Did you mean 'tpe'"):
        check_sampler("tep", True, FINITE, "here")


def test_a_file_with_the_wrong_sampler_is_refused():
    with pytest.raises(SpaceError, match="mine.yaml:6: settings.tuned, gcn: the grid sampler"):
        tuned("shared: {lr: {low: 1, high: 2}}\nsearch: {sampler: grid}")


def test_a_file_is_loaded_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my-space.yaml").write_text(HEAD + TUNED)
    Path("plain").write_text(HEAD + TUNED)
    assert load_space("my-space.yaml").name == "my-space"
    assert load_space(str(tmp_path / "plain")).name == "plain"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("heterophly", "unknown space 'heterophly'. Did you mean 'heterophily'?"),
        ("none.yaml", "none.yaml: the file cannot be read (No such file or directory)"),
        ("My_Space.yaml", "'My_Space' is no name"),
        ("latin.yaml", "latin.yaml: the file cannot be read (it is not UTF-8 text)"),
        ("broken.yaml", "broken.yaml:1: graphs: the list is empty"),
    ],
)
def test_files_that_cannot_be_loaded_are_named(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("latin.yaml").write_bytes(b"description: \xe9\n")
    Path("broken.yaml").write_text(HEAD.replace("[cora, texas]", "[]") + TUNED)
    with pytest.raises((SpaceError, UnknownName)) as caught:
        load_space(name)
    assert message in str(caught.value)


TWELVE = [
    *("gcn", "gat", "sage", "cheby", "gpr"),
    *("gcn+nl", "gcn+preg", "gcn+madreg", "gcn+dropedge"),
    *("gcn+clar", "gat+clar", "sage+clar"),
]
FAMILY = ("heterophily", "homophily", "all")


def test_the_spaces_that_ship_are_found_and_valid():
    assert {"quickstart", *FAMILY} <= set(shipped_spaces())
    for name in shipped_spaces():
        space = load_space(name)
        assert space.name == name
        assert space.description


def test_the_three_comparisons_differ_in_their_graphs_only():
    texts = [re.split(r"^(?=methods:)", load_space(name).text, flags=re.M) for name in FAMILY]
    assert all(len(parts) == 2 for parts in texts)
    assert len({rest for _, rest in texts}) == 1
    for name in FAMILY:
        assert [method.name for method in load_space(name).methods] == TWELVE
    halves = load_space("heterophily").graphs + load_space("homophily").graphs
    assert set(load_space("all").graphs) == {*halves, "cs", "physics"}
    assert len(load_space("all").graphs) == 12


@pytest.mark.parametrize("name", FAMILY)
def test_every_weight_can_be_zero_and_has_the_same_values(name):
    space = load_space(name)
    weights = {
        domain
        for method in space.methods
        for key, domain in domains(space, method).items()
        if key in ("alpha", "beta", "weight")
    }
    assert len(weights) == 1
    assert weights.pop().values[0] == 0
    assert domains(space, Method("gcn", "dropedge"))["rate"].values[0] == 0


@pytest.mark.parametrize("name", FAMILY)
def test_shared_ranges_hold_for_every_method(name):
    space = load_space(name)
    for settings in space.settings:
        plain = domains(space, GCN, settings)
        assert set(plain) == {"layers", "hidden", "lr", "weight_decay", "dropout"}
        assert (plain["layers"], plain["hidden"]) == (Fixed(2), Fixed(32))
        for method in space.methods:
            own = domains(space, method, settings)
            assert {key: own[key] for key in plain} == plain
    nl, clar = domains(space, Method("gcn", "nl")), domains(space, CLAR)
    assert all(nl[key] == clar[key] for key in ("alpha", "reduction", "clamp"))


@pytest.mark.parametrize("name", FAMILY)
def test_the_paper_settings_are_those_of_the_paper(name):
    space = load_space(name)
    rules = space.settings["paper"]
    assert (rules.finals, rules.training.patience, rules.training.max_epochs) == (50, 100, 1000)
    assert (rules.search.sampler, rules.search.pruning) == ("grid", False)
    clar = domains(space, CLAR, "paper")
    assert clar["alpha"] == clar["beta"] == Choice((0, 1, 2))
    assert clar["samples"] == Choice((1, 2))
    assert (clar["clamp"], clar["reduction"]) == (Fixed(1), Fixed("trace"))
    assert (clar["lr"], clar["dropout"], clar["weight_decay"]) == (
        Fixed(0.01),
        Fixed(0),
        Fixed(0.0005),
    )
    counts = {m.name: space.parameters("paper", m, {}).count for m in space.methods}
    assert counts == {
        **dict.fromkeys(TWELVE, 1),
        **{"gpr": 4, "gcn+preg": 2, "gcn+clar": 15, "gat+clar": 15, "sage+clar": 15},
    }
    assert max(counts.values()) <= rules.search.trials


@pytest.mark.parametrize("name", FAMILY)
def test_tuned_searches_of_clar_have_five_parameters(name):
    space = load_space(name)
    searched = [p.name for p in space.parameters("tuned", CLAR, {}).searched]
    assert searched == ["lr", "weight_decay", "dropout", "alpha", "beta"]
    clar = domains(space, CLAR)
    assert clar["alpha"] == Choice((0, 0.01, 0.03, 0.1, 0.3, 1, 3))
    fixed = {"samples": 1, "sampling": "node", "reduction": "node-mean", "clamp": None}
    assert {key: clar[key] for key in fixed} == {key: Fixed(v) for key, v in fixed.items()}
    for regularizer in ("nl", "preg", "madreg", "dropedge"):
        assert len(space.parameters("tuned", Method("gcn", regularizer), {}).searched) == 4
    assert domains(space, Method("gcn", "madreg"))["clamp"] == Fixed(None)
    shared = {"lr": 0.01, "dropout": 0.5, "weight_decay": 5e-4}
    assert all(clar[key].holds(value) for key, value in shared.items())


@pytest.mark.parametrize("name", FAMILY)
def test_the_controls_are_searched_as_their_backbone_where_a_command_names_them(name):
    methods = ("gcn", "gcn+prior", "gcn+seen")
    plan = make_plan(load_space(name), Options(methods=methods, protocol="balanced-60-20-20"))
    graph = plan.graphs[0]
    plain, *controls = (s for s in plan.studies if s.columns.graph == graph)
    assert [study.parameters for study in controls] == [plain.parameters] * 2
    assert [study.arms for study in controls] == [("off", "cross")] * 2
    assert {s.columns.protocol for s in plan.studies} == {"balanced-60-20-20"}


PUBLISHED = {
    **dict.fromkeys(("texas", "cornell"), (0.05, 5e-4)),
    **dict.fromkeys(("actor", "chameleon", "squirrel"), (0.05, 0)),
    "pubmed": (0.01, 0),
}
"""Learning rate and weight decay of BernNet on graphs where they are not 0.01 and 5e-4."""


@pytest.mark.parametrize("name", FAMILY)
def test_the_released_settings_are_those_of_the_released_code(name):
    space = load_space(name)
    rules = space.settings["released"]
    assert (rules.training.select, rules.training.stop, rules.finals) == ("loss", "released", 50)
    assert (rules.search.sampler, rules.search.pruning) == ("grid", False)
    assert rules.preprocessing == "released"
    assert set(rules.protocols.values()) == {"balanced-60-20-20"}
    for study in make_plan(space, Options(settings="released")).studies:
        lr, decay = PUBLISHED.get(study.columns.graph, (0.01, 5e-4))
        params = study.complete(study.parameters.at([0.9] * len(study.parameters.searched)))
        assert (params["lr"], params["weight_decay"], params["dropout"]) == (lr, decay, 0.5)
        if study.columns.backbone == "gat":
            assert params["activation"] == "relu"
        if study.columns.regularizer == "clar":
            assert (params["sampling"], params["reduction"]) == ("edge", "released")
            assert (params["clamp"], study.parameters.count) == (1, 15)


def test_clar_forms_searches_every_form_on_four_graphs():
    space = load_space("clar-forms")
    assert space.graphs == ("cora", "citeseer", "chameleon", "texas")
    assert space.methods == (GCN, CLAR)
    forms, usual = domains(space, CLAR), domains(load_space("all"), CLAR)
    assert forms["reduction"].values == ("node-mean", "trace", "released")
    assert forms["clamp"].values == (1, 10, None)
    assert forms["sampling"].values == ("node", "edge")
    assert forms["samples"].values == (1, 2)
    rest = set(forms) - {"reduction", "clamp", "sampling", "samples"}
    assert {key: forms[key] for key in rest} == {key: usual[key] for key in rest}


def test_the_quickstart_stays_small():
    space = load_space("quickstart")
    assert space.graphs == ("csbm-homophily", "csbm-heterophily")
    assert space.studies == 8
    assert space.protocols == dict.fromkeys(space.graphs, "random-60-20-20")
    # Of four methods: 8 x 3 repeats; 10 finals, and as many of each of four arms of clar.
    assert space.most_trainings("tuned") == 2 * (4 * 24 + 2 * 10 + 2 * 50)
    assert space.settings["tuned"].training.max_epochs <= 200
