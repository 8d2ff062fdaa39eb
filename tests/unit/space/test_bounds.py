"""Files and options that ask for too much are refused with one line, before any work."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from support.results import finished

from benchmarks.fuzz_spaces import limited
from clar_tune.analysis.manifest_upgrade import upgraded, why_ranges_are_unknown
from clar_tune.analysis.same_ranges import content_of
from clar_tune.errors import ClarTuneError, ParameterError, SpaceError, UnknownName
from clar_tune.models import Method
from clar_tune.rows import rungs_up_to
from clar_tune.space import Options, load_space, make_plan, parse_space, stored_levels
from clar_tune.space.domains import Choice, Range
from clar_tune.space.parameters import Parameter, ParameterSet

HEAD = "graphs: [cora]\nmethods: [gcn+clar]\nprotocol: balanced-60-20-20\n"
TUNED = "settings: {tuned: {shared: {lr: {low: 0.001, high: 0.1}}}}\n"


@pytest.fixture(autouse=True)
def _in_time():
    with limited(2.0):
        yield


def parse(text):
    return parse_space(text, "mine", "mine.yaml")


def refusal(text):
    with pytest.raises(SpaceError) as found:
        parse(text)
    message = str(found.value)
    assert message.startswith("mine.yaml") and message.isprintable() and len(message) < 1200
    return message


def shared(parameters):
    """A space whose method has these parameters."""
    return f"{HEAD}settings:\n  tuned:\n    shared: {{{parameters}}}\n"


def doubling(link, count=40):
    """A chain of anchors, each of which holds the last one twice."""
    return "".join(f"  - &b{n} {link(f'*b{n - 1}')}\n" for n in range(1, count))


def test_nesting():
    inside = "graphs: " + "[" * 5000 + "]" * 5000
    assert refusal(HEAD.replace("graphs: [cora]", inside)) == (
        "mine.yaml:1: lists and mappings stand in each other more than 32 deep. Write it flatter."
    )
    assert "32 deep" in refusal(HEAD + "settings: " + "{tuned: " * 400 + "}" * 400)
    assert "32 deep" in refusal("- " * 3000)
    assert "32 deep" in refusal(shared("lr: {value: 1, when: " + "{lr: " * 500 + "1" + "}" * 501))


def test_aliases_are_counted_as_if_they_were_written_out():
    bomb = "conditions:\n  - &b0 [1, 2]\n" + doubling(lambda last: f"[{last}, {last}]")
    message = refusal(HEAD + bomb + TUNED)
    assert "more than 10,000 keys and values, with aliases (`*name`) and merges (`<<`)" in message
    assert message.startswith("mine.yaml:16: ")
    wide = "columns: &w [" + ", ".join(map(str, range(100))) + "]\n"
    assert "10,000" in refusal(HEAD + wide + "conditions: [" + "*w, " * 200 + "]\n" + TUNED)


@pytest.mark.parametrize("link", ["{{<<: [{0}, {0}]}}", "{{<<: {0}, a: {0}}}"])
def test_merges_that_double(link):
    bomb = "conditions:\n  - &b0 {sweep: 1}\n" + doubling(lambda last: link.format(last))
    assert "10,000 keys and values" in refusal(HEAD + bomb + TUNED)


@pytest.mark.parametrize("loop", ["&a [*a]", "&a {<<: *a}", "&a {lr: [1, {<<: [*a]}]}"])
def test_an_alias_inside_what_it_names(loop):
    message = refusal(f"{HEAD}conditions: {loop}\n{TUNED}")
    assert message == "mine.yaml:4: the alias *a stands inside &a itself. Write out what is meant."


def test_merges_and_aliases_of_ordinary_size_are_read():
    text = f"""{HEAD}
settings:
  paper: {{shared: &base {{lr: 0.1, hidden: 8}}}}
  tuned: {{shared: {{<<: *base, hidden: 16}}}}
"""
    fixed = {p.name: p.domain.value for p in parse(text).parameters("tuned", Method("gcn"), {})}
    assert fixed == {"lr": 0.1, "hidden": 16}


def test_size(tmp_path):
    long = HEAD + TUNED + "#" * 100_000
    assert refusal(long) == (
        "mine.yaml: the text has 100,122 characters, and at most 100,000 are read. Shorten it."
    )
    file = tmp_path / "endless.yaml"
    file.symlink_to("/dev/zero")
    with pytest.raises(SpaceError, match=r"endless.yaml: the file has more than 400,000 bytes"):
        load_space(str(file))
    assert "10,000 keys" in refusal(shared(f"dropout: {{choices: {list(range(11_000))}}}"))
    assert "at most 2,000 are allowed" in refusal(f"{HEAD}{TUNED}description: {'x' * 5000}")
    assert "at most 2,000 are allowed" in refusal(f"{HEAD}{TUNED}? {'x' * 5000}\n: 1")


@pytest.mark.parametrize("given", ["99999999999", "9" * 1500, "1000001"])
@pytest.mark.parametrize(
    "key",
    ["search: {trials: %s}", "search: {repeats: %s}", "finals: %s", "search: {reduction: %s}"],
)
def test_budgets(key, given):
    message = refusal(f"{HEAD}{key % given}\n{TUNED}")
    assert message.startswith("mine.yaml:4: ")
    assert "to 1000000 is needed" in message or "whole numbers up to 9,007,199" in message


def test_epochs_fit_their_columns():
    for key in ("max_epochs", "patience", "warmup"):
        assert "to 2147483647 is needed" in refusal(
            f"{HEAD}training: {{{key}: 2147483648}}\n{TUNED}"
        )
        parse(f"{HEAD}training: {{{key}: 2147483647}}\n{TUNED}")


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("trials", "trials"),
        ("repeats", "repeats"),
        ("finals", "finals"),
        ("replicates", "searches"),
    ],
)
def test_the_same_budgets_as_options(option, name):
    with pytest.raises(ParameterError, match=f"--{name}: a whole number from 1 to 1000000"):
        make_plan(parse(HEAD + TUNED), Options(**{option: 10**11}))


def test_other_options():
    space = parse(HEAD + TUNED)
    with pytest.raises(
        ParameterError, match="--seed: a whole number from 0 to 9223372036854775807"
    ):
        make_plan(space, Options(seed=2**63))
    with pytest.raises(ParameterError, match=r"--trial-timeout: choose at most 1e\+09 seconds"):
        make_plan(space, Options(trial_timeout=1e12))
    with pytest.raises(ParameterError, match="--graphs: cora is named twice"):
        make_plan(space, Options(graphs=("cora",) * 60_000))


def test_studies_of_a_space():
    swept = ", ".join(
        f"{name}: {list(range(1, 60))}" for name in ("hidden", "layers", "alpha", "beta", "clamp")
    )
    sweep = f"conditions: [{{sweep: {{{swept}}}}}]\n"
    assert refusal(HEAD + sweep + TUNED) == (
        "mine.yaml:4: conditions: 714,924,299 studies, and at most 20,000 are allowed. Vary less, "
        "or make several runs of it."
    )
    assert "studies" in refusal(HEAD + sweep + "correlate: {pearson: hidden}\n" + TUNED)


def test_studies_of_a_plan():
    space = parse(HEAD + TUNED)
    with pytest.raises(SpaceError, match="30,000 studies, and at most 20,000"):
        make_plan(space, Options(replicates=30_000))
    assert len(make_plan(space, Options(replicates=1_000)).studies) == 1_000


def test_trainings_of_a_space_and_of_a_plan():
    budget = "search: {trials: 1000000, repeats: 1000}\n"
    assert refusal(HEAD + budget + TUNED).startswith(
        "mine.yaml:5: settings.tuned: 1,000,000,040 trainings if nothing is pruned, and at most "
        "100,000,000 are allowed. Lower trials, repeats or finals"
    )
    few = shared("dropout: {choices: [0, 0.1]}")  # two configurations: trials cannot be more
    assert parse(budget + few).most_trainings("tuned") == 2_040
    with pytest.raises(SpaceError, match="1,000,000,040 trainings if nothing is pruned"):
        make_plan(parse(HEAD + TUNED), Options(trials=10**6, repeats=10**3))
    with pytest.raises(SpaceError, match="4,000,144,000 trainings"):
        make_plan(parse(HEAD + TUNED), Options(finals=10**6, replicates=1_000))


def test_what_is_promised_is_allowed():
    text = f"{HEAD}search: {{trials: 100000, repeats: 9}}\n{TUNED}"
    assert make_plan(parse(text), Options(replicates=100)).studies[0].trials == 100_000
    sweep = f"conditions: [{{sweep: {{scale: {list(range(1, 1001))}}}}}]\n"
    assert parse(HEAD + sweep + TUNED).studies == 1_000


def test_checks():
    sweep = f"conditions: [{{sweep: {{scale: {list(range(1, 1001))}}}}}]\n"
    text = HEAD + sweep + shared(f"alpha: {{choices: {list(range(1000))}}}").removeprefix(HEAD)
    assert "1,002,000 values to be checked under conditions, and at most 50,000" in refusal(text)


def test_whole_numbers():
    assert refusal(shared("alpha: {low: 1, high: 1000000000000000000, integer: true}")) == (
        "mine.yaml:6: settings.tuned.shared.alpha.high: 1000000000000000000 is too large: whole "
        "numbers up to 9,007,199,254,740,992 are exact. Write a smaller one, or one with a point."
    )
    assert "too large" in refusal(shared(f"alpha: {'9' * 1999}"))
    assert "too large" in refusal(shared("alpha: -9007199254740993"))
    assert "too large" in refusal(shared("alpha: {choices: [1, 99999999999999999999]}"))


@pytest.mark.parametrize(
    "number", ["1e999", "-1e400", "!!float nan", "!!float inf", "!!float 1e999"]
)
def test_numbers_that_are_not_finite(number):
    message = refusal(shared(f"alpha: {number}"))
    assert "alpha: " in message and "it is no finite number" in message


@pytest.mark.parametrize("word", [".nan", "NaN", ".inf", "Infinity"])
def test_words_for_numbers_that_are_not_finite_are_text(word):
    assert "refuses alpha" in refusal(shared(f"alpha: {word}"))


def test_ranges_without_a_finite_width():
    message = refusal(shared("alpha: {low: -1e308, high: 1e308}"))
    assert "the range -1e+308 to 1e+308 is too wide" in message
    assert Range(-(2**53), 2**53, integer=True).count == 2**54 + 1


def test_grids():
    text = "alpha: {low: 1, high: 1000, integer: true}, beta: {low: 1, high: 1000, integer: true}"
    assert (
        "mine.yaml:7: settings.tuned, gcn+clar: 1,000,000 cells of a grid, and at most 100,000"
        in refusal("search: {sampler: grid}\n" + shared(text))
    )
    with pytest.raises(SpaceError, match="1,000,000 cells of a grid"):
        make_plan(parse(shared(text)), Options(sampler="grid"))


def test_parameters_that_depend_on_many_others():
    """As many cases as there are combinations of the values that a `when` names."""
    names = ["alpha", "beta", "clamp", "scale", "lr", "weight_decay", "samples"]
    values = "{choices: [1, 2, 3, 4, 5, 6, 7, 8]"
    given = [f"alpha: {values}}}"] + [
        f"{name}: {values}, when: {{{before}: [1, 2, 3, 4, 5, 6, 7]}}}}"
        for before, name in pairwise(names)
    ]
    message = refusal(shared(", ".join(given)))
    assert message == (
        "mine.yaml:6: settings.tuned: 262,144 cases that `when` tells apart, and at most 1,000 "
        "are allowed. Let fewer parameters depend on others, or on fewer values."
    )


def test_dependencies_that_share_dependencies_take_no_time():
    names = ["hidden", "layers", "dropout", "alpha", "beta", "samples", "clamp", "scale"]
    every = {name: [1] for name in names}
    given = [
        f"{name}: {{choices: [1, 0.5], when: {json.dumps({n: every[n] for n in names[:place]})}}}"
        for place, name in enumerate(names)
    ]
    parameters = ParameterSet(
        [
            Parameter(f"p{n}", Choice((1, 2)), {f"p{before}": (1,) for before in range(n)})
            for n in range(9)
        ]
    )
    assert parameters.count == 10
    assert "refuses" in refusal(shared(", ".join(given)))


def test_many_parameters():
    with pytest.raises(SpaceError, match="201 parameters of a study, and at most 200"):
        ParameterSet([Parameter(f"p{n}", Choice((1, 2))) for n in range(201)])
    stored = {f"p{n}": {"values": [1, 2], "when": {f"p{n + 1}": [1]}} for n in range(10_000)}
    with pytest.raises(SpaceError, match="at most 200"):
        ParameterSet.from_stored(stored)


def test_many_choices_are_compared_at_once():
    values = tuple(range(100_000))
    assert Choice(values).holds(99_999) and not Choice(values).holds(True)
    with pytest.raises(SpaceError, match="the choice 7.0 stands twice"):
        Choice((*values, 7.0))
    assert Choice((1, True, "1", None)).count == 4


@pytest.mark.parametrize(
    ("parameter", "refused"),
    [
        ("hidden: 65536, layers: 64", None),
        ("hidden: 65537", "hidden"),
        ("layers: 65", "layers"),
    ],
)
def test_large_models_are_checked_without_being_built(parameter, refused):
    text = shared(parameter)
    if refused is None:
        assert parse(text).studies == 1
    else:
        assert f"refuses {refused}=" in refusal(text)


@pytest.mark.parametrize("method", ["cheby", "gpr"])
def test_orders_of_filters(method):
    text = shared("K: {choices: [2, 1000000000]}").replace("gcn+clar", method)
    assert f"{method} refuses K=1000000000: a whole number from 0 to 1024" in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        'description: "\\ud800"',
        'description: "\\UFFFFFFFF"',
        "%YAML 1." + "9" * 5000 + "\n---\na: 1",
        "\x00",
        "a: \x07",
        "? [a]\n: 1",
        "!!bool yes: 1",
    ],
)
def test_texts_that_trip_readers_of_yaml(text):
    refusal(text)


def test_a_tag_makes_no_truth_of_other_words():
    assert "cannot be read" in refusal(f"{HEAD}search: {{pruning: !!bool maybe}}\n{TUNED}")


def test_errors_are_one_short_line():
    message = refusal(f'{HEAD}{TUNED}paper: "a\\nb\\u202e{"x" * 1900}"')
    assert "a\\nb\\u202e" in message and " … " in message
    with pytest.raises(UnknownName) as found:
        raise UnknownName("value", "ab" * 40_000, [f"{'ab' * 40_000}{n}" for n in range(3)])
    assert "Did you mean" not in str(found.value)
    many = f"conditions: [{{sweep: {{scale: {list(range(1, 1001))}}}}}]\n"
    with pytest.raises(
        UnknownName, match=r"unknown condition of mine 'layers=2'.*scale=1.* …"
    ) as e:
        make_plan(parse(HEAD + many + TUNED), Options(conditions=("layers=2",)))
    assert len(str(e.value)) < 1200


def test_stored_spaces_are_read_within_the_same_limits():
    bomb = "settings:\n  tuned:\n  - &b0 {a: 1}\n" + doubling("{{<<: [{0}, {0}]}}".format)
    for text in (bomb, "[" * 5000, "a: &a [*a]", "settings: {paper: {}}", "graphs: [cora]", "[1]"):
        with pytest.raises(ClarTuneError):
            stored_levels(text, "tuned", "manifest")
        assert content_of(text, "tuned")["shared"] == {}


def test_a_hostile_manifest_does_not_hold_up_readers():
    old = replace(finished().row, study_plans=(), space_text="[" * 5000)
    old = replace(old, budget={**old.budget, "repeats": 10**15, "reduction": 1, "pruning": True})
    row = upgraded(old, [trial for study in finished().studies for trial in study.trials])
    assert row.planned and "32 deep" in why_ranges_are_unknown(row)


def test_rungs_of_any_numbers():
    assert rungs_up_to(9, 3) == (1, 3, 9)
    assert rungs_up_to(10, 3) == (1, 3, 9, 10)
    assert rungs_up_to(1, 3) == (1,)
    assert rungs_up_to(10**15, 10) == (*(10**power for power in range(15)), 10**15)
    assert rungs_up_to(100, 1) == (1, 2, 4, 8, 16, 32, 64, 100)
