"""The page that refreshes itself: who may see it, and what a reader of it keeps."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.browser import Browser, browsing
from support.results import simulated
from support.served_pages import serving

from clar_tune.analysis.runs import RunView, read_run
from clar_tune.report import LivePage
from clar_tune.store import Store

Read = Callable[[], list[tuple[RunView, bool]]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


def reading(store: Store, name: str) -> Read:
    return lambda: [(read_run(store, name, curves=True), store.driven(store.find(name)))]


def test_the_page_follows_a_run_and_keeps_what_its_reader_did(browser: Browser, tmp_path: Path):
    row, memory = simulated(methods=("gcn", "gcn+nl", "gcn+clar"))
    rows = [*memory.trials.values(), *memory.repeats, *memory.finals]
    store = Store.open(tmp_path / "store")
    writer = store.create("going", replace(row, state="running", ended=None))
    writer.append([row for row in rows if row.graph == "texas"])
    live = LivePage(reading(store, "going"), period=0.1)
    with serving(live) as server:
        live.start()
        browser.resize(1440)
        browser.open(server.url)
        browser.draw_all()
        assert "3 of 9 studies confirmed" in browser.one("#top").text
        assert browser.one("#pulse").get_attribute("data-state") == "live"
        prepare(browser)
        before = calm(browser)
        writer.append([row for row in rows if row.graph != "texas"])
        browser.wait(lambda: "9 of 9 studies confirmed" in browser.one("#top").text, "rows")
        browser.wait(lambda: is_same(kept(browser), before), "what the reader left")
        assert len(browser.all("#scores tbody tr")) == 9
        assert (
            browser.run("return document.querySelectorAll('#scores tr:not([hidden])').length") == 4
        )
        writer.close(state="finished", ended=row.ended, seconds=row.seconds)
        state = lambda: browser.one("#pulse").get_attribute("data-state")  # noqa: E731
        browser.wait(lambda: state() == "ended", "the end of the run")
        assert "finished" in browser.one(".eyebrow").text
        browser.draw_all()
        assert browser.complaints() == []
    live.stop()
    browser.run("document.dispatchEvent(new Event('visibilitychange'))")
    browser.wait(lambda: state() == "gone", "the end of the server")
    assert "does not answer" in browser.one("#pulse-text").text


def prepare(browser: Browser) -> None:
    """Do what a reader does: filter, sort, choose, unfold, scroll, and stay at some button."""
    browser.run(
        """
        window.marker = "not loaded again";
        document.querySelector('#filters input[value="gcn+clar"]').click();
        document.querySelectorAll("#scores .sort")[1].click();
        document.getElementById("captions").open = true;
        const option = [...document.querySelectorAll("#choose option")]
          .find((each) => each.textContent === "gcn+nl on texas");
        document.querySelector(`[data-open="${option.value}"]`).click();
        """
    )
    browser.wait(lambda: "gcn+nl on texas" in browser.one("#study").text, "the study")
    browser.draw_all()
    browser.run(
        """
        const button = document.querySelectorAll("#standings .sort")[2];
        button.scrollIntoView({ block: "center", behavior: "instant" });
        button.focus({ preventScroll: true });
        """
    )


def calm(browser: Browser) -> Any:
    """What there is to keep, once all figures have their place."""
    before = None
    while before != (now := kept(browser)):
        before = now
        time.sleep(0.5)
    return before


def is_same(now: list[Any], before: list[Any]) -> bool:
    """Pixels of a place are rounded."""
    return now[:-1] == before[:-1] and abs(now[-1] - before[-1]) <= 2


def kept(browser: Browser) -> Any:
    """What a reader did, and where on the screen the focus is."""
    return browser.run(
        """
        return [
          window.marker,
          document.querySelector('#filters input[value="gcn+clar"]').checked,
          document.querySelectorAll("#scores th")[1].getAttribute("aria-sort"),
          document.getElementById("captions").open,
          document.getElementById("choose").selectedOptions[0].textContent,
          document.querySelector("#study h3").textContent,
          document.activeElement.textContent,
          document.activeElement.closest("table").id,
          Math.round(document.activeElement.getBoundingClientRect().top),
        ];
        """
    )
