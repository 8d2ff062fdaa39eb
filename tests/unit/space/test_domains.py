from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, strategies as st

from clar_tune.errors import SpaceError
from clar_tune.space.domains import Choice, Fixed, Range
from clar_tune.space.parameters import Parameter, ParameterSet

REDUCTION = Parameter("reduction", Choice(("node-mean", "trace", "released")))
CLAMP = Parameter("clamp", Choice((1, 10, None)), {"reduction": ("trace", "released")})


def evenly(domain, steps=1000):
    return [domain.at(step / steps) for step in range(steps)]


def test_a_range_is_linear_or_logarithmic():
    assert Range(1, 5).at(0.0) == 1
    assert Range(1, 5).at(0.5) == 3
    assert Range(0.001, 0.1, log=True).at(0.5) == pytest.approx(0.01)
    assert Range(-1.0, 1.0).at(0.25) == -0.5


def test_whole_numbers_are_equally_likely():
    assert Counter(evenly(Range(1, 4, integer=True))) == {1: 250, 2: 250, 3: 250, 4: 250}
    assert Counter(evenly(Range(-1, 0, integer=True))) == {-1: 500, 0: 500}


def test_whole_numbers_on_a_log_scale_thin_out():
    counts = Counter(evenly(Range(1, 4, log=True, integer=True)))
    assert list(counts) == [1, 2, 3, 4]
    assert counts[1] > counts[2] > counts[3] > counts[4]


@given(
    st.floats(1e-9, 1e9), st.floats(1e-9, 1e9), st.booleans(), st.floats(0, 1, exclude_max=True)
)
def test_no_value_lies_outside_its_range(first, second, log, u):
    low, high = sorted((first, second))
    if low < high:
        assert low <= Range(low, high, log=log).at(u) <= high
    if int(low) < int(high):
        value = Range(int(low) + 1, int(high) + 1, log=log, integer=True).at(u)
        assert isinstance(value, int)
        assert int(low) + 1 <= value <= int(high) + 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Range(2, 1), "range 2 to 1 is empty"),
        (lambda: Range(1, 1), "`low` must be below `high`"),
        (lambda: Range(0, 1, log=True), "a log range cannot start at 0"),
        (lambda: Range(1.0, 3, integer=True), "needs whole ends, got 1.0 to 3"),
        (lambda: Choice(()), "nothing to choose from"),
        (lambda: Choice((0, 1, 0.0)), "the choice 0.0 stands twice"),
        (lambda: Range(0.0, 1.0).values, "the values of 0.0 to 1.0 cannot be listed"),
    ],
)
def test_impossible_domains_are_refused(make, message):
    with pytest.raises(SpaceError, match=message):
        make()


def test_counts_and_values():
    assert Range(1, 2).count is None
    assert Range(3, 5, integer=True).count == 3
    assert list(Range(3, 5, integer=True).values) == [3, 4, 5]
    assert Range(1, 10**12, log=True, integer=True).count == 10**12
    assert Choice(("a", None)).count == 2
    assert (Fixed(7).count, Fixed(7).values, Fixed(7).at(0.9)) == (1, (7,), 7)


def test_choices_are_equally_likely():
    assert Counter(evenly(Choice(("a", "b", None, 1)))) == {"a": 250, "b": 250, None: 250, 1: 250}


def test_only_ascending_numbers_are_ordered():
    assert Choice((0, 0.1, 1)).ordered
    assert Choice((-0.5, 0, 2)).ordered
    assert not Choice((1, 0)).ordered
    assert not Choice((1, 10, None)).ordered
    assert not Choice((False, True)).ordered


def test_true_is_not_one():
    assert Choice((True, 1)).count == 2
    assert not Choice((1, 2)).holds(True)
    assert Choice((1, 2)).holds(1.0)
    assert not Fixed(False).holds(0)
    assert not Range(0, 2).holds(True)


def test_a_whole_range_holds_whole_numbers_only():
    assert Range(1, 3, integer=True).holds(2)
    assert not Range(1, 3, integer=True).holds(2.5)
    assert Range(1, 3).holds(2.5)
    assert not Range(1, 3).holds("2")


def test_domains_are_written_as_in_yaml():
    assert str(Range(0.001, 0.1, log=True)) == "0.001 to 0.1, log"
    assert str(Range(1, 8, integer=True)) == "1 to 8, whole"
    assert str(Choice((1, None, True, "node-mean"))) == "1, null, true, node-mean"


def test_when_decides_whether_a_parameter_is_active():
    assert CLAMP.active({"reduction": "trace"})
    assert not CLAMP.active({"reduction": "node-mean"})
    assert not CLAMP.active({})


def test_parameters_stand_after_those_they_depend_on():
    deep = Parameter("deep", Choice((1, 2)), {"clamp": (10,)})
    first = Parameter("first", Fixed(0))
    names = [p.name for p in ParameterSet((deep, CLAMP, first, REDUCTION))]
    assert names == ["first", "reduction", "clamp", "deep"]
    assert [p.name for p in ParameterSet((REDUCTION, first, CLAMP))] == [
        "reduction",
        "first",
        "clamp",
    ]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ([CLAMP], "clamp: `when` names 'reduction', which has no value here"),
        ([Parameter("a", Fixed(1), {"a": (1,)})], r"a: `when` goes round in a circle \(a\)"),
        (
            [Parameter("a", Fixed(1), {"b": (1,)}), Parameter("b", Fixed(1), {"a": (1,)}, "f:3")],
            r"circle \(a, b\)",
        ),
    ],
)
def test_dependencies_that_cannot_be_are_refused(parameters, message):
    with pytest.raises(SpaceError, match=message):
        ParameterSet(parameters)


def test_configurations_leave_out_what_is_not_active():
    found = list(ParameterSet((REDUCTION, CLAMP)).configurations())
    assert found[0] == {"reduction": "node-mean"}
    assert found[1:4] == [{"reduction": "trace", "clamp": clamp} for clamp in (1, 10, None)]
    assert len(found) == 7


def test_the_last_parameter_changes_fastest():
    grid = ParameterSet((Parameter("a", Choice((1, 2))), Parameter("b", Choice((3, 4)))))
    pairs = [(c["a"], c["b"]) for c in grid.configurations()]
    assert pairs == [(1, 3), (1, 4), (2, 3), (2, 4)]


def test_the_count_equals_the_list_of_configurations():
    other = Parameter("other", Range(1, 5, integer=True))
    deep = Parameter("deep", Choice((1, 2)), {"clamp": (10, None), "other": (2, 3.0, 99)})
    for chosen in ((REDUCTION, CLAMP), (REDUCTION, CLAMP, other), (deep, CLAMP, other, REDUCTION)):
        parameters = ParameterSet(chosen)
        assert parameters.count == len(list(parameters.configurations()))
    assert ParameterSet((REDUCTION, CLAMP)).count == 7
    assert ParameterSet(()).count == 1
    assert list(ParameterSet(()).configurations()) == [{}]


def test_huge_sets_are_counted_and_listed_at_once():
    many = [Parameter(f"p{n}", Range(1, 1000, integer=True)) for n in range(30)]
    wide = Parameter("wide", Choice((1, 2)), {"p0": (7,)})
    parameters = ParameterSet((*many, wide))
    assert parameters.count == 1000**30 + 1000**29
    assert len(list(islice(parameters.configurations(), 5))) == 5


def test_a_continuous_range_makes_a_set_endless():
    assert ParameterSet((REDUCTION, Parameter("lr", Range(0.0, 1.0)))).count is None


def test_only_what_has_more_than_one_value_is_searched():
    parameters = ParameterSet((Parameter("a", Choice((1,))), Parameter("b", Fixed(2)), REDUCTION))
    assert [p.name for p in parameters.searched] == ["reduction"]
    assert not parameters.conditional
    assert ParameterSet((REDUCTION, CLAMP)).conditional


def test_a_point_of_the_cube_is_a_configuration():
    parameters = ParameterSet((REDUCTION, CLAMP, Parameter("layers", Fixed(2))))
    assert parameters.at([0.0, 0.9]) == {"reduction": "node-mean", "layers": 2}
    assert parameters.at([0.5, 0.9]) == {"reduction": "trace", "clamp": None, "layers": 2}
    with pytest.raises(ValueError):
        parameters.at([0.5])


def test_fixed_values_settle_what_depends_on_them():
    trace = ParameterSet((Parameter("reduction", Fixed("trace")), CLAMP))
    assert not trace.conditional
    assert trace.count == 3
    mean = ParameterSet((Parameter("reduction", Fixed("node-mean")), CLAMP))
    assert mean.searched == ()
    assert list(mean.configurations()) == [{"reduction": "node-mean"}]
    chain = Parameter("chain", Choice((1, 2)), {"clamp": (1,)})
    assert len(ParameterSet((Parameter("reduction", Fixed("node-mean")), CLAMP, chain))) == 1
