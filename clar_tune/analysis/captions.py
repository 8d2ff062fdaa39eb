"""How to read the numbers of a table, in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clar_tune.analysis.budgets import finals_told, repeats_told
from clar_tune.analysis.effect_captions import effect_captions
from clar_tune.analysis.effect_records import SPLITS, PenaltyEffect
from clar_tune.analysis.exchange_captions import exchange_captions
from clar_tune.analysis.families import Judging
from clar_tune.analysis.records import MUCH_SHIFT, Correlation, Row, Score
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.wording import place
from clar_tune.conditions import parts_of
from clar_tune.graphs import PROTOCOLS, VARIANTS
from clar_tune.metric import metric_named
from clar_tune.paper import printed_in
from clar_tune.rows import PlannedStudy


class Captioned(NamedTuple):
    """What a caption is about."""

    runs: Sequence[RunView]
    rows: Sequence[Row]
    scores: Sequence[Score]
    effects: Sequence[PenaltyEffect]
    correlations: Sequence[Correlation]
    table: str | None
    """The paper's, if any of its numbers are shown."""

    @property
    def searched(self) -> bool:
        """Whether anything was searched."""
        return any(score.budget.repeats for score in self.scores)


def caption_of(shown: Captioned, judging: Judging, interval: str = SPLITS) -> Iterator[str]:
    """One sentence each."""
    runs, rows, budget = shown.runs, shown.rows, shown.runs[0].budget
    planned = [study for run in runs for study in run.row.planned]
    yield _budget(budget, planned, shown.searched)
    yield from exchange_captions(runs)
    yield from _parts(runs)
    yield from _splits(rows)
    yield from _shifts(rows)
    yield from _intervals(rows, budget["searches"], interval, outer=_outer(runs))
    yield from _test_nodes(runs, rows, shown.searched)
    yield from _variants(rows)
    yield from _correlations(shown.correlations)
    yield from _floors(rows)
    percent = all(metric_named(row.metric).percent for row in rows)
    yield from effect_captions(
        shown.effects, judging, outer=_outer(runs), percent=percent, searched=shown.searched
    )
    if shown.table:
        yield f"Paper: {printed_in(shown.table)}"
    if shown.searched and budget["searches"] == 1:
        yield (
            "Tuned gains and backbones: winners of one search each side by side, a description: "
            "luck of the search is in them. --searches repeats the search itself."
        )
    yield from _notes(rows)


def _outer(runs: Sequence[RunView]) -> bool:
    return bool(runs[0].options.get("outer_test"))


def _floors(rows: Sequence[Row]) -> Iterator[str]:
    if any(row.floor is not None for row in rows):
        yield (
            "constant: the floor, what a constant answer scores on the same test nodes (the most "
            "frequent class of the validation nodes; 0.5 for ROC AUC; the mean of the training "
            "targets for errors; of balanced accuracy 1 / classes among the test nodes). A score "
            "is above it if the 95 % interval of the paired difference is."
        )


def _budget(budget: Mapping[str, Any], planned: Sequence[PlannedStudy], searched: bool) -> str:
    epochs = f"epochs selected by validation {budget['select']}."
    finals = finals_told(budget)
    if not searched:
        return f"Nothing is searched: every study has {finals}; {epochs}"
    rung = f" by successive halving ({budget['reduction']})" if budget["pruning"] else " of all"
    usual, others = repeats_told(budget, planned)
    repeats = ("1 repeat" if usual == 1 else f"{usual} repeats{rung}") + others
    searches = f", {budget['searches']} searches" if budget["searches"] > 1 else ""
    return (
        f"Budget of every study: {budget['trials']} trials by {budget['sampler']}, "
        f"{repeats}, {finals}{searches}; {epochs}"
    )


def _parts(runs: Sequence[RunView]) -> Iterator[str]:
    """What the command of a run took, if not all that its space names."""
    for run in runs:
        taken = {key: run.options.get(key) for key in ("graphs", "methods", "conditions")}
        named = [f"{key} {', '.join(values)}" for key, values in taken.items() if values]
        if named:
            yield f"Chosen by the command of {run.name}, not by its space: {'; '.join(named)}."


def _splits(rows: Sequence[Row]) -> Iterator[str]:
    """How the nodes of each graph are divided, protocol by protocol."""
    for protocol in dict.fromkeys(row.protocol for row in rows):
        sizes = dict.fromkeys(
            f"{row.graph} {row.train_nodes}/{row.val_nodes}/{row.test_nodes}"
            for row in rows
            if row.protocol == protocol
        )
        yield (
            f"{protocol} ({PROTOCOLS[protocol].definition}), nodes that train/validate/test: "
            f"{', '.join(sizes)}."
        )


def _shifts(rows: Sequence[Row]) -> Iterator[str]:
    """Rows of each protocol whose test nodes have other class shares than their training nodes."""
    much = [row for row in rows if row.shift is not None and row.shift > MUCH_SHIFT]
    for protocol in dict.fromkeys(row.protocol for row in much):
        own = [row for row in much if row.protocol == protocol]
        chance = ", by chance" if PROTOCOLS[protocol].uniform else ""
        yield (
            f"{protocol}: label shift (total variation between the class shares of training and "
            f"test nodes) over {MUCH_SHIFT:g}{chance} on "
            f"{', '.join(f'{place(row.graph, row.condition)} {row.shift:.2f}' for row in own)}."
        )


def _intervals(rows: Sequence[Row], searches: int, interval: str, *, outer: bool) -> Iterator[str]:
    """What one unit is, and what intervals and tests are conditional on."""
    scope = "this test set, new training splits" if outer else "this graph, new splits"
    kinds = {protocol: PROTOCOLS[protocol] for protocol in dict.fromkeys(r.protocol for r in rows)}
    units = {kind.units for kind in kinds.values()}
    corrected = "" if interval == SPLITS else "; widened for new data, whose splits share no nodes"
    seeds = "" if searches > 1 else "interval and test over seeds"
    if searches > 1:
        yield (
            f"±: 95 % interval over {searches} searches, each of which is one unit: its finals "
            f"are averaged first{f'{corrected} (Nadeau-Bengio)' * bool(corrected)}."
        )
    elif "split" in units:
        what = f"{corrected} (Nadeau-Bengio)" if corrected else f": {scope}"
        yield (
            "±: 95 % interval over finals on fresh splits, each of which is one unit (Student's "
            f"t){what}."
        )
    if "file" in units and searches == 1:
        yield (
            "Several split files: each is one unit, seeds are averaged within it; more finals add "
            "seeds, not splits."
        )
    if any(kind.units == "seed" and kind.held_out for kind in kinds.values()):
        yield f"Fixed split: {seeds or 'interval and test'}, conditional on the split."
    if not all(kind.held_out for kind in kinds.values()):
        yield (
            "No held-out nodes: all nodes train, and the error shown is the one by which epochs "
            f"and configurations were chosen{f'; {seeds}' if seeds else ''}."
        )


def _test_nodes(runs: Sequence[RunView], rows: Sequence[Row], searched: bool) -> Iterator[str]:
    share = runs[0].options.get("outer_test")
    if share:
        yield (
            f"Tested only on {100 * share:g} % of the nodes, which no search has seen; intervals "
            "are conditional on them."
        )
    elif searched and any(not PROTOCOLS[row.protocol].fixed for row in rows):
        yield (
            "Test nodes of a final may have been validation nodes of the search; --outer-test "
            "keeps some apart."
        )


def _variants(rows: Sequence[Row]) -> Iterator[str]:
    """Keys of conditions that change the graph at random do so once."""
    keys = dict.fromkeys(key for row in rows for key in parts_of(row.condition))
    for key in keys:
        if key in VARIANTS and VARIANTS[key].drawn:
            yield (
                f"{key}: drawn once per search and alike for all methods and finals; intervals "
                "are conditional on it."
            )


def _correlations(correlations: Sequence[Correlation]) -> Iterator[str]:
    kinds = {correlation.kind: correlation.key for correlation in correlations}
    if "spearman" in kinds:
        yield (
            f"Spearman: over all pairs of {kinds['spearman']} and score, one for each final and "
            "value; 95 % interval by a bootstrap that draws whole finals (Student's t on "
            "Fisher's scale)."
        )
    if "pearson" in kinds:
        yield (
            f"Pearson: over the mean scores of all cells under two values of {kinds['pearson']}; "
            "Fisher's 95 % interval, which takes cells for independent though they share splits "
            "and seeds."
        )


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    noted = {
        note: [r.graph for r in rows if note in r.notes] for row in rows for note in row.notes
    }
    texts = {
        "leaky": "leaky: duplicated nodes leak from training to test.",
        "same nodes as texas": "its features and labels are those of texas.",
        "synthetic": "synthetic: generated, stands for no real graph.",
    }
    for note, text in texts.items():
        if note in noted:
            yield f"{', '.join(dict.fromkeys(noted[note]))}: {text}"
