"""A run whose every text tries to break a page."""

from dataclasses import replace

from support.results import finished, replanned

from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.records import to_stored

HACK = "window.hacked = 1"
SCRIPT = f"<script>{HACK}</script>"
IMAGE = f'"><img src=x onerror="{HACK}">'
CLOSING = f"</script><script>{HACK}</script>"
QUOTES = """'"`${7*7}`{{7*7}}{% raw %}<!--]]>&lt;&amp;"""
EMOJI = "🧪\u202e\u2028 ñ 漢字"
LONG = "x" * 10_000
TEXTS = (SCRIPT, IMAGE, CLOSING, QUOTES, EMOJI)
METHOD = f"my_pkg.mod:{IMAGE}{SCRIPT}+nl"
ERROR = f"{CLOSING}{QUOTES}{EMOJI}\n{SCRIPT}\n{LONG}"


def hostile() -> RunView:
    """Texts that a store could hold if someone wrote them there."""
    run = finished()
    row = replace(
        run.row,
        space=f"{SCRIPT}{QUOTES}",
        space_text=f"description: {CLOSING}{QUOTES}\n{SCRIPT}{EMOJI}{LONG}",
        versions={SCRIPT: IMAGE},
        machine={"host": f"{CLOSING}{LONG}"},
        studies=(),
    )
    studies = tuple(map(_study, run.studies))
    row = replace(row, study_plans=[to_stored(study.planned) for study in studies])
    return RunView(f"{SCRIPT}{IMAGE}{LONG}{EMOJI}", row, studies)


def _study(study: StudyView) -> StudyView:
    if study.method != "gcn+nl":
        return study
    params = {IMAGE: SCRIPT, CLOSING: 1}
    trials = tuple(
        replace(
            trial,
            method=METHOD,
            error=trial.error and ERROR,
            params={**trial.params, **params},
            notes=(f"retried: {IMAGE}",),
        )
        for trial in study.trials
    )
    finals = tuple(replace(final, facts={IMAGE: 1.0}) for final in study.finals)
    return replanned(
        replace(study, trials=trials, finals=finals), method=METHOD, condition=f"a={QUOTES}"
    )
