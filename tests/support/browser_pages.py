"""What tests of pages ask a browser."""

from pathlib import Path

from support.browser import Browser

CONTRASTS = """
const lightness = (colour) => {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const parts = (text) => (text.match(/[0-9.]+/g) || []).map(Number);
const ground = (element) => {
  for (let place = element; place; place = place.parentElement) {
    const found = parts(getComputedStyle(place).backgroundColor);
    if (found.length === 3 || found[3] === 1) return found.slice(0, 3);
  }
  return [255, 255, 255];
};
const found = [];
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement;
  if (!texts.currentNode.data.trim() || element.closest("svg, script, [hidden]")) continue;
  if (!element.checkVisibility()) continue;
  const pair = [lightness(parts(getComputedStyle(element).color)), lightness(ground(element))];
  const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  found.push([ratio, texts.currentNode.data.trim().slice(0, 40)]);
}
return found;
"""


def written(file: Path, page: str) -> str:
    file.write_text(page, encoding="utf-8")
    return file.as_uri()


def column(browser: Browser, table: str, name: str) -> list[str]:
    """What a column of a table shows, line by line, from top to bottom."""
    script = """
    const table = document.getElementById(arguments[0]);
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    return rows.map((row) => row.cells[heads.indexOf(arguments[1])].textContent.trim());
    """
    found: list[str] = browser.run(script, table, name)
    return found


def choose(browser: Browser, kind: str, value: str) -> None:
    browser.click(f'#filters input[name="{kind}"][value="{value}"]')
