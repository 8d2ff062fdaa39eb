"""Where along a sweep each penalty changes the score: every cell, in one conclusion."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis import effect_sentences as of_effects
from clar_tune.analysis.effect_records import PenaltyEffect
from clar_tune.analysis.listing import by_method
from clar_tune.analysis.records import Row
from clar_tune.analysis.verdicts import VERDICTS


def swept_effects(
    effects: Sequence[PenaltyEffect], rows: Sequence[Row], *, searched: bool
) -> Iterator[str]:
    """Decided or not; what is not says what would decide it."""
    metrics = of_effects.metrics_of(rows)
    sizes = {(row.graph, row.condition): row.test_nodes for row in rows}
    words = {word: word for word in VERDICTS}
    words |= {"equal": of_effects.equal_within(effects, metrics), "none": "no result"}

    def told(effect: PenaltyEffect) -> str:
        if effect.effect is None or effect.verdict == "unused":
            return ""
        if effect.is_identical:
            return "identical finals"
        parts = [of_effects.number_of(effect, metrics)]
        if effect.small:
            parts.append(of_effects.by_less(effect, metrics))
        if effect.verdict == "undecided":
            size = sizes[effect.graph, effect.condition]
            parts.append(of_effects.what_decides(effect, size))
        return "; ".join(parts)

    if effects:
        ordered = of_effects.champion_first(effects)
        listed = by_method(ordered, lambda effect: effect.verdict, told, words)
        changes = of_effects.on_changes(effects, searched=searched)
        yield f"{changes} {of_effects.what_changes(effects, metrics)}. {listed}."
