"""Chromium without a window, for tests of pages; a module shares one, for it starts slowly."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

PATIENCE = 60.0
"""Seconds for anything that takes a tenth of it on a machine with nothing else to do."""
KNOWN_WARNING = 'Dropping \\"fit-y\\"'
"""Vega-Lite says this of every figure that is as wide as its page and has a line per name."""


class Browser:
    """A browser at some page."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, theme: str) -> None:
        """What the system of the reader prefers, ``light`` or ``dark``."""
        feature = {"name": "prefers-color-scheme", "value": theme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def open(self, url: str) -> None:
        """Go to a page as if for the first time, and forget what was logged before."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(url)
        # On a busy machine the driver can take the blank page's end of loading for this one's.
        ready = "return location.href !== 'about:blank' && document.readyState === 'complete'"
        self.wait(lambda: self.run(ready), f"the end of loading {url}")

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a script's ``return``."""
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector: str) -> None:
        """Click as a script does, wherever the element is on the page."""
        self.run("document.querySelector(arguments[0]).click()", selector)

    def wait(self, moment: Callable[[], object], what: str) -> None:
        until = time.monotonic() + PATIENCE
        while not moment():
            assert time.monotonic() < until, f"waited in vain for {what}"
            time.sleep(0.05)

    def draw_all(self) -> int:
        """Scroll to every figure until it is drawn; returns how many there are."""
        script = "return [...document.querySelectorAll('figure:not([data-drawn])')].map(f => f.id)"
        if self.all("#choose"):
            self.wait(
                lambda: self.run("return Boolean(document.querySelector('#study[data-shown]'))"),
                "a study",
            )
        while waiting := self.run(script):
            place = f"#{waiting[0]}"
            self.run("document.querySelector(arguments[0]).scrollIntoView()", place)
            self.wait(
                lambda place=place: self.run(
                    "return document.querySelector(arguments[0]).dataset.drawn", place
                ),
                f"figure {place}",
            )
        return len(self.all("figure"))

    def drawings(self) -> list[int]:
        """How many shapes each figure holds."""
        return self.run(
            "return [...document.querySelectorAll('figure')].map("
            "f => f.querySelectorAll('.drawing svg path, .drawing canvas').length)"
        )

    def widths(self) -> tuple[int, int]:
        """Of the page and of the window."""
        page, window = self.run("return [document.documentElement.scrollWidth, innerWidth]")
        return page, window

    def complaints(self) -> list[str]:
        """What the page logged since it was opened, apart from the one known warning."""
        lines = [f"{line['level']} {line['message']}" for line in self.driver.get_log("browser")]
        return [line for line in lines if KNOWN_WARNING not in line]


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser of its own; without one the tests of pages are skipped, and say so."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium or chromedriver is not installed: pages are not driven")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    try:
        started.set_page_load_timeout(PATIENCE)
        yield Browser(started)
    finally:
        started.quit()
