"""``clar-tune compare`` finds the runs that are meant, and prints them as data or as a page."""

import csv
import io
import json
from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest
from click.testing import CliRunner
from support.results import simulated, stored

from clar_tune.cli import main
from clar_tune.store import Store

SPACE = """
description: no search, only finals
graphs: [texas, cornell]
methods: [gcn, sage, gcn+clar]
protocol: balanced-60-20-20
finals: 5
settings:
  tuned: {regularizers: {clar: {alpha: 1}}}
  paper: {regularizers: {clar: {alpha: 2}}}
"""


@cache
def made(**options):
    return simulated(SPACE, **options)


def keep(folder, name, hours=0, space="simulated", **options):
    """A run in a store, begun some hours after noon."""
    row, memory = made(**options)
    row = replace(row, started=row.started + timedelta(hours=hours), space=space)
    stored(folder, row, memory, name)


def ask(folder, *arguments):
    return CliRunner().invoke(main, ["compare", *arguments, "--store", str(folder)])


def runs_of(result):
    assert result.exit_code == 0, result.output
    return [found["runs"] for found in json.loads(result.stdout)["comparisons"]]


def test_the_latest_run_is_compared_by_default(tmp_path):
    keep(tmp_path, "early")
    keep(tmp_path, "late", hours=1)
    assert runs_of(ask(tmp_path, "--format", "json")) == [["late"]]
    assert runs_of(ask(tmp_path, "--run", "ea", "--format", "json")) == [["early"]]
    result = ask(tmp_path)
    assert result.exit_code == 0 and result.stderr == ""
    assert "late: simulated, tuned settings" in result.stdout
    assert "What can be concluded" in result.stdout and "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    ("form", "start"),
    [("table", "━"), ("markdown", "# CLAR: "), ("latex", "%"), ("csv", "runs,"), ("json", "{")],
)
def test_every_format_goes_to_stdout(tmp_path, form, start):
    keep(tmp_path, "one")
    result = ask(tmp_path, "--format", form)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(start) and result.stdout.endswith("\n")


def test_runs_that_fit_are_joined_and_one_named_twice_counts_once(tmp_path):
    keep(tmp_path, "one", methods=("gcn",))
    keep(tmp_path, "two", methods=("gcn+clar",), hours=1)
    result = ask(tmp_path, "--run", "one", "--run", "latest", "--run", "two", "--format", "json")
    assert runs_of(result) == [["one", "two"]]
    (found,) = json.loads(result.stdout)["comparisons"]
    assert found["methods"] == ["gcn", "gcn+clar"]
    assert [gain["method"] for gain in found["contrasts"]] == ["gcn+clar"] * 2


def test_runs_that_do_not_fit_are_refused_with_the_difference(tmp_path):
    keep(tmp_path, "one", methods=("gcn",))
    keep(tmp_path, "two", methods=("gcn+clar",), finals=6)
    result = ask(tmp_path, "--run", "one", "--run", "two")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("clar-tune: one and two cannot stand in one table: finals is")
    assert "5 and 6" in result.stderr and result.stderr.count("\n") == 1


def test_a_space_has_its_latest_run_of_each_setting(tmp_path):
    keep(tmp_path, "old")
    keep(tmp_path, "printed", settings="paper", hours=1)
    keep(tmp_path, "new", hours=2)
    keep(tmp_path, "other", space="another", hours=3)
    for space in ("simulated", "folder/simulated.yaml"):
        result = ask(tmp_path, "--space", space, "--format", "json")
        assert runs_of(result) == [["new"], ["printed"]]
    lines = ask(tmp_path, "--space", "simulated", "--format", "csv").stdout
    records = list(csv.DictReader(io.StringIO(lines)))
    assert {(r["runs"], r["settings"]) for r in records} == {
        ("new", "tuned"),
        ("printed", "paper"),
    }
    page = ask(tmp_path, "--space", "simulated").stdout
    assert page.index("new: simulated, tuned") < page.index("printed: simulated, paper")


def test_a_space_without_runs_is_refused_with_those_that_have_some(tmp_path):
    keep(tmp_path, "one")
    result = ask(tmp_path, "--space", "simulate")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "clar-tune: unknown space among the runs 'simulate'. Did you mean 'simulated'? "
        "Allowed: simulated.\n"
    )


def test_a_run_and_a_space_exclude_each_other(tmp_path):
    result = ask(tmp_path, "--run", "one", "--space", "simulated")
    assert result.exit_code == 2 and "exclude each other" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["--space", "simulated"], ["--run", "one"]])
def test_an_empty_store_is_one_line(tmp_path, arguments):
    result = ask(tmp_path, *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "has no runs" in result.stderr and result.stderr.count("\n") == 1


def test_a_run_without_finals_is_a_sentence_or_no_data(tmp_path):
    row, memory = made()
    writer = Store.open(tmp_path).create("bare", row)
    writer.append(list(memory.trials.values()))
    writer.close(state="interrupted")
    assert ask(tmp_path).stdout == "bare: no winner has finals yet.\n"
    assert ask(tmp_path, "--format", "csv").stdout.count("\n") == 1
    found = json.loads(ask(tmp_path, "--format", "json").stdout)["comparisons"][0]
    assert (found["scores"], found["contrasts"], found["rows"]) == ([], [], [])


def one_of(result):
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["comparisons"]
    return found


def test_a_run_is_an_argument_too(tmp_path):
    keep(tmp_path, "early")
    keep(tmp_path, "late", hours=1)
    assert runs_of(ask(tmp_path, "early", "--format", "json")) == [["early"]]


def test_options_say_how_is_judged(tmp_path):
    keep(tmp_path, "one")
    usual = one_of(ask(tmp_path, "--format", "json"))
    assert (usual["margin"], usual["interval"], usual["baseline"]) == (0.01, "splits", "gcn")
    words = ("--margin", "2.5", "--interval", "nadeau-bengio", "--baseline", "sage")
    other = one_of(ask(tmp_path, *words, "--format", "json"))
    assert (other["margin"], other["interval"], other["baseline"]) == (
        *(0.025, "nadeau-bengio", "sage"),
    )
    assert {effect["margin"] for effect in other["effects"]} == {0.025}
    assert other["effects"][0]["half"] > usual["effects"][0]["half"]


def test_a_margin_that_makes_no_sense_is_refused(tmp_path):
    keep(tmp_path, "one")
    result = ask(tmp_path, "--margin", "0")
    assert result.exit_code == 1
    assert result.stderr.strip().endswith("margin 0 points: choose one above 0 and below 100.")


def test_how_to_read_it_is_printed_on_demand(tmp_path):
    keep(tmp_path, "one")
    short, long = ask(tmp_path).stdout, ask(tmp_path, "--explain").stdout
    assert "How to read it" not in short and "--explain prints" in short
    assert "How to read it" in long and "--explain prints" not in long
    assert short.splitlines()[1].startswith("CLAR: effect decided in ")


def test_a_baseline_that_is_not_there_is_refused(tmp_path):
    keep(tmp_path, "one")
    refused = ask(tmp_path, "--baseline", "gat")
    assert refused.exit_code == 1
    assert "unknown plain backbone of these runs 'gat'" in refused.output
    assert ask(tmp_path, "--baseline", "gcn").exit_code == 0


def test_wider_intervals_are_named_in_print(tmp_path):
    keep(tmp_path, "one")
    told = "tuned settings; intervals for new data (Nadeau and Bengio)"
    assert told in ask(tmp_path, "--interval", "nadeau-bengio").stdout
    assert told not in ask(tmp_path).stdout
