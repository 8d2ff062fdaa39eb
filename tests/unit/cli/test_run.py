"""Options of ``run``, ``resume`` and ``extend``: each reaches what it is for, none gets lost."""

import os
import signal
import threading
from dataclasses import fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from clar_tune import api
from clar_tune.cli import main
from clar_tune.cli.interrupts import interruptible
from clar_tune.cli.run import OWN, extend, launch_from, options_from, resume, run
from clar_tune.cluster import Launch
from clar_tune.search import Limits
from clar_tune.space import Options

OPTIONS = {
    "--settings paper": ("settings", "paper"),
    "--graphs a,b": ("graphs", ("a", "b")),
    "--methods gcn,sage": ("methods", ("gcn", "sage")),
    "--conditions layers=8": ("conditions", ("layers=8",)),
    "--protocol planetoid": ("protocol", "planetoid"),
    "--trials 3": ("trials", 3),
    "--repeats 4": ("repeats", 4),
    "--finals 5": ("finals", 5),
    "--sampler grid": ("sampler", "grid"),
    "--no-pruning": ("pruning", False),
    "--no-ablation": ("ablation", False),
    "--selection accuracy": ("selection", "accuracy"),
    "--engine native": ("engine", "native"),
    "--searches 6": ("replicates", 6),
    "--outer-test 0.2": ("outer_test", 0.2),
    "--seed 7": ("seed", 7),
    "--trial-timeout 8m": ("trial_timeout", 480.0),
}
"""What each option makes of which field of ``Options``."""

LAUNCH = {
    "--address auto": ("address", "auto"),
    "--cpus-per-trial 2": ("cpus", 2.0),
    "--gpus-per-trial 0.5": ("gpus", 0.5),
    "--max-concurrent 3": ("max_concurrent", 3),
    "--time-budget 1h": ("time_budget", 3600.0),
    "--single-driver": ("single_driver", True),
    "--data raw": ("data", Path("raw")),
}
"""The same of ``Launch``."""

TAKE_OVER = {"--take-over": ("take_over", True)}
"""The same, of commands that go on with a run."""

MADE = {"threads", "cpus", "gpus", "first_trials", "device"}
"""Fields of ``Options`` that come from the launch and from a stored run."""

HERE = {
    "run": set(OWN),
    "resume": {"run", "store", "quiet", "as_json"},
    "extend": {"run", "store", "quiet", "as_json", "trials", "finals", "ablation"},
}
"""Parameters that a command uses itself."""

WORDS = {
    "run": ["--space", "quickstart"],
    "resume": ["it"],
    "extend": ["it", "--trials", "+2", "--finals", "+3"],
}


@pytest.fixture
def calls(monkeypatch):
    """What commands hand to the functions that they call; nothing else is done."""
    found = []

    def noted(name):
        def call(what, **given):
            found.append((name, what, given))
            raise click.Abort

        return call

    for name in WORDS:
        monkeypatch.setattr(api, name, noted(name))
    return found


def called(calls, command, *words):
    """What a command hands over, given these words."""
    CliRunner().invoke(main, [command, *WORDS[command], *words])
    (name, _, given) = calls.pop()
    assert name == command
    return given


def changes(record, usual):
    """Fields of a record that are not the usual ones."""
    values = ((field.name, getattr(record, field.name)) for field in fields(record))
    return {name: value for name, value in values if value != getattr(usual, name)}


@pytest.mark.parametrize("words", OPTIONS)
def test_an_option_of_a_run_reaches_its_field_and_no_other(words, calls):
    given = called(calls, "run", *words.split())
    assert changes(given["options"], Options()) == dict([OPTIONS[words]])
    assert given["launch"] == Launch()


@pytest.mark.parametrize("words", LAUNCH)
@pytest.mark.parametrize("command", WORDS)
def test_a_launch_option_reaches_its_field_and_no_other(command, words, calls):
    given = called(calls, command, *words.split())
    assert changes(given["launch"], Launch()) == dict([LAUNCH[words]])
    assert given.get("options", Options()) == Options()


@pytest.mark.parametrize("command", ["resume", "extend"])
def test_a_run_is_taken_over_by_commands_that_go_on_with_it(command, calls):
    (words,) = TAKE_OVER
    assert changes(called(calls, command, words)["launch"], Launch()) == dict(TAKE_OVER.values())


def test_a_command_hands_over_where_the_store_is_and_what_is_to_be_done(calls):
    CliRunner().invoke(main, ["run", "--space", "mine.yaml", "--name", "it", "--store", "there"])
    CliRunner().invoke(main, ["resume", "it", "--store", "there"])
    CliRunner().invoke(main, ["extend", "it", "--trials", "+2", "--store", "there"])
    kept = ("store", "name", "trials", "finals")
    assert [
        (name, what, {key: given[key] for key in kept if key in given})
        for name, what, given in calls
    ] == [
        ("run", "mine.yaml", {"store": "there", "name": "it"}),
        ("resume", "it", {"store": "there"}),
        ("extend", "it", {"store": "there", "trials": 2, "finals": 0}),
    ]


def test_every_option_is_among_those_that_reach_a_field():
    typed = {
        command.name: {p.opts[0] for p in command.params if p.name not in HERE[command.name]}
        for command in (run, resume, extend)
    }
    launch = {words.split()[0] for words in LAUNCH}
    options = {words.split()[0] for words in OPTIONS}
    goes_on = launch | TAKE_OVER.keys()
    assert typed == {"run": launch | options, "resume": goes_on, "extend": goes_on}


def test_every_field_is_reached_by_an_option():
    assert {field.name for field in fields(Launch)} == {
        name for name, _ in (LAUNCH | TAKE_OVER).values()
    }
    reached = {name for name, _ in OPTIONS.values()}
    assert {field.name for field in fields(Options)} == reached | MADE


@pytest.mark.parametrize("command", [run, resume, extend])
def test_an_option_that_reaches_nothing_fails_the_command(command, calls, monkeypatch):
    planted = [*command.params, click.Option(["--unheard"], type=int)]
    monkeypatch.setattr(command, "params", planted)
    done = CliRunner().invoke(main, [command.name, *WORDS[command.name], "--unheard", "5"])
    assert isinstance(done.exception, TypeError)
    assert str(done.exception) == "options that reach nothing: unheard"
    assert not calls


@pytest.mark.parametrize("command", [run, resume, extend])
def test_a_field_whose_option_is_gone_fails_the_command(command, calls, monkeypatch):
    kept = [param for param in command.params if param.name != "max_concurrent"]
    monkeypatch.setattr(command, "params", kept)
    done = CliRunner().invoke(main, [command.name, *WORDS[command.name]])
    assert isinstance(done.exception, KeyError)
    assert not calls


def test_what_is_taken_out_leaves_nothing():
    given = dict(run.make_context("run", WORDS["run"]).params)
    for name in OWN:
        del given[name]
    assert (launch_from(given), options_from(given), given) == (Launch(), Options(), {})


def test_the_first_signal_drains_and_the_second_stops():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    for first in (signal.SIGINT, signal.SIGTERM):
        limits = Limits()
        with pytest.raises(KeyboardInterrupt), interruptible(limits):
            os.kill(os.getpid(), first)
            assert limits.draining
            os.kill(os.getpid(), signal.SIGINT)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_in_another_thread_signals_stay_what_they_are():
    before, seen = signal.getsignal(signal.SIGINT), []

    def enter():
        with interruptible(Limits()):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [before]
