"""What a run writes down about itself."""

from dataclasses import replace
from datetime import UTC, datetime

from support.simulation import plan_from

from clar_tune.rows import environments
from clar_tune.search import manifest
from clar_tune.search.manifest import with_this_driver

OTHER = ({"torch": "9.9"}, {"host": "elsewhere"})


def test_planned_studies_stand_in_the_manifest():
    row = manifest.manifest_of(plan_from(), {})
    assert row.studies == [
        ("csbm-homophily", "", "gcn"),
        ("csbm-homophily", "", "gcn+clar"),
        ("csbm-heterophily", "", "gcn"),
        ("csbm-heterophily", "", "gcn+clar"),
    ]


SWEPT = """
graphs: [csbm-homophily]
methods: [gcn+clar]
protocol: balanced-60-20-20
conditions: [{sweep: {alpha: [0, 1], beta: [0, 1], sampling: [node, edge, any]}}]
columns: [sampling]
correlate: {pearson: sampling, of: [node, edge]}
settings: {tuned: {}}
"""


def test_the_layout_of_a_table_stands_in_the_manifest():
    row = manifest.manifest_of(plan_from(SWEPT), {})
    assert row.columns == ("sampling",)
    assert row.correlate == {"pearson": "sampling", "of": ["node", "edge"]}
    plain = manifest.manifest_of(plan_from(), {})
    assert (plain.columns, plain.correlate) == (None, None)


def test_a_driver_in_the_same_place_adds_nothing():
    row = manifest.manifest_of(plan_from(), {})
    assert with_this_driver(row) == []


def test_a_driver_elsewhere_is_added_once(monkeypatch):
    row = manifest.manifest_of(plan_from(), {})
    monkeypatch.setattr(manifest, "versions", lambda: OTHER[0])
    monkeypatch.setattr(manifest, "machine", lambda: OTHER[1])
    before = datetime.now(UTC)
    row = replace(row, drivers=with_this_driver(row))
    row = replace(row, drivers=with_this_driver(row))
    first, later = environments(row)
    assert first.versions == row.versions
    assert (later.versions, later.machine) == OTHER
    assert before <= later.since <= datetime.now(UTC)
