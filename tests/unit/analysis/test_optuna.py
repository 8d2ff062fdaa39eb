"""What Optuna makes of stored studies: importances, and storages that hold the same trials."""

import random
import warnings
from dataclasses import replace
from functools import cache
from math import nan
from pathlib import Path

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState, create_trial
from support.results import SPACE, failing, finished, replanned, view
from support.simulation import Memory, plan_from, scheduler_for, work

from clar_tune.analysis.importance import importances
from clar_tune.analysis.optuna_export import check_target, export, opened_by
from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.analysis.search_space import (
    readable_distribution,
    readable_value,
    searched,
)
from clar_tune.errors import ParameterError, StoreError
from clar_tune.search.manifest import manifest_of
from clar_tune.space.domains import Choice, Range

SUFFIXES = (".db", ".log")
HOSTILE = "<script>alert('1')</script> \"[bold]\" \\ % {} \n 🦎 é " + 10_000 * "x"
STATES = {
    "running": TrialState.RUNNING,
    "complete": TrialState.COMPLETE,
    "pruned": TrialState.PRUNED,
    "failed": TrialState.FAIL,
}


@cache
def done() -> RunView:
    return finished()


def study_of(run: RunView, graph: str = "texas", method: str = "gcn+clar") -> StudyView:
    return next(s for s in run.studies if (s.graph, s.method) == (graph, method))


def made(trials: list[tuple[dict, list[float]]], **changes) -> StudyView:
    """A study with these configurations and scores of repeats; all but the last rung pruned."""
    base = study_of(done())
    usual = base.trials[0].params
    rows = tuple(
        replace(
            base.trials[0],
            trial=number,
            params={**usual, **params},
            repeats=len(scores),
            state="complete" if len(scores) == 9 else "pruned" if scores else "failed",
            failure=None if scores else "diverged",
            val_score=sum(scores) / len(scores) if scores else None,
        )
        for number, (params, scores) in enumerate(trials)
    )
    curves = {number: tuple(scores) for number, (_, scores) in enumerate(trials) if scores}
    return replace(base, trials=rows, curves=curves, **changes)


def drawn(count: int, score, seed: int = 0) -> list[tuple[dict, list[float]]]:
    """Random configurations of the space, each with one repeat."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        trace = draw.random() < 0.5
        params = {
            "lr": 10 ** draw.uniform(-3, -1),
            "dropout": draw.choice([0.0, 0.5]),
            "alpha": draw.choice([0.0, 0.1, 1.0]),
            "beta": draw.choice([0.0, 0.1, 1.0]),
            "reduction": "trace" if trace else "node-mean",
            "clamp": draw.choice([1.0, None]) if trace else 1.0,
        }
        found.append((params, [score(params)]))
    return found


def read(path: Path) -> dict[str, optuna.Study]:
    """All studies of a file, as Optuna reads them."""
    if path.suffix == ".db":
        storage = RDBStorage(f"sqlite:///{path}")
    else:
        storage = JournalStorage(JournalFileBackend(str(path)))
    names = optuna.get_all_study_names(storage)
    found = {name: optuna.load_study(study_name=name, storage=storage) for name in names}
    for study in found.values():
        assert study.trials is not None
    return found


@cache
def exported(suffix: str, folder: Path) -> dict[str, optuna.Study]:
    path = folder / f"done{suffix}"
    export([done()], path)
    return read(path)


@pytest.fixture(params=SUFFIXES)
def studies(request, tmp_path_factory) -> dict[str, optuna.Study]:
    return exported(request.param, tmp_path_factory.getbasetemp())


# Importances


@pytest.mark.parametrize("name", ["alpha", "beta", "dropout"])
@pytest.mark.parametrize("known", [True, False])
def test_the_parameter_that_decides_is_first(name, known):
    study = made(drawn(60, lambda params: 0.5 + 0.1 * params[name]))
    found = importances(study if known else replanned(study, parameters=None))
    assert next(iter(found)) == name and found[name] > 0.5
    assert sum(found.values()) == pytest.approx(1)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert set(found) == {"lr", "dropout", "alpha", "beta", "reduction", "clamp"}


def test_for_an_error_low_scores_are_the_good_ones():
    # Small errors have alpha 1; large ones have any alpha, but always dropout 0.
    def score(params):
        return 0.1 if params["alpha"] == 1 else 0.5 if params["dropout"] else 0.9

    trials = drawn(80, score)
    assert next(iter(importances(replanned(made(trials), metric="mse")))) == "alpha"
    assert next(iter(importances(replanned(made(trials), metric="accuracy")))) == "dropout"


def test_only_the_first_repeat_counts():
    trials = drawn(40, lambda params: 0.5 + 0.1 * params["alpha"])
    longer = [
        (params, scores + 8 * [0.9 * params["dropout"]] if number % 5 else scores)
        for number, (params, scores) in enumerate(trials)
    ]
    assert importances(made(longer)) == importances(made(trials))


def test_a_diverged_trial_ranks_last_and_other_failures_say_nothing():
    # Whatever has a score is equal but for noise; all with beta 1 diverge.
    draw = random.Random(1)
    trials = [
        (params, [] if params["beta"] == 1 else scores)
        for params, scores in drawn(90, lambda _: 0.5 + draw.gauss(0, 0.01))
    ]
    study = made(trials)
    assert next(iter(importances(study))) == "beta"
    lost = tuple(replace(t, failure="lost") if t.failure else t for t in study.trials)
    kept = made([trial for trial in trials if trial[1]])
    assert importances(replace(study, trials=lost)) == pytest.approx(importances(kept))


def test_too_few_trials_or_nothing_that_varies_give_nothing():
    trials = drawn(8, lambda params: params["lr"])
    assert importances(made(trials))
    assert importances(made(trials[:7])) == {}
    assert importances(made([(params, [0.5]) for params, _ in trials])) == {}
    same = [(trials[0][0], [0.1 * number]) for number in range(9)]
    assert importances(made(same)) == {}
    assert importances(replace(made(trials), curves={})) == {}


def test_many_scores_that_equal_the_worst_hide_no_good_one():
    trials = drawn(40, lambda params: float(params["beta"] == 1 and params["lr"] > 0.03))
    assert sum(scores[0] for _, scores in trials) < 10
    found = importances(made(trials))
    assert {*list(found)[:2]} == {"beta", "lr"}


def test_a_parameter_that_is_not_active_does_not_count():
    # The clamp of the other reduction is its default, and would give the reduction away.
    study = made(drawn(60, lambda params: float(params["reduction"] == "trace")))
    known = importances(study)
    assert next(iter(known)) == "reduction" and known["clamp"] < 0.05


def test_shares_are_those_that_optuna_gives_for_the_same_numbers():
    names, alphas = ("lr", "reduction", "alpha"), [0.0, 0.1, 1.0]
    trials = [
        ({name: params[name] for name in names}, scores)
        for params, scores in drawn(30, lambda params: -((params["lr"] - 0.02) ** 2))
    ]
    distributions = {
        "lr": FloatDistribution(0.001, 0.1, log=True),
        "reduction": CategoricalDistribution(["node-mean", "trace"]),
        "alpha": IntDistribution(0, 2),  # numbers in order are neighbours
    }
    own = optuna.create_study(direction="maximize")
    for params, (score,) in trials:
        placed = {**params, "alpha": alphas.index(params["alpha"])}
        own.add_trial(create_trial(value=score, params=placed, distributions=distributions))
    evaluator = PedAnovaImportanceEvaluator(target_quantile=0.25)
    asked = get_param_importances(own, evaluator=evaluator, params=list(names))
    got = importances(made(trials))
    whole = sum(got[name] for name in names)
    assert {name: got[name] / whole for name in names} == pytest.approx(asked)


# What was searched


def test_ranges_come_from_the_space_and_inactive_values_are_left_out():
    study = study_of(done())
    found = searched(study)
    assert found.domains["lr"] == Range(0.001, 0.1, log=True)
    assert found.domains["clamp"] == Choice((1, None))
    rows = {trial.trial: trial.params for trial in study.trials}
    assert {row["reduction"] for row in rows.values()} == {"trace", "node-mean"}
    for number, row in rows.items():
        assert ("clamp" in found.chosen[number]) == (row["reduction"] == "trace")
    assert found.fixed["hidden"] == 32 and "lr" not in found.fixed


def test_a_space_that_does_not_fit_is_not_believed():
    study = study_of(done())
    known = dict(study.planned.parameters)
    narrow = replanned(study, parameters={**known, "lr": {**known["lr"], "high": 0.0011}})
    foreign = replanned(
        study, parameters={name: own for name, own in known.items() if name != "lr"}
    )
    values = [trial.params["lr"] for trial in study.trials]
    assert searched(narrow).domains["lr"].high == max(values) > 0.0011
    # A parameter that the space does not name, and one that it fixes.
    assert "lr" not in searched(foreign).domains
    fixed = searched(replanned(study, parameters={**known, "lr": {"value": values[0]}}))
    assert fixed.domains["lr"].high == max(values) < 0.1, "values differ, so the space is wrong"
    assert fixed.fixed["hidden"] == 32


def domain_of(values: list) -> Range | Choice | None:
    study = made([({"clamp": value}, [0.5]) for value in values])
    return searched(replanned(study, parameters=None)).domains.get("clamp")


def test_domains_are_guessed_from_values():
    assert domain_of([1.0, 1.0]) is None
    assert domain_of([0.25, 0.5, 3.0]) == Range(0.25, 3.0)
    assert domain_of([0.001, 0.5, 0.02]) == Range(0.001, 0.5, log=True)
    assert domain_of([4, 9, 5]) == Range(4, 9, integer=True)
    assert domain_of([0.5, 0.1, 0.5, 0.1]) == Choice((0.1, 0.5))
    assert domain_of(["trace", None, 2]) == Choice((2, None, "trace"))
    assert domain_of([True, 1]) == Choice((1, True))


def test_choices_that_optuna_would_mix_up_become_texts():
    mixed = Choice((1, True, None))
    assert readable_distribution(mixed) == CategoricalDistribution(("1", "true", "null"))
    assert readable_value(mixed, True) == "true" and readable_value(mixed, 1.0) == "1"
    plain = Choice((0, 0.5, None))
    assert readable_distribution(plain) == CategoricalDistribution((0, 0.5, None))
    assert readable_value(plain, 0.5) == 0.5


# Storages


def test_every_study_is_there_under_a_name_for_people(studies):
    assert len(studies) == len(done().studies) == 18
    assert "simulated / texas / gcn+clar" in studies
    study = studies["simulated / texas / gcn+clar"]
    assert study.direction == optuna.study.StudyDirection.MAXIMIZE
    assert study.metric_names == ["validation accuracy"]
    attrs = study.user_attrs
    assert attrs["run"] == "simulated" and attrs["method"] == "gcn+clar"
    assert attrs["protocol"] == "balanced-60-20-20" and attrs["settings"] == "tuned"
    assert attrs["winner"] == study_of(done()).winner.trial
    assert attrs["fixed"]["hidden"] == 32


def test_every_trial_comes_back_as_it_was_stored(studies):
    for stored in done().studies:
        trials = studies[f"simulated / {stored.graph} / {stored.method}"].trials
        rows = sorted(stored.trials, key=lambda row: row.trial)
        assert [trial.number for trial in trials] == [row.trial for row in rows]
        for trial, row in zip(trials, rows, strict=True):
            assert trial.state == STATES[row.state]
            assert trial.value == (None if row.state == "failed" else row.val_score)
            params = row.params
            assert trial.params == {name: params[name] for name in trial.params}
            assert {"lr", "dropout"} <= set(trial.params)
            assert trial.datetime_start == row.started.astimezone().replace(tzinfo=None)
            assert trial.duration.total_seconds() == pytest.approx(row.seconds)
            assert trial.user_attrs["repeats"] == row.repeats


def test_intermediate_values_are_means_so_far(studies):
    stored = study_of(done())
    trial = studies["simulated / texas / gcn+clar"].trials[stored.winner.trial]
    scores = stored.curves[stored.winner.trial]
    assert list(trial.intermediate_values) == list(range(1, 10))
    assert trial.intermediate_values[1] == scores[0]
    assert trial.intermediate_values[2] == pytest.approx((scores[0] + scores[1]) / 2)
    assert trial.intermediate_values[9] == pytest.approx(trial.value)


def test_the_best_trial_is_the_winner(studies):
    compared = 0
    for stored in done().studies:
        if stored.winner and stored.winner.full:
            study = studies[f"simulated / {stored.graph} / {stored.method}"]
            assert study.best_trial.number == stored.winner.trial
            compared += 1
    assert compared == 18


def test_ranges_and_choices_are_those_of_the_space(studies):
    trials = studies["simulated / texas / gcn+clar"].trials
    assert trials[0].distributions["lr"] == FloatDistribution(0.001, 0.1, log=True)
    assert trials[0].distributions["alpha"] == CategoricalDistribution((0, 0.1, 1))
    for trial in trials:
        assert ("clamp" in trial.params) == (trial.params["reduction"] == "trace")


def test_failures_say_why(studies):
    failed = [
        trial
        for trial in studies["simulated / cornell / gcn+nl"].trials
        if trial.state == TrialState.FAIL
    ]
    assert failed
    for trial in failed:
        assert trial.params["alpha"] == 10
        assert trial.user_attrs["failure"] == "diverged"
        assert trial.user_attrs["error"] == "loss is NaN in epoch 3"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_run_in_progress_has_running_trials(suffix, tmp_path):
    plan, memory = plan_from(SPACE), Memory()
    scheduler = scheduler_for(plan, memory, workers=3)
    work(scheduler, failing, events=60)
    run = view(manifest_of(plan, {}), memory)
    export([run], tmp_path / f"now{suffix}")
    trials = [
        trial for study in read(tmp_path / f"now{suffix}").values() for trial in study.trials
    ]
    running = [trial for trial in trials if trial.state == TrialState.RUNNING]
    assert len(running) == sum(study.count("running") for study in run.studies) > 0
    assert all(t.value is None and t.datetime_complete is None and t.params for t in running)
    assert len(trials) == len(memory.trials)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_hostile_texts_survive(suffix, tmp_path):
    stored = study_of(done(), graph="cornell", method="gcn+nl")
    row = next(row for row in stored.trials if row.failure)
    bad = replace(row, error=HOSTILE, retries=2, notes=(HOSTILE, "again"))
    study = replanned(
        replace(stored, trials=tuple(bad if row is other else other for other in stored.trials)),
        graph=HOSTILE,
        method=f"my_pkg.mod:{HOSTILE}+clar",
        condition=f"text={HOSTILE}",
    )
    export([replace(done(), studies=(study,))], tmp_path / f"hostile{suffix}")
    (name, got), *others = read(tmp_path / f"hostile{suffix}").items()
    assert not others
    assert name == f"simulated / {HOSTILE} / my_pkg.mod:{HOSTILE}+clar / text={HOSTILE}"
    assert got.user_attrs["condition"] == f"text={HOSTILE}"
    attrs = got.trials[row.trial].user_attrs
    assert attrs["error"] == HOSTILE and attrs["notes"] == f"{HOSTILE}\nagain"
    assert attrs["retries"] == 2


def test_runs_and_searches_have_names_of_their_own(tmp_path):
    twice = finished(SPACE.replace("texas]", "texas]\nfinals: 2").replace("finals: 10", ""))
    again = replace(study_of(twice), search=1)
    first = replace(twice, name="a", studies=(study_of(twice), again))
    second = replace(twice, name="b", studies=(study_of(twice),))
    export([first, second], tmp_path / "both.log")
    base = "texas / gcn+clar"
    assert list(read(tmp_path / "both.log")) == [
        *(f"a / {base}", f"a / {base} / search 1", f"b / {base}")
    ]


def test_an_error_is_minimised(tmp_path):
    study = replanned(study_of(done()), metric="mse")
    export([replace(done(), studies=(study,))], tmp_path / "mse.log")
    (got,) = read(tmp_path / "mse.log").values()
    assert got.direction == optuna.study.StudyDirection.MINIMIZE


def test_what_was_not_searched_has_the_validation_score_of_its_finals(tmp_path):
    stored = study_of(done())
    row = replace(stored.trials[0], state="complete", repeats=0, val_score=None)
    finals = tuple(replace(stored.finals[0], val_score=score) for score in (0.5, 0.7))
    ended = replace(stored, trials=(row,), curves={}, finals=finals)
    ended = replanned(ended, trials=1, repeats=0, parameters={"lr": {"value": row.params["lr"]}})
    begun = replace(ended, finals=(), search=1)
    export([replace(done(), studies=(ended, begun))], tmp_path / "fixed.log")
    first, second = read(tmp_path / "fixed.log").values()
    assert first.trials[0].value == pytest.approx(0.6) and first.trials[0].params == {}
    assert second.trials[0].state == TrialState.RUNNING


def test_a_missing_row_shifts_no_number_and_a_score_that_is_none_fails(tmp_path):
    stored = study_of(done())
    kept = [row for row in stored.trials if row.trial != 2]
    trials = [replace(row, val_score=nan) if row.trial == 0 else row for row in kept]
    study = replace(stored, trials=tuple(trials), curves={**stored.curves, 0: (nan,)})
    export([replace(done(), studies=(study,))], tmp_path / "gap.db")
    (got,) = read(tmp_path / "gap.db").values()
    assert got.trials[2].state == TrialState.WAITING and not got.trials[2].params
    assert got.trials[3].params["lr"] == stored.trials[3].params["lr"]
    assert got.trials[0].state == TrialState.FAIL and not got.trials[0].intermediate_values


def test_no_test_score_is_written(tmp_path):
    studies = tuple(
        replace(study, finals=tuple(replace(f, test_score=0.123454321) for f in study.finals))
        for study in done().studies
    )
    export([replace(done(), studies=studies)], tmp_path / "all.log")
    text = (tmp_path / "all.log").read_text()
    assert "0.123454321" not in text and "test" not in text
    assert str(study_of(done()).best.val_score) in text


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failure_leaves_nothing_behind(suffix, tmp_path):
    def full(_):
        raise OSError("no space left on device")

    with pytest.raises(StoreError, match="no space left"):
        export([done()], tmp_path / f"half{suffix}", full)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_only_the_file_is_left(suffix, tmp_path):
    heard = []
    run = replace(done(), studies=done().studies[:2])
    export([run], tmp_path / f"one{suffix}", heard.append)
    assert [file.name for file in tmp_path.iterdir()] == [f"one{suffix}"]
    assert heard == [8, 8]


def test_targets_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "old.db").write_text("mine")
    with pytest.raises(ParameterError, match="exists"):
        export([done()], tmp_path / "old.db")
    assert (tmp_path / "old.db").read_text() == "mine"
    with pytest.raises(ParameterError, match=r"\.db, \.sqlite, \.sqlite3 .*\.log or \.journal"):
        check_target(tmp_path / "study.csv")
    with pytest.raises(ParameterError, match="no folder"):
        check_target(tmp_path / "missing" / "study.db")


def test_the_command_is_ready_for_a_shell():
    assert opened_by(Path("out.db")) == "optuna-dashboard sqlite:///out.db"
    assert opened_by(Path("/a/out.sqlite3")) == "optuna-dashboard sqlite:////a/out.sqlite3"
    assert opened_by(Path("my runs.log")) == "optuna-dashboard 'my runs.log'"


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert importances(study_of(done()))
