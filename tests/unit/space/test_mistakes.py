"""All mistakes of a space are told at once, each of them once."""

import pytest

from clar_tune.errors import SpaceError, UnknownName
from clar_tune.space import parse_space
from clar_tune.space.mistakes import MOST, Mistakes, each

HEAD = """\
graphs: [cora, texas]
methods: [gcn, gcn+clar, sage]
protocol: balanced-60-20-20
"""


def mistakes(text):
    """What is wrong with a space: places and messages, without its name."""
    with pytest.raises(SpaceError) as caught:
        parse_space(text, "mine", "mine.yaml")
    lines = [str(single) for single in caught.value.mistakes]
    assert len(lines) == 1 or str(caught.value).splitlines() == [
        f"{len(lines)} mistakes:",
        *(f"  {line}" for line in lines),
    ]
    return [line.removeprefix("mine.yaml:") for line in lines]


def assert_are(text, *expected):
    found = mistakes(text)
    assert len(found) == len(expected), "\n".join(found)
    for line, (start, part) in zip(sorted(found), sorted(expected), strict=True):
        assert line.startswith(start) and part in line, line


def test_a_space_with_a_dozen_mistakes():
    assert_are(
        """\
graphs: [cora, texsa, chamelon]
methods: [gcn, sage]
descripton: mine
protocol: {cora: planetoid}
search: {trials: 0, sampler: tep, finals: 3}
finals: {half_width: 0, at_least: 1}
margin: high
conditions:
  - sweep: {layers: [2, 2], hidden: 8}
    methods: [sgae]
columns: [layers]
settings:
  tuned:
    shared: {lr: [0.1, 1], lrr: 1, dropout: {low: a, high: b}}
    backbones: {gnc: {lr: 1}, sage: {alpha: 1}}
  papr: {}
""",
        ("3: descripton: ", "unknown key 'descripton'. Did you mean 'description'?"),
        ("1: graphs: ", "unknown graph 'texsa'"),
        ("1: graphs: ", "unknown graph 'chamelon'. Did you mean 'chameleon'?"),
        ("9: conditions.sweep.layers: ", "stands twice"),
        ("9: conditions.sweep.hidden: ", "a list (`[a, b]`) is needed"),
        ("10: conditions.methods: ", "unknown method 'sgae'. Did you mean 'sage'?"),
        ("16: settings.papr: ", "Did you mean 'paper'?"),
        ("15: settings.tuned.backbones.gnc: ", "Did you mean 'gcn'?"),
        ("14: settings.tuned.shared.lr: ", "write `{choices: [...]}`"),
        ("14: settings.tuned.shared.dropout.low: ", "a number is needed, got 'a'"),
        ("14: settings.tuned.shared.dropout.high: ", "a number is needed, got 'b'"),
        ("5: search.finals: ", "unknown key 'finals'"),
        ("5: search.trials: ", "from 1 on is needed, got 0"),
        ("5: search.sampler: ", "Did you mean 'tpe'?"),
        ("6: finals.half_width: ", "points above 0"),
        ("6: finals.at_least: ", "from 2 on is needed, got 1"),
        ("7: margin: ", "a number is needed, got 'high'"),
        ("14: settings.tuned.shared.lrr: ", "unknown parameter 'lrr'. Did you mean 'lr'?"),
        ("15: settings.tuned.backbones.sage.alpha: ", "unknown parameter of sage 'alpha'"),
    )


def test_values_that_methods_refuse_are_told_once_for_all_methods():
    assert_are(
        HEAD
        + """\
conditions: [{sweep: {layers: [2, 0]}}]
settings:
  tuned:
    shared: {lr: 0, dropout: {choices: [0.5, 1, 2]}, hidden: {low: 0, high: 8}}
    regularizers: {clar: {alpha: -x, reduction: {choices: [trace, node]}}}
  paper:
    shared: {weight_decay: -1}
""",
        ("7: settings.tuned.shared.lr: ", "gcn refuses lr=0"),
        ("4: conditions.sweep.layers: ", "gcn refuses layers=0"),
        ("7: settings.tuned.shared.dropout: ", "gcn refuses dropout=1"),
        ("7: settings.tuned.shared.hidden: ", "gcn refuses hidden=0"),
        ("8: settings.tuned.regularizers.clar.alpha: ", "gcn+clar refuses alpha='-x'"),
        ("8: settings.tuned.regularizers.clar.reduction: ", "refuses reduction='node'"),
        ("10: settings.paper.shared.weight_decay: ", "gcn refuses weight_decay=-1"),
    )


def test_what_depends_on_a_wrong_part_is_not_told_twice():
    wrong = HEAD.replace("gcn+clar", "gcn+clra").replace("methods: [gcn", "methods: [GCN")
    assert_are(
        wrong + "settings: {tuned: {regularizers: {clar: {alpha: 1}}, methods: {GCN: {lr: 1}}}}",
        ("2: methods: ", "unknown backbone 'GCN'. Did you mean 'gcn'?"),
        ("2: methods: ", "unknown regularizer 'clra'. Did you mean 'clar'?"),
    )
    assert_are(
        HEAD + "conditons: [{sweep: {layers: [2, 4]}}]\ncolumns: [layers]\n"
        "settings: {tuned: {shared: {hidden: {choices: [8], when: {layers: 3}}}}}",
        ("4: conditons: ", "Did you mean 'conditions'?"),
    )
    assert_are(
        HEAD.replace("graphs: [cora, texas]", "graphs: [crao, texas]")
        + "settings: {tuned: {shared: {lr: {low: 0.1, high: 1}}}, paper: {shared: {lr: 1}}}",
        ("1: graphs: ", "unknown graph 'crao'. Did you mean 'cora'?"),
    )


def test_all_that_is_missing_is_told_in_one_line():
    assert mistakes("graphs: [cora]\n") == [
        "1: `methods` is missing. It must be given, and so must `settings`."
    ]


def test_tasks_that_cannot_be_are_told_once_for_a_graph():
    head = "graphs: [cora, texas]\nmethods: [gcn, sage]\nprotocol: balanced-60-20-20\n"
    assert_are(
        head + "conditions: [{sweep: {filter: [low-pass, high-pass]}}]\nsettings: {tuned: {}}",
        ("5: settings.tuned, gcn on cora: ", "all nodes"),
        ("5: settings.tuned, gcn on texas: ", "all nodes"),
    )


def test_more_mistakes_than_anybody_reads_are_cut_off():
    names = ", ".join(f"g{number}" for number in range(3000))
    assert len(mistakes(HEAD.replace("cora, texas", names) + "settings: {tuned: {}}")) == MOST


def test_a_single_mistake_is_raised_as_it_is():
    error = SpaceError("mine.yaml:3: x")
    found = Mistakes()
    found.note(error)
    found.note(SpaceError("mine.yaml:3: x"))
    with pytest.raises(SpaceError) as caught:
        found.check()
    assert caught.value is error
    assert each(str.upper, ["a", "b"]) == ["A", "B"]


@pytest.mark.parametrize(
    ("given", "near"), [("GCN", "gcn"), ("SAGE", "sage"), ("Gat", "gat"), ("k", "K")]
)
def test_capitals_are_no_other_name(given, near):
    told = str(UnknownName("backbone", given, ["gcn", "sage", "gat", "K"]))
    assert f"Did you mean {near!r}?" in told
