"""Stored and printed names are data: a field may be renamed, what is written stays."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.stored_rows import run_row

import clar_tune
from clar_tune.analysis import Comparison, Contrast, Correlation, Row, Score
from clar_tune.analysis.effect_records import OverGraphs, PenaltyEffect, ShiftPart
from clar_tune.analysis.records import Across, Budget, PairAcross, Point, Standing
from clar_tune.device_check import DeviceFacts, Finding, Report
from clar_tune.precision import Precision
from clar_tune.records import (
    TermRecord,
    TrainRecord,
    TrainSpec,
    from_stored,
    stored_as,
    to_stored,
)
from clar_tune.rows import GraphFacts, LeftOut, PlannedStudy
from clar_tune.space import Choice, Fixed, Options, Range
from clar_tune.space.model import SearchRules, TrainingRules
from clar_tune.store.holder import Holder
from clar_tune.store.schema import plain
from clar_tune.training.ablation import Summary
from clar_tune.training.frequencies import Energy

SPEC = TrainSpec(
    graph="cora",
    graph_hash="abc",
    backbone="gcn",
    regularizer="clar",
    protocol="planetoid",
    split_seed=0,
    init_seed=1,
    params={"alpha": 1.0, "clamp": None},
)
TRAINED = TrainRecord(
    key="k",
    metric="accuracy",
    val_score=0.5,
    val_loss=1.25,
    epochs=10,
    best_epoch=5,
    seconds=0.5,
    train_nodes=6,
    val_nodes=2,
    terms={"com": TermRecord(value=0.25, active=1.0)},
    facts={"edges": 2.0},
)
OPTIONS = Options(graphs=("cora", "texas"), conditions=("layers=8",), trials=3, replicates=5)
HOLDER = Holder(host="h", pid=7, born="b", nonce="n", wal="w", heartbeat=1.5)
PLANNED = PlannedStudy(
    graph="cora",
    method="gcn",
    condition="layers=8",
    protocol="planetoid",
    metric="accuracy",
    trials=8,
    repeats=9,
    finals=10,
    rungs=(1, 3, 9),
    parameters={"lr": {"low": 0.001, "high": 0.1, "log": True, "integer": False}},
)
DEVICE = DeviceFacts(name="A100", driver="570.1", memory=8, context=2, torch="2.13", clar_tune="1")
DEVICE_TEXT = (
    '{"name": "A100", "driver": "570.1", "memory": 8, "context": 2, "torch": "2.13", '
    '"clar_tune": "1"}'
)
FINDING = Finding(check="speed", ok=True, found="fast", values={"faster_from": None})
FINDING_TEXT = '{"check": "speed", "ok": true, "found": "fast", "values": {"faster_from": null}}'
DEVICE_REPORT = Report(node="h", number="0", facts=DEVICE, findings=(FINDING,))
LEFT_OUT = LeftOut(host="h", node="n", since="2026-11-17T10:00:00+00:00", cause="CUDA error")
FACTS = GraphFacts(notes=("leaky",), counts_as="texas", generated=False)
BUDGET = Budget(asked=8, trials=7, failed=1, repeats=20, finals=3, seconds=1.5)
PAIR = PairAcross(method="gcn+clar", against="gcn", p=0.25, p_holm=0.5)
POINT = Point(condition="1", x=1.0, y=0.5)
ROW = Row(graph="cora", condition="", protocol="planetoid", metric="accuracy", notes=("leaky",))
SCORE = Score(
    graph="cora",
    method="gcn",
    condition="",
    mean=0.5,
    half_width=0.25,
    units=3,
    searches=1,
    search_spread=None,
    paper=0.75,
    best=True,
    budget=BUDGET,
    penalty_active=None,
    weightless=False,
    full=True,
    used_up=False,
)
CONTRAST = Contrast(
    graph="cora",
    condition="",
    method="gcn+clar",
    against="gcn",
    rival=False,
    gain=0.25,
    half_width=0.5,
    p=0.125,
    p_holm=0.25,
    detectable=None,
    units=3,
    verdict="undecided",
    paper_gain=None,
)
CORRELATION = Correlation(
    kind="spearman",
    graph="cora",
    method="gcn+clar",
    condition="",
    metric="accuracy",
    key="samples",
    values=("1", "2"),
    coefficient=1.0,
    low=None,
    high=None,
    paper=0.5,
    pairs=2,
    units=3,
    points=(POINT,),
)
STANDING = Standing(
    method="gcn",
    rows=1,
    bests=1,
    wins=0,
    ties=0,
    losses=0,
    better=0,
    worse=0,
    rank=1.5,
    budget=BUDGET,
)
ACROSS = Across(
    graphs=("cora",),
    methods=("gcn", "gcn+clar"),
    ranks=(1.0, 2.0),
    friedman=None,
    planned=(PAIR,),
    pairs=(),
    cliques=(("gcn", "gcn+clar"),),
    reason="",
)
EFFECT = PenaltyEffect(
    graph="cora",
    condition="",
    method="gcn+clar",
    against="gcn",
    regularizer="clar",
    protocol="planetoid",
    verdict="equal",
    effect=0.25,
    half=0.5,
)
OVER_GRAPHS = OverGraphs(
    method="gcn+clar",
    question="effect",
    graphs=("cora",),
    left_out=(),
    mean=0.5,
    these_half=0.25,
    like_these_half=None,
    one_more_half=None,
)
SHIFT_PART = ShiftPart(
    graph="cora",
    condition="",
    method="gcn+clar",
    one=0.5,
    other=0.25,
    difference=0.25,
    half=0.125,
    protocols=("a", "b"),
    verdicts=("better", "equal"),
    same=True,
)
COMPARISON = Comparison(
    runs=("it",),
    space="mine",
    settings="tuned",
    paper_table=None,
    methods=("gcn",),
    rows=(ROW,),
    scores=(),
    contrasts=(),
    family=1,
    standings=(),
    across=ACROSS,
    caption=("A sentence.",),
    conclusions=(),
)
RECORDS = [
    SPEC,
    TRAINED,
    TrainingRules(),
    SearchRules(),
    OPTIONS,
    Range(0.001, 0.1, log=True),
    Choice((1, None)),
    Fixed("node"),
    PLANNED,
    Precision(half_width=0.004, at_least=20, at_most=100),
    FACTS,
    LEFT_OUT,
    HOLDER,
    DEVICE,
    FINDING,
    DEVICE_REPORT,
    Energy(total=1.0, constant=0.5, frequency=None, bands=(0.25, 0.75)),
    Summary(mean=0.5, deviation=None),
    SCORE,
    CONTRAST,
    CORRELATION,
    STANDING,
    COMPARISON,
    EFFECT,
    OVER_GRAPHS,
    SHIFT_PART,
]
TEXTS = [
    (
        '{"graph": "cora", "graph_hash": "abc", "backbone": "gcn", "regularizer": "clar", '
        '"protocol": "planetoid", "split_seed": 0, "init_seed": 1, "params": {"alpha": '
        '1.0, "clamp": null}, "condition": "", "outer_test": 0.0, "max_epochs": 1000, '
        '"patience": 100, "warmup": 50, "select": "loss", "optimizer": "adam", "threads": '
        "1}"
    ),
    (
        '{"key": "k", "metric": "accuracy", "val_score": 0.5, "val_loss": 1.25, "epochs": '
        '10, "best_epoch": 5, "seconds": 0.5, "train_nodes": 6, "val_nodes": 2, '
        '"penalty_active": null, "round": 1, "terms": {"com": {"value": 0.25, "active": '
        '1.0}}, "facts": {"edges": 2.0}}'
    ),
    ('{"max_epochs": 1000, "patience": 100, "warmup": 50, "select": "loss", "optimizer": "adam"}'),
    '{"trials": 16, "repeats": 9, "reduction": 3, "sampler": "tpe", "pruning": true}',
    (
        '{"settings": "tuned", "graphs": ["cora", "texas"], "methods": null, '
        '"conditions": ["layers=8"], "protocol": null, "trials": 3, "repeats": null, '
        '"finals": null, "sampler": null, "pruning": null, "selection": null, "searches": '
        '5, "outer_test": 0.0, "seed": 0, "threads": 1, "cpus": 1.0, "gpus": 0.0, '
        '"trial_timeout": 1800.0, "first_trials": null}'
    ),
    '{"low": 0.001, "high": 0.1, "log": true, "integer": false}',
    '{"values": [1, null]}',
    '{"value": "node"}',
    (
        '{"graph": "cora", "method": "gcn", "condition": "layers=8", "protocol": "planetoid", '
        '"metric": "accuracy", "trials": 8, "repeats": 9, "finals": 10, "rungs": [1, 3, 9], '
        '"parameters": {"lr": {"low": 0.001, "high": 0.1, "log": true, "integer": false}}}'
    ),
    '{"half_width": 0.004, "at_least": 20, "at_most": 100}',
    '{"notes": ["leaky"], "counts_as": "texas", "generated": false}',
    '{"host": "h", "node": "n", "since": "2026-11-17T10:00:00+00:00", "cause": "CUDA error"}',
    (
        '{"host": "h", "pid": 7, "born": "b", "nonce": "n", "wal": "w", "heartbeat": 1.5, '
        '"seq": -1, "released": false, "epoch": 0, "boot": "", "clock": 0.0}'
    ),
    DEVICE_TEXT,
    FINDING_TEXT,
    f'{{"node": "h", "number": "0", "facts": {DEVICE_TEXT}, "findings": [{FINDING_TEXT}]}}',
    '{"total": 1.0, "constant": 0.5, "frequency": null, "bands": [0.25, 0.75]}',
    '{"mean": 0.5, "deviation": null}',
    (
        '{"graph": "cora", "method": "gcn", "condition": "", "mean": 0.5, "half": 0.25, '
        '"units": 3, "searches": 1, "search_spread": null, "paper": 0.75, "best": true, '
        '"budget": {"asked": 8, "trials": 7, "failed": 1, "repeats": 20, "finals": 3, '
        '"seconds": 1.5}, "penalty_active": null, "weightless": false, "full": true, '
        '"used_up": false, "without_complement": false, "remote_share": null, "balanced": '
        'null, "balanced_half": null, "above_floor": null, "collapsed": 0, '
        '"penalty_above": null, "penalty_zero": null}'
    ),
    (
        '{"graph": "cora", "condition": "", "method": "gcn+clar", "against": "gcn", '
        '"rival": false, "gain": 0.25, "half": 0.5, "p": 0.125, "p_holm": 0.25, '
        '"detectable": null, "units": 3, "verdict": "undecided", "paper_gain": null, '
        '"ratio": null, "ratio_half": null, "paper_ratio": null, "reason": ""}'
    ),
    (
        '{"kind": "spearman", "graph": "cora", "method": "gcn+clar", "condition": "", '
        '"metric": "accuracy", "key": "samples", "values": ["1", "2"], "coefficient": '
        '1.0, "low": null, "high": null, "paper": 0.5, "pairs": 2, "units": 3, "points": '
        '[{"condition": "1", "x": 1.0, "y": 0.5}], "identical": 0, "apart": null, "gap": '
        'null, "gap_half": null}'
    ),
    (
        '{"method": "gcn", "rows": 1, "bests": 1, "wins": 0, "ties": 0, "losses": 0, '
        '"better": 0, "worse": 0, "rank": 1.5, "budget": {"asked": 8, "trials": 7, '
        '"failed": 1, "repeats": 20, "finals": 3, "seconds": 1.5}}'
    ),
    (
        '{"runs": ["it"], "space": "mine", "settings": "tuned", "paper_table": null, '
        '"methods": ["gcn"], "rows": [{"graph": "cora", "condition": "", "protocol": '
        '"planetoid", "metric": "accuracy", "notes": ["leaky"], "train_nodes": 0, '
        '"val_nodes": 0, "test_nodes": 0, "floor": null, "shift": null, "balanced_floor": null}], '
        '"scores": [], "contrasts": [], "family": 1, '
        '"standings": [], "across": {"graphs": ["cora"], "methods": ["gcn", "gcn+clar"], '
        '"ranks": [1.0, 2.0], "friedman": null, "planned": [{"method": "gcn+clar", '
        '"against": "gcn", "p": 0.25, "p_holm": 0.5, "ahead": ""}], "pairs": [], '
        '"cliques": [["gcn", "gcn+clar"]], "reason": ""}, "caption": ["A sentence."], '
        '"conclusions": [], "columns": [], "unit": "final", "correlations": [], '
        '"headline": "", "effects": [], "backbones": [], "over_graphs": [], "remarks": [], '
        '"margin": 0.01, "interval": "splits", "scope": "splits", "baseline": "gcn", '
        '"looks": 0}'
    ),
    (
        '{"graph": "cora", "condition": "", "method": "gcn+clar", "against": "gcn", '
        '"regularizer": "clar", "protocol": "planetoid", "verdict": "equal", "small": '
        'false, "effect": 0.25, "half": 0.5, "error": null, "freedom": 0, "units": 0, '
        '"unit": "", "kept": null, "kept_half": null, "crossed": null, "crossed_half": '
        'null, "nodes_half": null, "scope": "splits", "p": null, "p_holm": null, '
        '"p_equal": null, "p_equal_holm": null, "family": 0, "margin": 0.0, "spread": '
        'null, "detectable": null, "needed": null, "reason": "", "on_plain": null, '
        '"on_plain_half": null, "balanced": null, "balanced_half": null, "over_nl": null, '
        '"over_nl_half": null, "over_any": null, "over_any_half": null, "above_floor": '
        'null, "plain_above_floor": null, "collapsed": 0, "finals": 0, "at_cap": false}'
    ),
    (
        '{"method": "gcn+clar", "question": "effect", "graphs": ["cora"], "left_out": [], '
        '"mean": 0.5, "these_half": 0.25, "like_these_half": null, "one_more_half": null, '
        '"verdict": "", "p": null}'
    ),
    (
        '{"graph": "cora", "condition": "", "method": "gcn+clar", "one": 0.5, "other": '
        '0.25, "difference": 0.25, "half": 0.125, "protocols": ["a", "b"], '
        '"verdicts": ["better", "equal"], "same": true}'
    ),
]


PACKAGE = Path(clar_tune.__file__).parent


@pytest.mark.parametrize(
    ("record", "text"),
    list(zip(RECORDS, TEXTS, strict=True)),
    ids=[type(record).__name__ for record in RECORDS],
)
def test_a_record_is_written_as_ever(record, text):
    assert json.dumps(to_stored(record)) == text


def test_every_record_with_stored_names_is_written_here():
    decorated = re.compile(r"^@stored_as\([^@]*@dataclass[^\n]*\nclass (\w+)", re.MULTILINE)
    known = {
        name for file in PACKAGE.rglob("*.py") for name in decorated.findall(file.read_text())
    }
    inside = {"TermRecord", "Budget", "Point", "Row", "PairAcross", "Across"}
    assert known == {type(record).__name__ for record in RECORDS} | inside


def test_nothing_else_turns_fields_into_stored_names():
    for file in PACKAGE.rglob("*.py"):
        assert "asdict" not in file.read_text(), file


@pytest.mark.parametrize("record", [OPTIONS, HOLDER, SPEC, PLANNED, FACTS])
def test_what_was_written_is_read_again(record):
    assert from_stored(type(record), json.loads(json.dumps(to_stored(record)))) == record


def test_options_of_a_manifest_are_read_and_written():
    text = json.dumps(json.loads(TEXTS[RECORDS.index(OPTIONS)]), sort_keys=True)
    row = run_row(options=to_stored(OPTIONS))
    assert plain("runs", row)["options"] == text
    assert from_stored(Options, json.loads(text)) == OPTIONS
    assert from_stored(Options, {"searches": 5}) == Options(replicates=5)


def test_a_renamed_field_keeps_its_stored_name_and_its_place():
    @stored_as("trials", "seed", replicates="searches")
    @dataclass(frozen=True)
    class Renamed:
        trials: int
        replicates: int
        seed: int = 0

    assert json.dumps(to_stored(Renamed(1, 2))) == '{"trials": 1, "searches": 2, "seed": 0}'
    assert from_stored(Renamed, {"trials": 1, "searches": 2}) == Renamed(1, 2)
    with pytest.raises(TypeError, match="unheard"):
        from_stored(Renamed, {"trials": 1, "searches": 2, "unheard": 3})


@pytest.mark.parametrize("names", [("one",), ("one", "two", "three"), ("one", "other")])
def test_a_field_without_a_stored_name_or_a_name_without_a_field_fails_at_once(names):
    @dataclass(frozen=True)
    class Record:
        one: int
        two: int

    with pytest.raises(TypeError, match="Record: either field or stored name: "):
        stored_as(*names)(Record)
