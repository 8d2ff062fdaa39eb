"""Five hundred mutated spaces, few enough for every run; `make fuzz` has ten thousand."""

import pytest

from benchmarks.fuzz_spaces import OPTIONS, TookTooLong, fuzz, kind, limited, plan
from benchmarks.space_mutations import HOSTILE, mutated
from clar_tune.errors import ClarTuneError, SpaceError


def test_mutated_spaces_are_planned_or_refused_in_one_line(tmp_path):
    found = fuzz(range(500), 0, tmp_path)
    assert not found.failures, "\n\n".join(found.failures.values())
    # It would show little if nearly all were refused, or all for the same reasons.
    assert found.accepted >= 75
    assert found.refused.total() == 500 - found.accepted
    assert len(found.refused) >= 60


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_spaces_as_they_are(number, tmp_path):
    file = tmp_path / "hostile.yaml"
    file.write_text(HOSTILE[number])
    with limited(2.0):
        try:
            plan(file, OPTIONS[0])
        except ClarTuneError as error:
            assert str(error).isprintable()


def test_a_case_is_the_same_each_time_and_no_other():
    files = [mutated(0, number) for number in range(20)]
    assert files == [mutated(0, number) for number in range(20)]
    assert len({*files, *(mutated(1, number) for number in range(20))}) > 30


def _raises(error):
    def use(file, options):
        raise error

    return use


def test_whatever_is_no_error_of_ours_fails_with_its_text(tmp_path):
    found = fuzz(range(3), 0, tmp_path, (_raises(KeyError("settings")),))
    assert set(found.failures) == {0, 1, 2} and found.accepted == 0
    text = mutated(0, 1).decode(errors="backslashreplace")
    assert "KeyError: 'settings'" in found.failures[1] and text in found.failures[1]


def test_messages_of_many_lines_or_of_any_length_fail(tmp_path):
    for error in (ClarTuneError("two\nlines"), ClarTuneError("x" * 3000)):
        assert fuzz(range(1), 0, tmp_path, (_raises(error),)).failures
    found = fuzz(range(2), 0, tmp_path, (_raises(SpaceError("fuzzed.yaml:3: a.b: 7 is wrong")),))
    assert not found.failures and found.refused == {"_ is wrong": 2}


def test_what_does_not_end_is_stopped(tmp_path, monkeypatch):
    def endless(file, options):
        while True:
            pass

    monkeypatch.setattr("benchmarks.fuzz_spaces.SECONDS", 0.05)
    found = fuzz(range(1), 0, tmp_path, (endless,))
    assert TookTooLong.__name__ in found.failures[0]
    assert found.slowest[0] >= 0.04


def test_kinds_leave_out_what_differs():
    one = kind("/tmp/x/fuzzed.yaml:12: settings.tuned: unknown key 'a'. Allowed: b.")
    assert one == kind("fuzzed.yaml:3: unknown key 'other one'. Allowed: c, d.") == "unknown key _"
