"""The page of a report in a browser: drawn, sorted, filtered, and safe to look at."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from support.browser import Browser, browsing
from support.browser_pages import CONTRASTS, choose, column, written
from support.hostile import IMAGE, METHOD, SCRIPT, hostile
from support.results import finished

from clar_tune.report import build_page

WIDTHS = (390, 1440)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("page") / "report.html", build_page([finished()]))


@pytest.fixture(scope="module")
def hostile_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("page") / "hostile.html", build_page([hostile()]))


@pytest.fixture
def opened(browser: Browser, url: str) -> Browser:
    browser.prefer("light")
    browser.resize(1440)
    browser.open(url)
    return browser


def sort(browser: Browser, table: str, name: str) -> str | None:
    """Press a heading; returns how the column is sorted then."""
    script = """
    const buttons = [...document.querySelectorAll(`#${arguments[0]} .sort`)];
    const button = buttons.find((each) => each.textContent === arguments[1]);
    button.click();
    return button.parentElement.getAttribute("aria-sort");
    """
    found: str | None = browser.run(script, table, name)
    return found


def study_named(browser: Browser, title: str) -> str:
    script = """
    return [...document.querySelectorAll("#choose option")]
      .find((option) => option.textContent === arguments[0]).value;
    """
    found: str = browser.run(script, title)
    return found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_is_drawn_and_nothing_overflows(
    browser: Browser, url: str, width: int, theme: str
):
    browser.prefer(theme)
    browser.resize(width)
    browser.open(url)
    assert browser.draw_all() >= 12
    assert min(browser.drawings()) > 0
    page, window = browser.widths()
    assert page <= window == width
    assert browser.complaints() == []


def test_single_finals_are_drawn_without_a_complaint(browser: Browser, tmp_path: Path):
    run = finished(graphs=("texas",), trials=2, finals=1)
    browser.open(written(tmp_path / "report.html", build_page([run])))
    assert browser.draw_all() > 5
    assert browser.complaints() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_text_has_contrast(browser: Browser, url: str, theme: str):
    browser.prefer(theme)
    browser.resize(1440)
    browser.open(url)
    browser.draw_all()
    found = browser.run(CONTRASTS)
    assert len(found) > 500
    assert [text for ratio, text in found if ratio < 4.5] == []


def test_headings_sort_their_column_both_ways(opened: Browser):
    means = column(opened, "scores", "mean")
    assert means != sorted(means, key=float)
    assert sort(opened, "scores", "mean") == "ascending"
    assert column(opened, "scores", "mean") == sorted(means, key=float)
    assert sort(opened, "scores", "mean") == "descending"
    assert column(opened, "scores", "mean") == sorted(means, key=float, reverse=True)
    assert sort(opened, "scores", "method") == "ascending"
    assert column(opened, "scores", "method") == sorted(column(opened, "scores", "method"))


def test_cells_without_a_number_come_last_both_ways(opened: Browser):
    for _ in range(2):
        sort(opened, "scores", "effect")
        found = column(opened, "scores", "effect")
        assert "" in found
        assert all(found[: -found.count("")]) and not any(found[-found.count("") :])


def test_filters_change_tables_figures_and_address(opened: Browser):
    opened.draw_all()
    marks = "return document.querySelectorAll('#figure-gains svg path').length"
    before = opened.run(marks)
    choose(opened, "graph", "texas")
    choose(opened, "method", "gcn+clar")
    assert column(opened, "scores", "graph") == ["texas"]
    assert column(opened, "scores", "method") == ["gcn+clar"]
    assert column(opened, "standings", "method") == ["gcn+clar"]
    opened.wait(lambda: opened.run(marks) < before, "the figure of gains with fewer marks")
    assert "1 of 12 rows" in opened.one("#figure-gains .filtered").text
    assert opened.one("#filter-state").text == "1 of 3 graphs, 1 of 6 methods"
    assert "graph=texas" in opened.driver.current_url
    opened.click("#clear")
    opened.wait(lambda: len(column(opened, "scores", "graph")) == 18, "all lines again")
    opened.wait(lambda: opened.run(marks) == before, "all marks again")
    assert opened.complaints() == []


def test_an_address_brings_back_filter_and_study(opened: Browser, url: str):
    key = study_named(opened, "gcn+nl on cornell")
    opened.open(f"{url}#studies?graph=cornell&study={key}")
    assert set(column(opened, "scores", "graph")) == {"cornell"}
    opened.wait(lambda: opened.all("#study h3"), "the study")
    assert opened.one("#study h3").text == "gcn+nl on cornell"
    assert opened.run("return document.activeElement.id") == "studies"


def test_choosing_a_study_shows_its_figures_and_trials(opened: Browser):
    key = study_named(opened, "gcn+nl on cornell")
    opened.click(f'[data-open="{key}"]')
    opened.wait(lambda: opened.all(f'#study[data-shown="{key}"]'), "the study")
    kinds = opened.run(
        "return [...document.querySelectorAll('#study figure')].map(f => f.dataset.kind)"
    )
    assert {"history", "rungs", "parallel"} <= set(kinds)
    opened.draw_all()
    states = column(opened, "trials", "state")
    assert len(states) == 8 and "failed" in states and "complete, winner" in states
    assert "NaN" in "".join(column(opened, "trials", "failure"))
    assert sort(opened, "trials", "validation") == "ascending"
    opened.click("#next")
    opened.wait(lambda: opened.one("#study h3").text != "gcn+nl on cornell", "the next study")
    assert opened.complaints() == []


def test_the_theme_can_be_changed_and_charts_follow(opened: Browser):
    opened.draw_all()
    colours = "return getComputedStyle(document.body).backgroundColor"
    chart = "return document.querySelector('#figure-budget svg').innerHTML"
    light, drawn = opened.run(colours), opened.run(chart)
    opened.click("#theme")
    assert opened.run(colours) != light
    assert opened.one("#theme").get_attribute("aria-pressed") == "true"
    opened.wait(lambda: opened.run(chart) != drawn, "the chart in dark colours")
    opened.click("#theme")
    assert opened.run(colours) == light
    assert opened.complaints() == []


def test_the_keyboard_reaches_what_the_mouse_does(opened: Browser):
    seen = []
    for _ in range(60):
        opened.driver.switch_to.active_element.send_keys(Keys.TAB)
        seen.append(
            opened.run("const e = document.activeElement; return [e.className, e.name || e.id]")
        )
    assert seen[0][0] == "skip"
    assert ["quiet-button", "theme"] in seen and ["", "graph"] in seen and ["", "method"] in seen
    assert any("scroll" in name for name, _ in seen)
    opened.run("document.querySelector('#scores .sort').focus()")
    opened.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert opened.one("#scores th").get_attribute("aria-sort") == "ascending"
    opened.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert opened.run("return document.activeElement.className") == "sort"


def test_the_focus_can_be_seen(opened: Browser):
    opened.one("body").send_keys(Keys.TAB)
    for selector in ("#theme", "nav a", "#scores .sort", "#choose"):
        opened.run("document.querySelector(arguments[0]).focus({focusVisible: true})", selector)
        style = opened.run("return getComputedStyle(document.activeElement).outlineStyle")
        assert style == "solid", selector


def test_the_phone_hides_contents_until_they_are_asked_for(opened: Browser):
    opened.resize(390)
    assert not opened.one("#panel").is_displayed()
    opened.click("#menu")
    assert opened.one("#panel").is_displayed()
    assert opened.one("#menu").get_attribute("aria-expanded") == "true"
    opened.one("body").send_keys(Keys.ESCAPE)
    assert not opened.one("#panel").is_displayed()


def test_a_mark_under_the_mouse_tells_its_numbers(opened: Browser):
    opened.draw_all()
    opened.run("document.getElementById('figure-budget').scrollIntoView()")
    (bar, *_) = opened.all("#figure-budget .mark-rect path[d]:not([d=''])")
    ActionChains(opened.driver).move_to_element(bar).perform()
    opened.wait(lambda: opened.all("#vg-tooltip-element.visible"), "the tooltip")
    place = opened.run(
        """
        const tip = document.getElementById("vg-tooltip-element").getBoundingClientRect();
        return [tip.left, tip.top, tip.right - innerWidth, tip.bottom - innerHeight];
        """
    )
    assert place[0] > 0 and place[1] > 0 and place[2] < 0 and place[3] < 0
    assert "gcn" in opened.one("#vg-tooltip-element").text
    assert opened.complaints() == []


def test_data_of_a_figure_can_be_read_and_saved(opened: Browser):
    opened.draw_all()
    opened.run(
        "window.saved = []; URL.createObjectURL = (b) => { window.saved.push(b); return '#'; }"
    )
    opened.click("#figure-gains .rows summary")
    opened.wait(lambda: opened.all("#rows-gains"), "the table of data")
    assert len(column(opened, "rows-gains", "method")) == 12
    opened.click("#figure-gains .tools button")
    text = opened.run("return window.saved[0].text()")
    assert "graph" in text.splitlines()[0].split(",")
    assert len(text.splitlines()) == 13


def test_without_scripts_tables_and_texts_are_there(browser: Browser, url: str):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(url)
        assert len(browser.all("#scores tbody tr")) == 18
        assert browser.one("#conclusions li").is_displayed()
        assert not browser.one("#filters").is_displayed()
        assert browser.one("figcaption").is_displayed()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_texts_show_as_text_and_run_nothing(
    browser: Browser, hostile_url: str, width: int
):
    browser.prefer("light")
    browser.resize(width)
    browser.open(hostile_url)
    browser.draw_all()
    script = """
    for (const each of document.querySelectorAll("details")) each.open = true;
    return document.body.textContent;
    """
    text = browser.run(script)
    assert SCRIPT in text and IMAGE in text and "{{7*7}}" in text and "x" * 9000 in text
    assert "49" not in browser.one("h1").text
    key = browser.run(
        "return [...document.querySelectorAll('#choose option')]"
        ".find((option) => option.textContent.includes('my_pkg')).value"
    )
    browser.click(f'[data-open="{key}"]')
    browser.wait(lambda: browser.all(f'#study[data-shown="{key}"]'), "the study")
    browser.draw_all()
    browser.run(
        "[...document.querySelectorAll('#filters input')]"
        ".find((input) => input.value === arguments[0]).click()",
        METHOD,
    )
    assert len(column(browser, "scores", "graph")) == 3
    assert browser.run("return window.hacked") is None
    assert browser.all("main img") == []
    page, window = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
    assert page <= window == width
    assert browser.complaints() == []
