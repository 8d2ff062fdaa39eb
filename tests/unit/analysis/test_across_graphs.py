"""Methods over distinct graphs, on numbers that can be followed by hand."""

from itertools import combinations

import numpy as np
import pytest
import scikit_posthocs

from clar_tune.analysis.across_graphs import _cliques, across_of
from clar_tune.analysis.records import Budget, PairAcross, Score
from clar_tune.analysis.remarks import across_graphs as sentences_of
from clar_tune.analysis.statistics import average_ranks, friedman
from clar_tune.graphs import known_facts

EIGHT = ["cora", "citeseer", "pubmed", "computers", "photo", "actor", "chameleon", "texas"]
SPENT = Budget(asked=1, trials=1, failed=0, repeats=1, finals=1, seconds=1.0)


def score(graph, method, mean, condition=""):
    return Score(
        graph=graph,
        method=method,
        condition=condition,
        mean=mean,
        half_width=None,
        units=1,
        searches=1,
        search_spread=None,
        paper=None,
        best=False,
        budget=SPENT,
        penalty_active=None,
        weightless=False,
        full=True,
        used_up=False,
    )


def scores(table, graphs, methods):
    return [
        score(graph, method, float(table[row, column]))
        for row, graph in enumerate(graphs)
        for column, method in enumerate(methods)
    ]


def across(methods, given, sign, *planned, **options):
    """As :func:`across_of`, with what the catalogue says of the graphs."""
    facts = {one.graph: known_facts(one.graph) for one in given}
    return across_of(methods, given, sign, facts, *planned, **options)


def two(graphs):
    """On each graph b is better than a, by a little more every time."""
    table = np.array([[0.5, 0.51 + 0.01 * row] for row in range(len(graphs))])
    return across(["a", "b"], scores(table, graphs, ["a", "b"]), 1.0)


def test_eight_graphs_are_tested():
    found = two(EIGHT)
    assert found.reason == "" and found.graphs == tuple(EIGHT)
    assert found.ranks == (2.0, 1.0)
    (pair,) = found.pairs
    assert (pair.method, pair.against) == ("a", "b")
    assert pair.p == pair.p_holm == 2 / 2**8
    assert pair.ahead == "b"
    assert found.cliques == ()
    assert found.friedman is None  # two methods: Wilcoxon says it all


def test_seven_graphs_are_not():
    found = two(EIGHT[:7])
    assert found.reason == (
        "it needs 8 distinct real graphs with all methods, and there are 7 "
        "(twins count once, generated graphs never)."
    )
    assert (found.friedman, found.pairs, found.cliques) == (None, (), ())
    assert found.ranks == (2.0, 1.0)


@pytest.mark.parametrize(
    ("twins", "joined"),
    [
        (["texas", "cornell"], "texas+cornell"),
        (["cornell", "texas"], "cornell+texas"),
        (["chameleon", "chameleon-filtered"], "chameleon+chameleon-filtered"),
        (["squirrel-filtered", "squirrel"], "squirrel-filtered+squirrel"),
        (["cora", "cora@0123abcd"], "cora"),
    ],
)
def test_twins_count_once(twins, joined):
    others = [graph for graph in EIGHT if graph not in twins][:6]
    found = two([*others, *twins])
    assert found.graphs == (*others, joined)
    assert "there are 7" in found.reason


def test_cornell_with_its_own_nodes_is_no_twin():
    assert two([*EIGHT[:6], "texas", "cornell-corrected"]).reason == ""


def test_the_scores_of_twins_are_averaged():
    means = {
        ("texas", "a"): 0.6,
        ("texas", "b"): 0.5,
        ("cornell", "a"): 0.2,
        ("cornell", "b"): 0.5,
    }
    found = across(["a", "b"], [score(*place, mean) for place, mean in means.items()], 1.0)
    assert found.graphs == ("texas+cornell",)
    assert found.ranks == (2.0, 1.0)  # 0.4 against 0.5


def test_a_twin_that_lacks_a_method_is_left_out():
    # With cornell's 0.1 the mean of a would be 0.35, and b the better one.
    means = {("texas", "a"): 0.6, ("texas", "b"): 0.5, ("cornell", "a"): 0.1}
    found = across(["a", "b"], [score(*place, mean) for place, mean in means.items()], 1.0)
    assert found.graphs == ("texas",)
    assert found.ranks == (1.0, 2.0)


def test_generated_graphs_never_count():
    found = two([*EIGHT[:7], "csbm-homophily", "csbm-heterophily"])
    assert found.graphs == tuple(EIGHT[:7]) and "there are 7" in found.reason


def test_graphs_that_lack_a_method_do_not_count():
    given = scores(np.arange(16.0).reshape(8, 2), EIGHT, ["a", "b"])
    assert across(["a", "b"], given[:-1], 1.0).graphs == tuple(EIGHT[:7])


def test_no_common_graph_leaves_no_ranks():
    found = across(["a", "b"], [score("cora", "a", 0.5), score("texas", "b", 0.5)], 1.0)
    assert (found.graphs, found.methods, found.ranks) == ((), (), ())
    assert "there are 0" in found.reason


def test_one_method_is_not_tested():
    found = across(["a"], [score(graph, "a", 0.5) for graph in EIGHT], 1.0)
    assert found.reason == "one method only." and found.ranks == ()
    assert across([], [], 1.0).reason == "no method has finals yet."


def test_sweeps_are_not_tested():
    swept = [score(g, m, 0.5, "layers=4") for g in EIGHT for m in ("a", "b")]
    assert across(["a", "b"], swept, 1.0).reason.startswith("the rows are conditions")


def test_where_lower_is_better_the_lower_one_ranks_first():
    table = np.array([[0.5, 0.6]] * 8)
    assert across(["a", "b"], scores(table, EIGHT, ["a", "b"]), -1.0).ranks == (1.0, 2.0)


def test_pairs_agree_with_scikit_posthocs():
    methods = ["a", "b", "c", "d"]
    draw = np.random.default_rng(0)
    table = draw.normal(0.7, 0.03, (8, 4)) + np.array([0.0, 0.01, 0.03, 0.2])
    found = across(methods, scores(table, EIGHT, methods), 1.0)
    plain = scikit_posthocs.posthoc_wilcoxon(table.T.tolist()).to_numpy()
    holm = scikit_posthocs.posthoc_wilcoxon(table.T.tolist(), p_adjust="holm").to_numpy()
    for pair, (one, other) in zip(found.pairs, combinations(range(4), 2), strict=True):
        assert (pair.method, pair.against) == (methods[one], methods[other])
        assert pair.p == pytest.approx(plain[one, other])
        assert pair.p_holm == pytest.approx(holm[one, other])
    assert {pair.p_holm < 0.05 for pair in found.pairs} == {True, False}
    assert found.friedman == friedman(table)
    assert found.ranks == pytest.approx(average_ranks(table))


def cliques(order, apart):
    """The cliques of methods that stand in order of rank; ``apart`` names pairs that differ."""
    pairs = [
        PairAcross(method=a, against=b, p=0.5, p_holm=0.01 if a + b in apart else 0.5)
        for a, b in combinations(order, 2)
    ]
    found = _cliques(list(order), np.arange(1.0, len(order) + 1), pairs)
    return ["".join(clique) for clique in found]


@pytest.mark.parametrize(
    ("apart", "expected"),
    [
        ([], ["abcd"]),
        (["ad"], ["abc", "bcd"]),
        (["ac", "ad"], ["ab", "bcd"]),
        (["ab", "ac", "ad"], ["bcd"]),  # a stands alone
        (["bc"], ["ab", "cd"]),  # no bar may span a pair that differs
        (["ab", "ac", "ad", "bc", "bd", "cd"], []),
        (["ac", "ad", "bd"], ["ab", "bc", "cd"]),
    ],
)
def test_cliques_by_hand(apart, expected):
    assert cliques("abcd", apart) == expected


def test_cliques_follow_the_ranks_not_the_table():
    apart = [PairAcross(method="a", against="b", p=0.001, p_holm=0.01)]
    assert _cliques(["a", "b", "c"], np.array([3.0, 1.0, 2.0]), apart) == (("b", "c"), ("c", "a"))


def test_where_no_p_can_fall_below_the_level_it_is_said():
    # 8 graphs: 2 / 2^8 each; 3 pairs can reach 0.023, 10 pairs no less than 0.078.
    few, many = list("abc"), list("abcde")
    table = np.arange(8.0)[:, None] + np.arange(5.0) * np.arange(1.0, 9.0)[:, None]
    told = across(few, scores(table[:, :3], EIGHT, few), 1.0)
    assert [pair.p_holm < 0.05 for pair in told.pairs] == [True] * 3
    assert not any("none could be" in text for text in sentences_of(told))
    untold = across(many, scores(table, EIGHT, many), 1.0)
    assert min(pair.p_holm for pair in untold.pairs) == 10 * 2 / 2**8
    assert "none could be: p_holm of 10 is at least 0.078" in " ".join(sentences_of(untold))
    assert untold.friedman == 0.0


def test_planned_comparisons_are_corrected_among_themselves():
    # The same five methods: of two planned comparisons each can reach 2 * 2 / 2^8.
    methods = list("abcde")
    table = np.arange(8.0)[:, None] + np.arange(5.0) * np.arange(1.0, 9.0)[:, None]
    planned = [("b", "a"), ("e", "b"), ("e", "absent")]
    found = across(methods, scores(table, EIGHT, methods), 1.0, planned).planned
    assert [(pair.method, pair.against) for pair in found] == planned[:2]
    assert [pair.p_holm for pair in found] == [2 * 2 / 2**8] * 2


def test_it_is_said_who_is_better():
    methods = ["gcn", "gcn+clar", "gcn+madreg"]
    table = np.array([[0.5, 0.6 + 0.01 * row, 0.7 + 0.03 * row] for row in range(8)])
    planned = [("gcn+clar", "gcn"), ("gcn+clar", "gcn+madreg")]
    found = across(methods, scores(table, EIGHT, methods), 1.0, planned)
    assert [pair.ahead for pair in found.planned] == ["gcn+clar", "gcn+madreg"]
    text = " ".join(sentences_of(found))
    told = "2 of 2 told apart: gcn+clar over gcn, gcn+madreg over gcn+clar."
    assert f"planned comparisons: {told}" in text
    assert "gives p < 0.001: the methods differ" in text
    errors = across(methods, scores(table, EIGHT, methods), -1.0, planned)
    assert [pair.ahead for pair in errors.planned] == ["gcn", "gcn+clar"]


def test_nobody_is_ahead_where_nothing_differs():
    table = np.full((8, 2), 0.5)
    (pair,) = across(["a", "b"], scores(table, EIGHT, ["a", "b"]), 1.0).pairs
    assert (pair.p, pair.ahead) == (1.0, "")


def test_methods_of_spaces_with_other_ranges_are_not_tested():
    given = scores(np.arange(16.0).reshape(8, 2), EIGHT, ["a", "b"])
    found = across(["a", "b"], given, 1.0, mixed=True)
    assert "other ranges" in found.reason and found.pairs == ()
    assert found.ranks == (2.0, 1.0)
