// Tables: sorted by their headings, made from data, and reachable where they scroll.

const sorted = new Map(); // id of a table: its column and its direction

function sortBy(button) {
  const head = button.closest("th");
  const table = head.closest("table");
  const column = head.cellIndex;
  const known = sorted.get(table.id);
  const direction = known && known.column === column && known.direction === 1 ? -1 : 1;
  sorted.set(table.id, { column, direction });
  applySort(table);
}

function applySort(table) {
  const order = sorted.get(table.id);
  if (!order || order.column >= table.tHead.rows[0].cells.length) return;
  const heads = [...table.tHead.rows[0].cells];
  const numeric = heads[order.column].classList.contains("number");
  const body = table.tBodies[0];
  const lines = [...body.rows].map((row, index) => ({
    row, index, key: keyOf(row.cells[order.column], numeric),
  }));
  lines.sort((one, two) => compareKeys(one.key, two.key, order.direction) || one.index - two.index);
  body.append(...lines.map((line) => line.row));
  heads.forEach((head, index) => {
    const name = order.direction === 1 ? "ascending" : "descending";
    head.setAttribute("aria-sort", index === order.column ? name : "none");
  });
}

function keyOf(cell, numeric) {
  const key = cell.dataset.order;
  if (key === undefined) return null;
  return numeric && key !== "" && Number.isFinite(Number(key)) ? Number(key) : key;
}

// What is missing comes last in both directions.
function compareKeys(one, two, direction) {
  if (one === null || two === null) return (one === null) - (two === null);
  if (typeof one === "number" && typeof two === "number") return direction * (one - two);
  return direction * String(one).localeCompare(String(two), "en", { numeric: true });
}

function sortAgain(place) {
  for (const table of place.querySelectorAll("table[data-sortable]")) applySort(table);
}

const LONG = 40; // characters from which a cell may break its line

// A table of data; a column of numbers is one whose values all are.
function tableOf(id, caption, data, { kinds = {}, most = Infinity, heads = 1 } = {}) {
  const numeric = data.columns.map((_, index) =>
    data.rows.every((row) => row[index] === null || typeof row[index] === "number"));
  const cell = (value, index) => element(
    index < heads ? "th" : "td",
    {
      scope: index < heads ? "row" : null,
      class: numeric[index] ? "number" : String(value).length > LONG ? "long" : null,
      "data-order": value === null || value === "" ? null : value,
    },
    written(value, kinds[data.columns[index]]),
  );
  const head = (name, index) => element(
    "th",
    { scope: "col", class: numeric[index] ? "number" : null, "aria-sort": "none" },
    element("button", { type: "button", class: "sort" }, name),
  );
  const lines = data.rows.slice(0, most).map((row) => element("tr", {}, ...row.map(cell)));
  const table = element(
    "table",
    { class: "data", id, "data-sortable": true },
    element("caption", { class: "unseen" }, caption),
    element("thead", {}, element("tr", {}, ...data.columns.map(head))),
    element("tbody", {}, ...lines),
  );
  const scroll = { class: "scroll", tabindex: "0", role: "region", "aria-label": caption };
  const told = element("p", { class: "caption", "aria-hidden": "true" }, caption);
  return [told, element("div", scroll, table)];
}
