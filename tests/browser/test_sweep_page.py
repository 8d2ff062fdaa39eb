"""Pages about swept conditions in a browser: drawn in every width and theme, and filtered."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browser import Browser, browsing
from support.browser_pages import CONTRASTS, choose, column, written
from support.sweep_runs import gridded, swept

from clar_tune.report import build_page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("sweeps")
    runs = {
        "depth": swept("depth"),
        "frequency": swept("frequency"),
        "filters": swept("filters"),
        "sampling": gridded(every=4),
    }
    return {
        space: written(folder / f"{space}.html", build_page([run])) for space, run in runs.items()
    }


@pytest.mark.parametrize(
    ("space", "width", "theme"),
    [
        *(("depth", 390, "dark"), ("depth", 1440, "light")),
        *(("frequency", 390, "light"), ("frequency", 1440, "dark")),
        *(("sampling", 390, "light"), ("sampling", 1440, "dark")),
        ("filters", 390, "dark"),
    ],
)
def test_everything_is_drawn_and_nothing_overflows(
    browser: Browser, pages: dict[str, str], space: str, width: int, theme: str
):
    browser.prefer(theme)
    browser.resize(width)
    browser.open(pages[space])
    assert browser.draw_all() >= 5
    assert min(browser.drawings()) > 0
    page, window = browser.widths()
    assert page <= window == width
    assert [text for ratio, text in browser.run(CONTRASTS) if ratio < 4.5] == []
    assert browser.complaints() == []


def test_a_column_of_the_table_can_be_filtered(browser: Browser, pages: dict[str, str]):
    browser.prefer("light")
    browser.resize(1440)
    browser.open(pages["depth"])
    browser.draw_all()
    lines = "return document.querySelectorAll('#figure-cora-layers-sweep .mark-line path').length"
    assert browser.run(lines) == 6
    choose(browser, "method", "gcn+clar clamp=10")
    choose(browser, "method", "mlp")
    assert set(column(browser, "scores", "method")) == {"gcn+clar clamp=10", "mlp"}
    assert len(column(browser, "study-list", "method")) == 12
    browser.wait(lambda: browser.run(lines) == 2, "the sweep with two lines")
    assert "12 of 36 rows" in browser.one("#figure-cora-layers-sweep .filtered").text
    assert browser.complaints() == []


def test_the_legend_picks_a_line(browser: Browser, pages: dict[str, str]):
    browser.prefer("light")
    browser.resize(1440)
    browser.open(pages["depth"])
    browser.draw_all()
    faint = (
        "return [...document.querySelectorAll('#figure-cora-layers-sweep .mark-line path')]"
        ".filter(path => Number(path.getAttribute('opacity')) < 0.5).length"
    )
    assert browser.run(faint) == 0
    browser.run("document.getElementById('figure-cora-layers-sweep').scrollIntoView()")
    (symbol, *_) = browser.all("#figure-cora-layers-sweep .role-legend-symbol path")
    symbol.click()
    browser.wait(lambda: browser.run(faint) == 5, "five faint lines")
