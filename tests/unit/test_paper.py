"""Every number of the paper's tables, against the lines of its source."""

import re

import pytest
from support.pages import ROOT

from clar_tune.errors import UnknownName
from clar_tune.graphs.catalogue import DATASETS
from clar_tune.graphs.splits import PROTOCOLS
from clar_tune.models.method import Method
from clar_tune.paper import TABLES, _tables, coefficient, printed, printed_in, printed_ratio

SOURCE = (ROOT / "tests/data/paper_tables.tex.txt").read_text()
METHODS = [
    *("gcn", "gat", "sage", "cheby", "gpr", "gcn+nl", "gcn+preg", "gcn+madreg", "gcn+dropedge"),
    *("gcn+clar", "gat+clar", "sage+clar"),
]
FIVE = ["citeseer", "cora", "cs", "physics", "pubmed"]
PLANETOID = {"citeseer": "planetoid", "cora": "planetoid", "pubmed": "planetoid"}
SPLITS_OF_IV = {**PLANETOID, "cs": "coauthor-20-30", "physics": "coauthor-20-30"}


def source(table):
    """The words and the numbers of each line of a table."""
    lines = SOURCE.partition(f"% Table {table}\n")[2].partition("%")[0].splitlines()
    for line in lines:
        line = re.sub(r"\\multirow\{3\}\{\*\}|\\textbf|[{}\\]", "", line)
        cells = [cell.strip() for cell in line.split("&")]
        words = [cell.lower() for cell in cells if not re.fullmatch(r"-?[\d.]+", cell)]
        yield words, [float(cell) for cell in cells if re.fullmatch(r"-?[\d.]+", cell)]


def test_table_ii_is_the_papers():
    filters = ["high-pass", "low-pass", "band-pass", "band-rejection"]
    graph, seen = "", 0
    for (named, backbone), numbers in source("II"):
        graph = named or graph
        found = [
            _tables()["II"].numbers[graph, method, f"filter={kind}"]
            for kind in filters
            for method in (backbone, f"{backbone}+clar")
        ]
        assert found == numbers
        seen += len(numbers)
    assert seen == 48


def test_only_ratios_of_table_ii_stand_beside_ours():
    place = ("chameleon", "gcn+clar", "gcn", "filter=high-pass", "whole-graph")
    assert printed_ratio("II", *place) == pytest.approx(41.5680 / 41.6940)
    assert printed("II", "chameleon", "gcn", "filter=high-pass", "whole-graph") is None
    assert printed_ratio("II", *place[:3], "", "whole-graph") is None
    assert printed_ratio("III", "texas", "gcn+clar", "gcn", "", "balanced-60-20-20") is None
    assert printed_ratio(None, *place) is None


def test_table_iii_is_the_papers():
    rows = list(source("III"))
    assert len(rows) == 10
    for (graph,), numbers in rows:
        for protocol in ("balanced-60-20-20", "random-60-20-20"):
            found = [printed("III", graph, method, "", protocol) for method in METHODS]
            assert found == [round(number / 100, 4) for number in numbers]


def test_table_iv_is_the_papers():
    names = {"w/ ag": "+adagraph", "w/ clar": "+clar"}
    backbone, seen = "", 0
    for (name,), numbers in source("IV"):
        backbone = backbone if name in names else name
        method = backbone + names.get(name, "")
        found = [printed("IV", graph, method, "", SPLITS_OF_IV[graph]) for graph in FIVE]
        assert found == [round(number / 100, 3) for number in numbers]
        seen += len(numbers)
    assert seen == 45


def test_tables_v_and_vi_are_the_papers():
    rows = list(source("V"))
    assert len(rows) == 3
    for (backbone,), numbers in rows:
        method = f"{backbone}+clar"
        found = [coefficient("V", g, method, "spearman samples", SPLITS_OF_IV[g]) for g in FIVE]
        assert found == numbers
    ((_, numbers),) = source("VI")
    graphs = ["cora", "citeseer", "chameleon", "squirrel"]
    asked = ("gcn+clar", "pearson sampling node edge", "balanced-60-20-20")
    assert [coefficient("VI", graph, *asked) for graph in graphs] == numbers


def test_the_file_has_no_other_numbers_and_only_known_names():
    counts = {name: len(table.numbers) for name, table in _tables().items()}
    assert counts == {"II": 48, "III": 120, "IV": 45, "V": 15, "VI": 4}
    assert tuple(counts) == TABLES
    for table in _tables().values():
        assert set(table.protocols or ()) <= set(PROTOCOLS)
        for graph, method, _ in table.numbers:
            assert graph in DATASETS and Method.parse(method).parameters()


@pytest.mark.parametrize(
    ("table", "graph", "method", "condition", "protocol"),
    [
        (None, "texas", "gcn", "", "balanced-60-20-20"),
        ("III", "texas", "gcn", "", "geom-gcn"),  # other splits
        ("III", "cora", "gcn", "", "planetoid"),
        ("III", "cs", "gcn", "", "balanced-60-20-20"),  # not in the table
        ("III", "texas@0123", "gcn", "", "balanced-60-20-20"),  # other content
        ("III", "chameleon-filtered", "gcn", "", "balanced-60-20-20"),
        ("III", "texas", "gcn", "layers=4", "balanced-60-20-20"),
        ("III", "texas", "gat+nl", "", "balanced-60-20-20"),
        ("III", "texas", "my_models:MyGNN+clar", "", "balanced-60-20-20"),
        ("IV", "cora", "gcn", "", "balanced-60-20-20"),
        ("II", "chameleon", "gcn", "", "balanced-60-20-20"),  # no filter named
        ("V", "cora", "gcn+clar", "", "planetoid"),  # a coefficient is no score
        ("VI", "cora", "gcn+clar", "", "planetoid"),
    ],
)
def test_no_number_stands_beside_what_it_does_not_fit(table, graph, method, condition, protocol):
    assert printed(table, graph, method, condition, protocol) is None


@pytest.mark.parametrize(
    ("table", "graph", "method", "of", "protocol"),
    [
        (None, "cora", "gcn+clar", "spearman samples", "planetoid"),
        ("III", "cora", "gcn", "spearman samples", "balanced-60-20-20"),  # scores
        ("V", "texas", "gcn+clar", "spearman samples", "geom-gcn"),  # not in the table
        ("V", "cora", "gcn+clar", "spearman samples", "balanced-60-20-20"),  # other splits
        ("V", "cora", "gcn+clar", "spearman layers", "planetoid"),  # of something else
        ("VI", "cora", "gcn+clar", "pearson sampling node any", "planetoid"),
    ],
)
def test_no_coefficient_stands_beside_what_it_does_not_fit(table, graph, method, of, protocol):
    assert coefficient(table, graph, method, of, protocol) is None


def test_captions_name_their_table():
    for table in TABLES:
        assert printed_in(table).startswith(f"Table {table}, ") and printed_in(table)[-1] == "."
    assert "50 runs on random 60/20/20 splits" in printed_in("III")


def test_an_unknown_table_is_refused():
    with pytest.raises(UnknownName, match="unknown table of the paper 'VII'"):
        printed("VII", "texas", "gcn", "", "balanced-60-20-20")
