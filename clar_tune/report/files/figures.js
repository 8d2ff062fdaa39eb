// Figures: drawn when they come near, filtered with the tables, redrawn when the theme changes.

const CANVAS_FROM = 3000; // rows from which a canvas is quicker than an SVG
const LEAST = { parallel: 640 }; // pixels that a kind needs; a narrower page scrolls it
const FIT = { type: "fit-x", contains: "padding" }; // the width is the page's, the height the figure's
const TABLE_ROWS = 1000; // rows of data that a table shows; files hold all

const shown = new Map(); // element of a figure: what it shows, and its drawing
let waiting = []; // figures that are drawn when there is time

const nearby = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
}, { rootMargin: "600px 0px" });

// Give an element its figure; a figure that changed is drawn again.
function present(place, figure, table, { later = true } = {}) {
  const text = JSON.stringify([figure.spec, table]);
  const known = shown.get(place) || { ready: Promise.resolve() };
  if (known.text === text) return;
  shown.set(place, Object.assign(known, { figure, table, text, rows: rowsOf(table) }));
  fillTools(place);
  nearby.observe(place);
  if (known.drawnRows) draw(place, { again: true });
  else if (later) waiting.push(place);
}

function forget(place) {
  const known = shown.get(place);
  if (known.view) known.view.finalize();
  nearby.unobserve(place);
  shown.delete(place);
}

function visibleRows(known) {
  return isFiltered() ? known.rows.filter((row) => passes(row.graph, row.method)) : known.rows;
}

// Drawings of one figure follow each other; one that a later one replaces is left out.
function draw(place, { again = false } = {}) {
  const known = shown.get(place);
  if (!known.drawnRows || again) {
    const turn = Symbol("turn");
    Object.assign(known, { turn, drawnRows: visibleRows(known) });
    known.ready = known.ready.then(() => {
      if (known.turn === turn && shown.get(place) === known) return drawNow(place, known);
    });
  }
  return known.ready;
}

async function drawNow(place, known) {
  const box = place.querySelector(".drawing");
  box.style.minHeight = box.offsetHeight ? `${box.offsetHeight}px` : "";
  if (known.view) known.view.finalize();
  known.view = null;
  try {
    if (known.drawnRows.length) known.view = (await embedded(box, known)).view;
    else say(box, "Nothing of this figure passes the filter.");
    reachable(box);
  } catch (error) {
    say(box, `This figure was not drawn: ${error.message}`);
    console.error(error);
  }
  place.dataset.drawn = "yes";
  box.style.minHeight = "";
}

function embedded(box, { figure, drawnRows }) {
  const spec = { autosize: FIT, ...figure.spec, datasets: { rows: drawnRows } };
  const least = LEAST[figure.kind] || 0;
  if (box.clientWidth < least) spec.width = least;
  return vegaEmbed(box, spec, {
    actions: false,
    ast: true, // expressions are interpreted: the page's policy allows no eval
    config: chartTheme(box.clientWidth),
    defaultStyle: false,
    mode: "vega-lite",
    renderer: drawnRows.length > CANVAS_FROM ? "canvas" : "svg",
    tooltip: { disableDefaultStyle: true, theme: "page" },
  });
}

function say(box, text) {
  box.replaceChildren(element("p", { class: "quiet" }, text));
}

function redrawAll() {
  for (const [place, known] of shown) if (known.drawnRows) draw(place, { again: true });
}

function filterFigures() {
  for (const [place, known] of shown) {
    const rows = visibleRows(known);
    const note = rows.length < known.rows.length ? `Filtered: ${rows.length} of ${known.rows.length} rows.` : "";
    place.querySelector(".filtered").textContent = note;
    const before = known.drawnRows;
    const same = before && rows.length === before.length && rows.every((row, at) => row === before[at]);
    if (before && !same) draw(place, { again: true });
  }
}

// Draw what is left while nothing else happens, so that printing finds every figure.
function drawWaiting() {
  const rest = window.requestIdleCallback || ((work) => setTimeout(work, 50));
  rest(async () => {
    const place = waiting.shift();
    if (!place) return;
    if (shown.has(place)) await draw(place);
    drawWaiting();
  });
}

// A drawing that is wider than its place scrolls, and the keyboard must reach it.
function reachable(box) {
  if (box.scrollWidth > box.clientWidth + 1) box.setAttribute("tabindex", "0");
  else box.removeAttribute("tabindex");
}

// Buttons and data below a figure; they are made once and follow what the figure shows.
function fillTools(place) {
  const tools = place.querySelector(".tools");
  if (!tools.firstChild) tools.append(...toolsOf(place));
  const data = tools.querySelector("details");
  data.firstChild.textContent = `Data (${shown.get(place).table.rows.length} rows)`;
  data.replaceChildren(data.firstChild);
  if (data.open) fillData(place, data);
}

function toolsOf(place) {
  const current = () => shown.get(place);
  const button = (name, work) => {
    const label = `${name}: ${current().figure.title}`;
    const made = element("button", { type: "button", class: "quiet-button", "aria-label": label }, name);
    made.addEventListener("click", work);
    return made;
  };
  const csv = () => save(`${current().figure.name}.csv`, "text/csv", csvOf(current().table));
  const svg = async () => {
    await draw(place);
    const { figure, view } = current();
    if (view) save(`${figure.name}.svg`, "image/svg+xml", await view.toSVG());
  };
  const data = element("details", { class: "rows" }, element("summary"));
  data.addEventListener("toggle", () => {
    if (data.open && !data.querySelector("table")) fillData(place, data);
  });
  const filtered = element("p", { class: "filtered", role: "status" });
  return [filtered, button("CSV", csv), button("SVG", svg), data];
}

function fillData(place, data) {
  const { figure, table } = shown.get(place);
  const cut = table.rows.length > TABLE_ROWS ? `, the first ${TABLE_ROWS} rows` : "";
  const caption = `Data of the figure “${figure.title}”${cut}.`;
  data.append(...tableOf(`rows-${figure.name}`, caption, table, { most: TABLE_ROWS }));
}

function figureElement(figure) {
  const text = `text-${figure.name}`;
  return element(
    "figure",
    { class: "figure", id: `figure-${figure.name}`, "data-figure": figure.name, "data-kind": figure.kind },
    element("h4", {}, figure.title.split(": ")[0]), // the study's name stands above
    element("div", {
      class: "drawing", "data-keep": true, role: "img", "aria-label": figure.title, "aria-describedby": text,
    }),
    element("figcaption", { id: text }, figure.text),
    element("div", { class: "tools", "data-keep": true }),
  );
}

// The figures of the comparison stand in the page already.
function presentAll() {
  const data = dataOf("figure-data");
  for (const figure of data.figures) {
    const place = document.getElementById(`figure-${figure.name}`);
    if (place) present(place, figure, data.tables[figure.rows]);
  }
  for (const place of [...shown.keys()]) if (!place.isConnected) forget(place);
}
