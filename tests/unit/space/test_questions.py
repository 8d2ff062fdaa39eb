"""The key ``question`` of a space."""

import pytest

from clar_tune.errors import SpaceError
from clar_tune.rows import Question
from clar_tune.space import parse_space

TEXT = """\
graphs: [texas]
methods: [{methods}]
protocol: balanced-60-20-20
question: {question}
conditions: [{{sweep: {{{sweep}}}}}]
settings: {{tuned: {{}}}}
"""
USUAL = "gcn, sage, gcn+clar, support.own_classes:OwnNetwork"


def asked(question: str, methods: str = USUAL, sweep: str = "drop_edges: [0, 0.5]"):
    text = TEXT.format(question=question, methods=methods, sweep=sweep)
    return parse_space(text, "mine", "mine.yaml").questions


def refusal(question: str, **text: str) -> str:
    with pytest.raises(SpaceError) as caught:
        asked(question, **text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("{compare: backbones}", Question("backbones", "gcn")),
        ("{compare: backbones, baseline: sage}", Question("backbones", "sage")),
        ("{compare: regularizers}", Question("regularizers")),
        ("{compare: drop_edges}", Question("drop_edges", "0")),
        ("{compare: drop_edges, baseline: 0.5}", Question("drop_edges", "0.5")),
        ("{compare: drop_edges, baseline: 0.0}", Question("drop_edges", "0")),
    ],
)
def test_one_question(question, expected):
    assert asked(question) == (expected,)


def test_a_backbone_of_ones_own_may_be_the_baseline():
    own = "support.own_classes:OwnNetwork"
    assert asked(f'{{compare: backbones, baseline: "{own}"}}') == (Question("backbones", own),)


def test_several_questions_keep_their_order():
    listed = asked("[{compare: drop_edges, baseline: 0.5}, {compare: regularizers}]")
    assert listed == (Question("drop_edges", "0.5"), Question("regularizers"))


def test_who_asks_nothing_is_asked_nothing():
    text = TEXT.format(question="X", methods="gcn", sweep="layers: [2, 4]")
    assert parse_space(text.replace("question: X\n", ""), "mine", "mine.yaml").questions == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("backbones", "question: a mapping (`key: value`) is needed, got 'backbones'."),
        ("[]", "question: the list is empty."),
        ("{baseline: gcn}", "question: `compare` is missing. Write `compare: backbones`"),
        ("{compare: backbone}", "question.compare: unknown comparison 'backbone'. Did you mean"),
        ("{compare: layers}", "question.compare: unknown comparison 'layers'."),
        ("{compare: backbones, with: gcn}", "question.with: unknown key 'with'."),
        (
            "{compare: backbones, baseline: gat}",
            "question.baseline: unknown backbone without a regularizer 'gat'.",
        ),
        (
            "{compare: regularizers, baseline: gcn}",
            "question.baseline: a regularizer is compared with its backbone",
        ),
        (
            "{compare: drop_edges, baseline: 0.2}",
            "question.baseline: unknown value of drop_edges '0.2'. Did you mean",
        ),
        (
            "[{compare: backbones}, {compare: backbones, baseline: sage}]",
            "question: backbones are compared twice.",
        ),
    ],
)
def test_a_wrong_question_is_refused_with_its_place(question, expected):
    assert refusal(question).startswith(f"mine.yaml:4: {expected}")


@pytest.mark.parametrize(
    ("methods", "sweep", "compare", "expected"),
    [
        ("gcn, gcn+clar", "layers: [2, 4]", "backbones", "two backbones without a regularizer"),
        ("sage, gat", "layers: [2, 4]", "backbones", "name a `baseline`: one of sage, gat."),
        ("gcn, sage", "layers: [2, 4]", "regularizers", "no method has a regularizer."),
        ("gcn, sage", "layers: [2]", "layers", "layers has one value only, 2: there is nothing"),
        ("gcn", "filter: [low-pass, high-pass]", "filter", "every filter is another thing to"),
    ],
)
def test_what_cannot_be_answered_is_refused(methods, sweep, compare, expected):
    found = refusal(f"{{compare: {compare}}}", methods=methods, sweep=sweep)
    assert found.startswith(f"mine.yaml:4: question.compare: {expected}")
