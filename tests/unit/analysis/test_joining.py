"""Joined runs of different spaces: gains between them are named, and get no verdict."""

from dataclasses import replace

import pytest
from support.final_scores import CLEAR, effect_of, of
from support.results import finished, plausible

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.records import Comparison
from clar_tune.analysis.same_ranges import content_of, same_ranges

SPACE = """
graphs: [texas]
methods: [gcn, gcn+nl, gcn+clar]
protocol: balanced-60-20-20
finals: 5
settings:
  tuned:
    shared: {hidden: 32}
    regularizers: {nl: {alpha: 1}, clar: {alpha: 1, beta: 1}}
"""


def run(name: str, methods: tuple[str, ...], space: str = "first", text: str = SPACE):
    def train(job, index):
        return replace(plausible(job, index), test_score=CLEAR[job.spec.method][index])

    made = finished(text, train, methods=methods)
    return replace(made, name=name, row=replace(made.row, space=space))


def joined(text: str, methods: tuple[str, ...] = ("gcn+clar",)) -> Comparison:
    others = tuple(method for method in CLEAR if method not in methods)
    return compare([run("a", others), run("b", methods, "second", text)])


OTHER = SPACE.replace("hidden: 32", "hidden: 64")


def test_a_gain_between_spaces_with_other_values_gets_no_verdict():
    found = joined(OTHER)
    _, contrast = of(found, "gcn+clar")
    assert contrast.gain == pytest.approx(0.102)
    assert (contrast.p, contrast.verdict, contrast.reason) == (None, "none", "spaces")
    assert found.conclusions[0] == (
        "a (space first) and b (space second) search other ranges or fix other values for methods "
        "that stand in one row: what differs between them may come from that, and 2 gains between "
        "them get no verdict."
    )
    assert (
        found.across.reason == "methods of one row come from spaces with other ranges or values."
    )


def test_gains_within_a_run_keep_their_verdicts_and_the_family_its_size():
    found = joined(OTHER)
    _, own = of(found, "gcn+nl")
    assert own.reason == "search" and found.family == 3
    effect = effect_of(found, "gcn+nl")
    assert (effect.verdict, effect.small, effect.family) == ("better", True, 1)
    assert effect.p_holm == pytest.approx(effect.p)


def test_a_run_without_its_backbone_tells_one_half_of_an_effect():
    effect = effect_of(joined(OTHER), "gcn+clar")
    assert effect.effect == effect.kept == pytest.approx(0.102)
    assert effect.crossed is None


def test_methods_without_a_gain_between_them_are_named_too():
    wide = SPACE.replace("[gcn, ", "[gcn, sage, ")
    sage = finished(wide.replace("hidden: 32", "hidden: 64"), methods=("sage",))
    found = compare([run("a", ("gcn",)), replace(sage, name="b")])
    assert found.contrasts == ()
    assert found.conclusions[0].endswith("what differs between them may come from that.")


@pytest.mark.parametrize(
    "text",
    [
        SPACE,
        "description: another\n" + SPACE.replace("[texas]", "[texas, cora]"),
        SPACE.replace("nl: {alpha: 1}, ", "").replace("gcn+nl, ", ""),  # silent on the other
    ],
)
def test_spaces_that_say_the_same_on_these_methods_are_compared(text):
    made = run("b", ("gcn+clar",), "second", text)
    only = replace(made, studies=tuple(s for s in made.studies if s.graph == "texas"))
    found = compare([run("a", ("gcn", "gcn+nl")), only])
    assert of(found, "gcn+clar")[1].reason == "search"
    assert effect_of(found, "gcn+clar").verdict == "better"
    assert not any("other ranges" in text for text in (*found.conclusions, *found.remarks))


def test_ranges_are_compared_level_by_level():
    one = content_of(SPACE, "tuned")
    assert same_ranges(one, content_of(SPACE, "tuned"), "gcn+clar")
    wider = content_of(SPACE.replace("beta: 1", "beta: {choices: [0, 1]}"), "tuned")
    assert not same_ranges(one, wider, "gcn+clar")
    assert same_ranges(one, wider, "gcn") and same_ranges(one, wider, "gcn+nl")
    own = content_of(SPACE + "    methods: {gcn+nl: {hidden: 8}}\n", "tuned")
    assert not same_ranges(one, own, "gcn+nl") and same_ranges(one, own, "gcn+clar")
    for text in ("", "text", "settings: {}"):
        assert content_of(text, "tuned")["shared"] == {}
