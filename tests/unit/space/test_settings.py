"""Blocks of settings: their ground, their rules, and what they have that say nothing."""

import json

import pytest
from click.testing import CliRunner

from clar_tune.cli import main
from clar_tune.errors import ParameterError, SpaceError, UnknownName
from clar_tune.models import Method
from clar_tune.precision import Precision
from clar_tune.records import to_stored
from clar_tune.space import parse_space
from clar_tune.space.domains import Choice, Fixed
from clar_tune.space.model import SearchRules, TrainingRules
from clar_tune.space.plan import Options, make_plan

GCN, CLAR = Method("gcn"), Method("gcn", "clar")
HEAD = "graphs: [cora, texas]\nmethods: [gcn, gcn+clar]\n"
RANGE = "shared: {lr: {low: 0.001, high: 0.1, log: true}}"


def parse(text: str):
    return parse_space(text, "mine", "mine.yaml")


def blocks(head: str = HEAD, **texts: str):
    """A space with some blocks of settings, each in one line."""
    lines = "\n".join(f"  {name}: {{{text}}}" for name, text in texts.items())
    return parse(f"{head}settings:\n{lines}\n")


def refusal(**texts: str) -> str:
    with pytest.raises(SpaceError) as caught:
        blocks(**texts)
    return str(caught.value)


def plan(space, **options):
    return make_plan(space, Options(**options))


# What a block has that says nothing


def test_blocks_that_say_nothing_have_the_usual_ground_and_rules():
    space = blocks(tuned=RANGE, paper="", released="")
    everywhere = {name: set(own.protocols.values()) for name, own in space.settings.items()}
    balanced = {"balanced-60-20-20"}
    assert everywhere == {"tuned": {"random-60-20-20"}, "paper": balanced, "released": balanced}
    for name, own in space.settings.items():
        select = "accuracy" if name == "tuned" else "loss"
        assert own.training == TrainingRules(1000, 100, 50, select, "adam", "patience")
        assert own.search == SearchRules(16, 9, 3, "tpe", True, small_repeats=27)
        assert (own.finals, own.precision, own.ablation) == (20, None, True)
        assert own.preprocessing == "undirected"


def test_a_file_with_a_protocol_at_the_top_means_what_it_always_meant():
    text = f"{HEAD}protocol: balanced-60-20-20\npreprocessing: released\nsettings:\n"
    space = parse(f"{text}  tuned: {{{RANGE}}}\n  paper: {{}}\n")
    for own in space.settings.values():
        assert set(own.protocols.values()) == {"balanced-60-20-20"}
        assert own.preprocessing == "released"
        assert own.training.select == "loss"
        assert own.search == SearchRules(16, 9, 3, "tpe", True)
        assert own.finals == 10
    assert {study.rules.repeats for study in plan(space).studies} == {9}


def test_rules_at_the_top_hold_for_all_blocks_that_do_not_change_them():
    top = f"{HEAD}training: {{select: loss, patience: 7}}\nsearch: {{repeats: 3}}\nfinals: 5\n"
    space = blocks(top, tuned="", paper="training: {select: accuracy}, finals: 50")
    tuned, paper = space.settings["tuned"], space.settings["paper"]
    assert (tuned.training.select, paper.training.select) == ("loss", "accuracy")
    assert (tuned.training.patience, paper.training.patience) == (7, 7)
    assert tuned.search == paper.search == SearchRules(repeats=3)
    assert (tuned.finals, paper.finals) == (5, 50)


# Ground


def test_every_block_has_its_own_protocol_and_preprocessing():
    space = blocks(
        tuned="protocol: {cora: planetoid, texas: geom-gcn}",
        released="protocol: random-60-20-20, preprocessing: released",
    )
    assert space.settings["tuned"].protocols == {"cora": "planetoid", "texas": "geom-gcn"}
    assert space.protocols == space.settings["tuned"].protocols
    assert space.settings["released"].preprocessing == "released"
    for settings, protocol, kept in (
        ("tuned", "planetoid", "undirected"),
        ("released", "random-60-20-20", "released"),
    ):
        chosen = plan(space, settings=settings)
        assert chosen.studies[0].columns.protocol == protocol
        assert chosen.settings.preprocessing == kept
    chosen = plan(space, protocol="balanced-60-20-20")
    assert {study.columns.protocol for study in chosen.studies} == {"balanced-60-20-20"}


def test_a_graph_beyond_the_space_takes_the_protocol_of_its_block():
    space = blocks(tuned="", paper="", released="protocol: {cora: planetoid, texas: geom-gcn}")
    for settings, protocol in (("tuned", "random-60-20-20"), ("paper", "balanced-60-20-20")):
        (study, _) = plan(space, settings=settings, graphs=("actor",)).studies
        assert study.columns.protocol == protocol
    with pytest.raises(ParameterError, match="names no protocol for it"):
        plan(space, settings="released", graphs=("actor",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("protocol: balanced", "4: settings.tuned.protocol: unknown protocol 'balanced'."),
        ("protocol: planetoid", "4: settings.tuned.protocol: protocol planetoid is not defined"),
        ("protocol: {cora: planetoid}", "4: settings.tuned.protocol: texas has no protocol."),
        ("preprocessing: directed", "4: settings.tuned.preprocessing: unknown preprocessing"),
        ("ablation: 1", "4: settings.tuned.ablation: true or false is needed, got '1'."),
    ],
)
def test_a_wrong_ground_is_refused_with_its_place(text, expected):
    assert refusal(tuned=text).startswith(f"mine.yaml:{expected}")


def test_a_binary_graph_needs_a_protocol_where_the_usual_one_is_balanced():
    head = "graphs: [minesweeper]\nmethods: [gcn]\n"
    assert blocks(head, tuned="").protocols == {"minesweeper": "random-60-20-20"}
    with pytest.raises(SpaceError, match=r"mine.yaml:5: settings.paper: minesweeper has no prot"):
        blocks(head, tuned="", paper="")
    blocks(head, tuned="", paper="protocol: fixed-10")


def test_a_ground_stands_in_one_place():
    text = f"{HEAD}protocol: geom-gcn\nsettings: {{tuned: {{protocol: random-60-20-20}}}}\n"
    with pytest.raises(SpaceError, match=r"mine.yaml:4: settings.tuned.protocol: `protocol` sta"):
        parse(text.replace("cora, ", ""))
    with pytest.raises(SpaceError, match=r"mine.yaml:3: preprocessing: it belongs to a block"):
        blocks(f"{HEAD}preprocessing: released\n", tuned="")


# Repeats


def repeats(space, **options) -> dict[str, tuple[int, tuple[int, ...]]]:
    """By graph, repeats and rungs of its studies in the manifest."""
    found = {study.planned.graph: study.planned for study in plan(space, **options).studies}
    return {graph: (own.repeats, own.rungs) for graph, own in found.items()}


def test_small_graphs_have_27_repeats_unless_a_number_is_named():
    usual = {"cora": (9, (1, 3, 9)), "texas": (27, (1, 3, 9, 27))}
    assert repeats(blocks(tuned=RANGE)) == usual
    nine = dict.fromkeys(usual, (9, (1, 3, 9)))
    assert repeats(blocks(tuned=f"search: {{repeats: 9}}, {RANGE}")) == nine
    assert repeats(blocks(f"{HEAD}search: {{repeats: 9}}\n", tuned=RANGE)) == nine
    assert repeats(blocks(tuned=RANGE), repeats=9) == nine
    assert repeats(blocks(tuned=f"search: {{trials: 4}}, {RANGE}")) == usual
    # 999 nodes and 1,000: csbm graphs have 600, chameleon-filtered 890, cora 2,708.
    space = blocks("graphs: [chameleon-filtered, actor]\nmethods: [gcn]\n", tuned=RANGE)
    assert {graph: own[0] for graph, own in repeats(space).items()} == {
        "chameleon-filtered": 27,
        "actor": 9,
    }


def test_trainings_are_counted_with_the_repeats_of_each_graph():
    space = blocks(tuned=RANGE)
    gcn, clar = 16 * 9 + 16 * 27 + 2 * 20, 16 * 9 + 16 * 27 + 2 * 5 * 20
    assert space.most_trainings("tuned") == gcn + clar
    studies = plan(space).studies
    assert sum(study.most_repeats + study.most_finals for study in studies) == gcn + clar


# Finals and margin


def test_finals_by_precision_are_given_in_points_and_kept_in_the_units_of_scores():
    space = blocks(tuned=f"finals: {{half_width: 0.4, at_least: 10, at_most: 50}}, {RANGE}")
    rule = Precision(0.4 / 100, 10, 50)
    assert (space.settings["tuned"].precision, space.settings["tuned"].finals) == (rule, 10)
    study = plan(space).studies[1]
    assert (study.finals, study.precision, study.most_finals) == (10, rule, 5 * 50)
    assert study.planned.precision == to_stored(rule)
    assert space.most_trainings("tuned") == 2 * 16 * (9 + 27) + 2 * (50 + 5 * 50)
    fixed = plan(space, finals=7).studies[1]
    assert (fixed.finals, fixed.precision, fixed.planned.precision) == (7, None, None)


def test_finals_by_precision_have_usual_ends():
    space = blocks(tuned="finals: {half_width: 1}")
    assert space.settings["tuned"].precision == Precision(0.01, 20, 100)
    both = blocks(f"{HEAD}finals: {{half_width: 1}}\n", tuned="", paper="finals: 50")
    assert (both.settings["paper"].finals, both.settings["paper"].precision) == (50, None)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("{at_least: 5}", "finals", "`half_width` is missing"),
        ("{half_width: 0}", "finals.half_width", "points above 0 and up to 100 are needed, got 0"),
        ("{half_width: 101}", "finals.half_width", "points above 0 and up to 100"),
        ("{half_width: a}", "finals.half_width", "a number is needed, got 'a'"),
        ("{half_width: 1, at_least: 1}", "finals.at_least", "a whole number from 2 on is needed"),
        ("{half_width: 1, at_most: 1.5}", "finals.at_most", "a whole number from 2 on is needed"),
        ("{half_width: 1, at_least: 101}", "finals", "at_least 101 is above at_most 100"),
        ("{half_width: 1, at_most: 1000001}", "finals.at_most", "from 2 to 1000000 is needed"),
        ("{width: 1}", "finals.width", "Did you mean 'half_width'?"),
        ("0", "finals", "a whole number from 1 on is needed, got 0"),
    ],
)
def test_wrong_finals_are_refused_with_their_place(text, place, message):
    problem = refusal(tuned=f"finals: {text}")
    assert problem.startswith(f"mine.yaml:4: settings.tuned.{place}: ")
    assert message in problem


def test_bounds_count_the_most_finals():
    with pytest.raises(SpaceError, match="trainings if nothing is pruned"):
        blocks(
            HEAD + "conditions: [{sweep: {hidden: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}}]\n",
            tuned="finals: {half_width: 1, at_most: 1000000}",
        )


def test_the_margin_of_a_space_is_given_in_points():
    assert blocks(f"{HEAD}margin: 0.5\n", tuned="").margin == 0.005
    assert blocks(tuned="").margin == 0.01
    for given in ("0", "-1", "101", "null", "big"):
        with pytest.raises(SpaceError, match=r"^mine.yaml:3: margin: .* needed, got"):
            blocks(f"{HEAD}margin: {given}\n", tuned="")


# Arms


def test_a_space_may_spare_arms_as_a_command_may():
    space = blocks(tuned="", paper="ablation: false")
    assert plan(space).studies[1].arms == ("off", "cross", "nl", "any")
    assert plan(space, ablation=False).studies[1].arms == ()
    assert plan(space, settings="paper").studies[1].arms == ()
    assert space.most_trainings("paper") == 4 * 20
    assert space.most_trainings("tuned") == 2 * (1 + 5) * 20


# Levels of graphs


PUBLISHED = "shared: {lr: 0.01, dropout: 0.1}, methods: {gcn+clar: {lr: 0.02}}, "


def values(space, method, graph) -> dict[str, object]:
    found = space.parameters("tuned", method, {}, graph)
    return {p.name: getattr(p.domain, "value", p.domain) for p in found}


def test_what_is_said_of_a_graph_is_the_last_word():
    space = blocks(tuned=PUBLISHED + "graphs: {texas: {lr: 0.05, alpha: {choices: [0, 1]}}}")
    assert values(space, CLAR, "cora") == {"lr": 0.02, "dropout": 0.1}
    assert values(space, CLAR, None) == values(space, CLAR, "cora")
    own = {"lr": 0.05, "dropout": 0.1, "alpha": Choice((0, 1))}
    assert values(space, CLAR, "texas") == own
    assert values(space, GCN, "texas") == {"lr": 0.05, "dropout": 0.1}
    chosen = {s.name: s.parameters for s in plan(space).studies}
    assert chosen["texas gcn+clar"].count == 2 and chosen["cora gcn+clar"].count == 1
    assert chosen["cora gcn"] != chosen["texas gcn"]


def test_a_condition_stands_above_what_is_said_of_a_graph():
    space = blocks(
        f"{HEAD}conditions: [{{sweep: {{lr: [0.3]}}}}]\n", tuned="graphs: {texas: {lr: 0.05}}"
    )
    (lr,) = space.parameters("tuned", GCN, {"lr": 0.3}, "texas")
    assert lr.domain == Fixed(0.3)


def test_a_method_may_have_a_last_word_on_a_graph():
    text = "graphs: {texas: {lr: 0.05, methods: {gcn+clar: {lr: 0.07, alpha: 1}}}}"
    space = blocks(tuned=PUBLISHED + text)
    assert values(space, CLAR, "texas") == {"lr": 0.07, "dropout": 0.1, "alpha": 1}
    assert values(space, GCN, "texas") == {"lr": 0.05, "dropout": 0.1}
    assert values(space, CLAR, "cora") == {"lr": 0.02, "dropout": 0.1}
    assert all(not study.has_search for study in plan(space).studies)


def test_graphs_beyond_the_space_may_have_their_word_too():
    space = blocks(tuned="graphs: {actor: {lr: 0.05}}")
    (study, _) = plan(space, graphs=("actor",)).studies
    assert study.parameters.at([]) == {"lr": 0.05}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("graphs: {texsa: {lr: 1}}", "graphs.texsa: unknown key 'texsa'. Did you mean 'texas'?"),
        ("graphs: {texas: {lrr: 1}}", "graphs.texas.lrr: unknown parameter 'lrr'. Did you mean"),
        ("graphs: {texas: {dropout: 1}}", "graphs.texas.dropout: gcn refuses dropout=1"),
        ("graphs: {texas: {lr: {low: 2, high: 1}}}", "graphs.texas.lr: the range 2 to 1 is emp"),
        (
            "graphs: {texas: {methods: {gcn+carl: {alpha: 1}}}}",
            "graphs.texas.methods.gcn+carl: unknown key 'gcn+carl'. Did you mean 'gcn+clar'?",
        ),
        (
            "graphs: {texas: {methods: {gcn: {alpha: 1}}}}",
            "graphs.texas.methods.gcn.alpha: unknown parameter of gcn 'alpha'",
        ),
        (
            "graphs: {texas: {methods: {gcn+clar: {samples: 0}}}}",
            "graphs.texas.methods.gcn+clar.samples: gcn+clar refuses samples=0",
        ),
        (
            "graphs: {texas: {lr: {value: 1, when: {hidden: 2}}}}",
            "graphs.texas.lr: unknown parameter given to gcn 'hidden'",
        ),
    ],
)
def test_wrong_words_on_a_graph_are_refused_with_their_place(text, expected):
    assert refusal(tuned=text).startswith(f"mine.yaml:4: settings.tuned.{expected}")


# Regularizers that only a command names


def test_a_regularizer_may_be_given_ranges_for_commands_that_name_it():
    space = blocks(tuned="regularizers: {prior: {}, preg: {weight: {choices: [0, 1]}}}")
    studies = plan(space, methods=("gcn", "gcn+prior", "gcn+preg")).studies[:3]
    assert [study.parameters.count for study in studies] == [1, 1, 2]
    assert studies[1].arms == ("off", "cross")
    with pytest.raises(ParameterError, match="says nothing on seen"):
        plan(space, methods=("gcn+seen",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{pregg: {}}", "regularizers.pregg: unknown key 'pregg'. Did you mean 'preg'?"),
        ("{preg: {wait: 1}}", "regularizers.preg.wait: unknown parameter of gcn+preg 'wait'."),
        ("{preg: {form: round}}", "regularizers.preg.form: gcn+preg refuses form='round'"),
    ],
)
def test_ranges_of_such_a_regularizer_are_checked_too(text, expected):
    problem = refusal(tuned=f"regularizers: {text}")
    assert problem.startswith(f"mine.yaml:4: settings.tuned.{expected}")


def test_settings_that_a_space_lacks_are_refused():
    with pytest.raises(UnknownName, match="unknown settings of mine 'released'"):
        plan(blocks(tuned=""), settings="released")


# In print


def test_spaces_show_the_ground_and_the_words_on_graphs(tmp_path):
    file = tmp_path / "mine.yaml"
    text = f"{HEAD}margin: 2\nsettings:\n  tuned: {{{RANGE}}}\n"
    file.write_text(f"{text}  released: {{preprocessing: released, graphs: {{texas: {{lr: 1}}}}}}")
    shown = CliRunner().invoke(main, ["spaces", "show", str(file)]).stdout
    assert "random-60-20-20: cora, texas\nedges: undirected\n" in shown
    assert "balanced-60-20-20: cora, texas\nedges: released\n" in shown
    assert "margin: 2 of 100 points" in shown
    assert [line.split() for line in shown.splitlines() if line.startswith(" lr ")] == [
        *(["lr", "0.001", "to", "0.1,", "log", "all"],),
        *(["lr", "1", "all", "on", "texas"],),
    ]
    printed = CliRunner().invoke(main, ["spaces", "show", str(file), "--json"]).stdout
    found = json.loads(printed)
    assert found["margin"] == 0.02
    assert found["protocols"] == dict.fromkeys(("cora", "texas"), "random-60-20-20")
    released = found["settings"]["released"]
    assert released["preprocessing"] == "released"
    assert released["graphs"] == {"texas": {"lr": {"value": 1, "when": {}}}}
    assert found["settings"]["tuned"]["search"]["small_repeats"] == 27
