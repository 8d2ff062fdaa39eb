"""What can and what cannot be concluded from a table, in sentences."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis.layout import Place, split_label, whole_condition
from clar_tune.analysis.records import Across, Contrast, Correlation, PairAcross, Score
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.scores import COMPLEMENT, WEIGHTS
from clar_tune.analysis.statistics import ENOUGH_UNITS, LEVEL, least_p
from clar_tune.analysis.wording import counted, place, probability, some
from clar_tune.metric import metric_named
from clar_tune.rows import environments

INACTIVE = 0.05
"""A penalty with a gradient in a smaller share of epochs hardly took part."""
FEW_PAIRS = 0.01
"""A smaller share of all pairs of nodes is hardly any."""


def conclusions_of(
    runs: Sequence[RunView],
    places: Sequence[Place],
    scores: Sequence[Score],
    contrasts: Sequence[Contrast],
    correlations: Sequence[Correlation],
    across: Across,
) -> Iterator[str]:
    """One sentence each; ``places`` are all that the runs set out to fill."""
    yield from correlation_sentences(correlations)
    yield from verdict_sentences(contrasts)
    yield from _idle(scores)
    yield from _remote(scores)
    yield from _budgets(scores)
    yield from _unfinished(places, scores)
    yield from _versions(runs)
    generated = {name for run in runs for name, own in run.row.graphs.items() if own.generated}
    if scores and all(score.graph in generated for score in scores):
        yield "Generated graphs only: nothing follows for real ones."
    if across.reason:
        yield f"No test across graphs: {across.reason}"
    else:
        yield from _across(across)


def _idle(scores: Sequence[Score]) -> Iterator[str]:
    chosen = [score for score in scores if not _fixes_weights(score)]
    off = [score for score in chosen if score.weightless]
    if off:
        yield (
            f"Validation chose weight 0, the plain backbone, for {some(map(_name, off))}: "
            "what differs there is no effect of the penalty."
        )
    half = [score for score in chosen if score.without_complement]
    if half:
        yield (
            f"Validation chose {COMPLEMENT} 0, which is nl, for {some(map(_name, half))}: what "
            "differs there is no effect of the complement."
        )
    idle = [
        f"{_name(score)} ({100 * score.penalty_active:.1f} %)"
        for score in scores
        if score.penalty_active is not None
        and score.penalty_active < INACTIVE
        and not score.weightless
    ]
    if idle:
        yield (
            f"The penalty had a gradient in hardly any epoch of {some(idle)}: it stood above its "
            "clamp or was zero. Where it never had one, the backbone alone was trained."
        )


def _remote(scores: Sequence[Score]) -> Iterator[str]:
    few = {
        score.graph: f"{score.graph} ({100 * score.remote_share:.2g} %)"
        for score in scores
        if score.remote_share is not None and score.remote_share < FEW_PAIRS
    }
    if few:
        yield (
            f"madreg sets remote against near pairs, and hardly any pair of nodes is remote on "
            f"{some(few.values())}."
        )


def _fixes_weights(score: Score) -> bool:
    """Whether the condition, and not validation, says what the weights are."""
    given = whole_condition((score.graph, score.condition, score.method))
    return any(weight in given for weight in WEIGHTS)


def _budgets(scores: Sequence[Score]) -> Iterator[str]:
    for graph in dict.fromkeys(score.graph for score in scores):
        own = [score for score in scores if score.graph == graph]
        trials = {score.budget.trials for score in own}
        finals = {score.budget.finals for score in own}
        if len(trials) > 1 or len(finals) > 1:
            parts = [f"{s.method} {s.budget.trials} trials, {s.budget.finals} finals" for s in own]
            yield f"Unequal budgets on {graph}: {some(parts)}."
    short = [_name(score) for score in scores if not score.full]
    if short:
        yield (
            f"No trial of {some(short)} had all repeats: the winner comes from the highest rung."
        )


def _unfinished(places: Sequence[Place], scores: Sequence[Score]) -> Iterator[str]:
    done = {(score.graph, score.condition, score.method) for score in scores}
    missing = sorted(set(places) - done)
    if missing:
        names = [f"{method} on {place(graph, condition)}" for graph, condition, method in missing]
        yield (
            f"No finals yet for {len(missing)} of {counted(len(places), 'study', 'studies')}: "
            f"{some(names)}."
        )


def _versions(runs: Sequence[RunView]) -> Iterator[str]:
    found: dict[str, dict[str, None]] = {}
    for environment in (each for run in runs for each in environments(run.row)):
        for name, version in environment.versions.items():
            found.setdefault(name, {})[str(version)] = None
    mixed = [f"{name} {' and '.join(kinds)}" for name, kinds in found.items() if len(kinds) > 1]
    if mixed:
        yield f"Mixed versions: {some(mixed)}. Differences may come from them."


def _across(across: Across) -> Iterator[str]:
    over = counted(len(across.graphs), "distinct graph")
    if across.friedman is not None:
        yield (
            f"Over {over} Friedman's test (Iman-Davenport) gives {probability(across.friedman)}: "
            f"the methods {'differ' if across.friedman < LEVEL else 'are not told apart'}."
        )
    for kind, pairs in (("planned comparisons", across.planned), ("all pairs", across.pairs)):
        if pairs:
            apart = [_ahead(pair) for pair in pairs if pair.p_holm < LEVEL]
            listed = f": {some(apart)}" if apart else ""
            yield (
                f"Wilcoxon's test with Holm's correction over {over}, {kind}: {len(apart)} of "
                f"{len(pairs)} told apart{listed}{_hopeless(across, len(pairs))}."
            )


def _ahead(pair: PairAcross) -> str:
    """``the better over the worse``."""
    worse = pair.method if pair.ahead == pair.against else pair.against
    return f"{pair.ahead} over {worse}"


def _hopeless(across: Across, pairs: int) -> str:
    least = least_p(len(across.graphs)) * pairs
    if least < LEVEL:
        return ""
    return f"; none could be: p_holm of {pairs} is at least {min(least, 1.0):.2g} here"


def _name(score: Score) -> str:
    return f"{score.method} on {place(score.graph, score.condition)}"


def verdict_sentences(contrasts: Sequence[Contrast]) -> Iterator[str]:
    """One for each regularizer, one for the rivals of clar, and what stays open."""
    plain = [contrast for contrast in contrasts if not contrast.rival]
    for regularizer in dict.fromkeys(map(_regularizer, plain)):
        own = [contrast for contrast in plain if _regularizer(contrast) == regularizer]
        yield from _tally(f"{regularizer} against its backbone", own)
    yield from _tally("clar against rivals", [c for c in contrasts if c.rival])
    yield from _too_few_finals([c for c in contrasts if c.reason == "finals"])
    yield from _too_few_searches([c for c in contrasts if c.reason == "searches"])
    yield from _without_spread([c for c in contrasts if c.reason == "spread"])


def _regularizer(contrast: Contrast) -> str:
    """Its name, with what makes its column: ``clar clamp=10``."""
    method, condition = split_label(contrast.method)
    return f"{method.partition('+')[2]} {condition}".strip()


def _tally(what: str, contrasts: Sequence[Contrast]) -> Iterator[str]:
    judged = [contrast for contrast in contrasts if contrast.verdict != "none"]
    if not judged:
        return
    better = [contrast for contrast in judged if contrast.verdict == "better"]
    worse = [contrast for contrast in judged if contrast.verdict == "worse"]
    undecided = [contrast for contrast in judged if contrast.verdict == "undecided"]
    yield (
        f"{what}, {counted(len(judged), 'comparison')}: better in {len(better)}{_listed(better)}, "
        f"worse in {len(worse)}{_listed(worse)}, undecided in {len(undecided)}"
        f"{_detectable(undecided)}."
    )


def _detectable(undecided: Sequence[Contrast]) -> str:
    """Undecided is not equal: what could have been found."""
    sizes = sorted(contrast.detectable for contrast in undecided if contrast.detectable)
    if not sizes:
        return ""
    middle = sizes[len(sizes) // 2]
    errors = any(contrast.ratio is not None for contrast in undecided)
    points = f"{100 * middle:.2g}" if middle < 0.1 else f"{100 * middle:.0f}"
    size = f"{middle:.2g}" if errors else f"{points} points"
    subject, more = ("half of them", " or more") if len(sizes) > 1 else ("it", "")
    return (
        f" (which is not equal: {subject} would need a true gain of {size}{more} to be found with "
        "a chance of 80 %)"
    )


def _listed(contrasts: Sequence[Contrast]) -> str:
    return f" ({some(map(_compared, contrasts))})" if contrasts else ""


def _compared(contrast: Contrast) -> str:
    over = f" over {contrast.against}" if contrast.rival else ""
    return f"{contrast.method}{over} on {place(contrast.graph, contrast.condition)}"


def _too_few_finals(few: Sequence[Contrast]) -> Iterator[str]:
    if few:
        yield (
            f"Too few finals for a verdict in {counted(len(few), 'comparison')} "
            f"({counted(min(contrast.units for contrast in few), 'pair')}, {ENOUGH_UNITS} "
            "needed): `clar-tune extend RUN --finals +N` adds some."
        )


def _too_few_searches(few: Sequence[Contrast]) -> Iterator[str]:
    if few:
        yield (
            f"No verdict in {counted(len(few), 'comparison')}: verdicts about searches need "
            f"{ENOUGH_UNITS} of them (--searches {ENOUGH_UNITS}), and there are "
            f"{max(contrast.units for contrast in few)}. The finals of one search (--searches 1) "
            "judge its configuration."
        )


def _without_spread(equal: Sequence[Contrast]) -> Iterator[str]:
    if equal:
        yield (
            f"No test in {counted(len(equal), 'comparison')}{_listed(equal)}: the gain is the "
            "same in every pair, and without any spread there is nothing to test it against."
        )


def correlation_sentences(correlations: Sequence[Correlation]) -> Iterator[str]:
    """What the coefficients say, and how often there is none."""
    found = [c for c in correlations if c.coefficient is not None]
    yield from _spearman([c for c in found if c.kind == "spearman"])
    pearson = [c for c in found if c.kind == "pearson"]
    for values in dict.fromkeys(c.values for c in pearson):
        yield from _pearson([c for c in pearson if c.values == values])
    constant = [_correlated(c) for c in correlations if c.coefficient is None]
    if constant:
        yield f"No coefficient for {', '.join(constant)}: the scores there do not vary."


def _spearman(found: Sequence[Correlation]) -> Iterator[str]:
    if not found:
        return
    apart = [c for c in found if c.low is not None and c.high is not None and c.low * c.high > 0]
    listed = (
        f" ({', '.join(f'{_correlated(c)} {c.coefficient:+.2f}' for c in apart)})" if apart else ""
    )
    yield (
        f"Score and {found[0].key} go together in {len(apart)} of {len(found)} cases{listed}: "
        "there the interval of Spearman's coefficient excludes 0, as it does once in 20 by chance."
    )


def _pearson(found: Sequence[Correlation]) -> Iterator[str]:
    first, second = (f"{found[0].key}={value}" for value in found[0].values)
    coefficients = [c.coefficient for c in found if c.coefficient is not None]
    yield (
        f"Scores under {first} and {second}: Pearson's coefficient is {_span(coefficients)} in "
        f"{len(found)} case{'s' * (len(found) != 1)}; {second} less {first}: "
        f"{', '.join(map(_gap, found))}."
    )
    same = [c for c in found if c.identical]
    if same:
        apart = [c.apart for c in same if c.apart is not None]
        yield (
            f"{_span([c.identical for c in same])} of {max(c.pairs for c in same)} cells are the "
            f"very same trainings under {first} and {second}, which raises the coefficient"
            f"{f'; it is {_span(apart)} without them' if apart else ''}."
        )


def _span(values: Sequence[float]) -> str:
    """``0.81`` or ``0.81 to 0.99``."""
    ends = [f"{v:.2f}" if isinstance(v, float) else str(v) for v in (min(values), max(values))]
    return " to ".join(dict.fromkeys(ends))


def _gap(found: Correlation) -> str:
    percent = metric_named(found.metric).percent
    scale, form, unit = (100, "+z.2f", " points") if percent else (1, "+z.3g", "")
    half = "" if found.gap_half is None else f" ± {format(scale * found.gap_half, form[1:])}"
    return f"{format(scale * (found.gap or 0.0), form)}{half}{unit} on {found.graph}"


def _correlated(found: Correlation) -> str:
    place = f"{found.graph} ({found.condition})" if found.condition else found.graph
    return f"{found.method} on {place}"
