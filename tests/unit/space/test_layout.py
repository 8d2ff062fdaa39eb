"""The keys of a space that lay out its table: ``columns`` and ``correlate``."""

import pytest

from clar_tune.errors import SpaceError
from clar_tune.space import Correlate, parse_space

TEXT = """\
graphs: [texas]
methods: [gcn, gcn+clar]
protocol: balanced-60-20-20
{}
conditions:
  - sweep: {{layers: [2, 4]}}
    methods: [gcn]
  - sweep: {{layers: [2, 4], clamp: [1, null], sampling: [node, edge, any], samples: [1, 4]}}
    methods: [gcn+clar]
settings: {{tuned: {{}}}}
"""


def space(line: str):
    return parse_space(TEXT.format(line), "mine", "mine.yaml")


def refusal(line: str) -> str:
    with pytest.raises(SpaceError) as caught:
        space(line)
    return str(caught.value)


def test_without_the_keys_every_condition_makes_a_row():
    assert (space("").columns, space("").correlate) == ((), None)


def test_columns_are_keys_of_conditions():
    assert space("columns: [clamp]").columns == ("clamp",)
    assert space("columns: [sampling, layers]").columns == ("sampling", "layers")


def test_correlate():
    assert space("correlate: {spearman: samples}").correlate == Correlate("spearman", "samples")
    both = Correlate("pearson", "sampling", ("edge", "any"))
    assert space("correlate: {pearson: sampling, of: [edge, any]}").correlate == both
    every = Correlate("pearson", "sampling", ("node", "edge", "any"))
    assert space("correlate: {pearson: sampling}").correlate == every


def test_the_content_reads_as_it_was_written():
    for line in ("{spearman: samples}", "{pearson: clamp, of: [1, null]}"):
        found = space(f"correlate: {line}").correlate
        assert found.content in ({"spearman": "samples"}, {"pearson": "clamp", "of": [1, None]})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "columns: [clam]",
            "columns: unknown key of the conditions 'clam'. Did you mean 'clamp'?",
        ),
        ("columns: [hidden]", "columns: unknown key of the conditions 'hidden'."),
        ("columns: [clamp, clamp]", "columns: clamp stands twice."),
        ("columns: []", "columns: the list is empty."),
        ("columns: clamp", "columns: a list (`[a, b]`) is needed, got 'clamp'."),
        ("columns: [2]", "columns: text is needed, got '2'."),
        ("columns: {clamp: 1}", "columns: a list (`[a, b]`) is needed, got a mapping."),
    ],
)
def test_wrong_columns_are_refused_with_their_place(line, expected):
    assert refusal(line).startswith(f"mine.yaml:4: {expected}")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("samples", "correlate: a mapping (`key: value`) is needed"),
        ("{}", "correlate: give one of `spearman: KEY`, `pearson: KEY`; got nothing."),
        ("{spearman: layers, pearson: clamp}", "correlate: give one of "),
        ("{kendall: layers}", "correlate.kendall: unknown key 'kendall'."),
        ("{of: [1, 2]}", "correlate: give one of "),
        ("{spearman: hidden}", "correlate.spearman: unknown key of the conditions 'hidden'."),
        ("{spearman: [samples]}", "correlate.spearman: a single value is needed, got a list."),
        ("{spearman: sampling}", "correlate.spearman: sampling has the value node, which is no "),
        ("{spearman: clamp}", "correlate.spearman: clamp has the value null, which is no number"),
        ("{spearman: layers, of: [2, 4]}", "correlate.of: `of` belongs to `pearson`"),
        ("{pearson: sampling, of: [node]}", "correlate.of: two values are needed"),
        ("{pearson: sampling, of: [node, node]}", "correlate.of: the choice 'node' stands twice."),
        ("{pearson: sampling, of: []}", "correlate.of: the list is empty."),
        ("{pearson: sampling, of: [node, all]}", "correlate.of: unknown value of the key 'all'."),
        ("{pearson: clamp, of: [1, true]}", "correlate.of: unknown value of the key 'true'."),
    ],
)
def test_a_wrong_correlation_is_refused_with_its_place(line, expected):
    assert refusal(f"correlate: {line}").startswith(f"mine.yaml:4: {expected}")


PLAIN = """\
graphs: [texas]
methods: [gcn+clar]
protocol: balanced-60-20-20
{conditions}
{line}
settings: {{tuned: {{}}}}
"""


@pytest.mark.parametrize(
    ("conditions", "line", "expected"),
    [
        ("", "columns: [clamp]", "columns: clamp is no key of a condition, as there are none."),
        ("", "correlate: {spearman: samples}", "correlate.spearman: samples is no key of a "),
        (
            "conditions: [{sweep: {samples: [4]}}]",
            "correlate: {spearman: samples}",
            "correlate.spearman: samples has one value only, 4: nothing can be correlated.",
        ),
        (
            "conditions: [{sweep: {samples: [1, 4, 8], sampling: [node, edge]}}]",
            "correlate: {pearson: sampling}",
            "correlate.pearson: the other keys of the conditions make 3 cells, and 4 are needed.",
        ),
        (
            "conditions: [{sweep: {sampling: [node, edge]}}]",
            "correlate: {pearson: sampling}",
            "correlate.pearson: the other keys of the conditions make 1 cell, and 4 are needed.",
        ),
    ],
)
def test_what_cannot_be_laid_out_is_refused(conditions, line, expected):
    with pytest.raises(SpaceError) as caught:
        parse_space(PLAIN.format(conditions=conditions, line=line), "mine", "mine.yaml")
    assert str(caught.value).startswith(f"mine.yaml:5: {expected}")
