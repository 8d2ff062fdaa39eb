"""What stands beside marks: whole, where it can be read, and in words that fit the numbers."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from support.results import SPACE, failing, finished

from clar_tune.analysis.comparison import compare
from clar_tune.records import TermRecord
from clar_tune.report.figures import of_comparison, of_study
from clar_tune.report.figures.files import WIDTH, drawn

SVG = "{http://www.w3.org/2000/svg}"
LETTER = 5.6
"""Pixels of a digit of small text in Arial."""


def always_active(job, index):
    """As ``failing``, but every term has a gradient in every epoch, and a large value."""
    done = failing(job, index)
    if not hasattr(done, "record") or not done.record.terms:
        return done
    terms = {name: TermRecord(value=12345.678, active=1.0) for name in done.record.terms}
    return replace(done, record=replace(done.record, terms=terms, penalty_active=1.0))


def figures_of(train=failing, **options):
    run = finished(SPACE, train, graphs=("texas",), **options)
    return {figure.name: figure for figure in of_comparison(compare([run]), [run])}


def study_of(**options):
    (study,) = finished(graphs=("texas",), methods=("gcn+clar",), **options).studies
    return study


def small_texts(figure):
    """Text, left and right end, and height of all texts of marks."""
    found = []
    for group in ET.fromstring(drawn(figure)).iter(f"{SVG}g"):
        if not group.get("class", "").startswith("mark-text role-mark"):
            continue
        for text in group.iter(f"{SVG}text"):
            x, y = map(float, re.findall(r"-?[\d.]+", text.get("transform"))[:2])
            width = LETTER * len(text.text or "")
            left = x - width if text.get("text-anchor") == "end" else x
            found.append((text.text, left, left + width, y))
    return found


def ticks(figure):
    """Labels of the horizontal axis."""
    for group in ET.fromstring(drawn(figure)).iter(f"{SVG}g"):
        if re.match("X-axis", group.get("aria-label", "")) or "role-axis" in (
            group.get("class", "")
        ):
            labels = group.findall(f".//{SVG}g[@class='mark-text role-axis-label']/{SVG}text")
            if labels and len({label.get("transform").split(",")[1] for label in labels}) == 1:
                return [label.text for label in labels]
    raise AssertionError("no horizontal axis")


def test_a_full_bar_leaves_its_share_and_its_mean_value_apart():
    figure = figures_of(always_active)["penalty"]
    places = small_texts(figure)
    shares = {y: (left, right) for text, left, right, y in places if text == "100"}
    values = {y: (left, right) for text, left, right, y in places if text == "1.23e+4"}
    assert len(shares) == len(values) == len(figure.rows)
    for y, (_, end) in shares.items():
        assert end < values[y][0] and values[y][1] <= WIDTH
    (head,) = [place for place in places if place[0] == "mean value"]
    assert head[2] <= WIDTH


def test_counts_beside_the_longest_bar_are_whole():
    figure = figures_of(methods=("gcn", "gcn+clar"), finals=200)["budget"]
    noted = [place for place in small_texts(figure) if "+" in place[0]]
    assert len(noted) == 2 and all(text.endswith("+ 200") for text, *_ in noted)
    assert all(right <= WIDTH for _, _, right, _ in noted)


@pytest.mark.parametrize("trials", [2, 3, 4, 12])
def test_trials_are_whole_numbers_on_their_axes(trials):
    expected = ticks(figures_of(trials=trials)["expected-texas"])
    assert expected[0] in ("1", "2") and all(label.isdigit() for label in expected)
    history = ticks(of_study(study_of(trials=trials), {})[0])
    assert history[0] == "0" and all(label.isdigit() for label in history)


def test_one_is_not_many():
    found = figures_of(methods=("gcn", "gcn+clar"), trials=1, repeats=1, finals=1)
    assert " 1 comparison: " in found["gains"].text
    assert "gcn 1 trial, 1 repeat, 1 final, " in found["budget"].text
    assert re.search(r"gcn \d\d\.\d\d % with one trial[;.]", found["expected-texas"].text)


@pytest.mark.parametrize("trials", [8, 29, 30])
def test_importances_say_how_little_they_may_tell(trials):
    shown = of_study(study_of(trials=trials), {"lr": 0.7, "alpha": 0.3})
    (figure,) = [figure for figure in shown if figure.kind == "importance"]
    for words in (
        "lr 70 %, alpha 30 %",
        f"{trials} trials are judged, each by its first repeat alone",
        "add up to 100 % even if nothing matters",
    ):
        assert words in figure.text
    assert figure.text.startswith("Too few trials to trust, 30 are needed") == (trials < 30)


def test_few_trials_have_no_importances_and_the_history_says_why():
    figure = of_study(study_of(trials=7), {})[0]
    assert figure.text.endswith(
        "No importances of parameters: 7 trials with a score would show only noise, 8 are needed."
    )
