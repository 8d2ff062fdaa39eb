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
  const known = shown.get(place);
  if (known && known.text === text) return;
  const wasDrawn = Boolean(known && (known.view || known.drawing));
  shown.set(place, { ...known, figure, table, text, rows: rowsOf(table) });
  fillTools(place);
  nearby.observe(place);
  if (wasDrawn) draw(place, { again: true });
  else if (later) waiting.push(place);
}

function forget(place) {
  const known = shown.get(place);
  if (known && known.view) known.view.finalize();
  nearby.unobserve(place);
  shown.delete(place);
}

function visibleRows(known) {
  return isFiltered() ? known.rows.filter((row) => passes(row.graph, row.method)) : known.rows;
}

async function draw(place, { again = false } = {}) {
  const known = shown.get(place);
  if (!known || (known.drawing && !again) || (known.view && !again)) return;
  const turn = Symbol("turn");
  known.drawing = turn;
  const box = place.querySelector(".drawing");
  if (box.offsetHeight) box.style.minHeight = `${box.offsetHeight}px`;
  const rows = visibleRows(known);
  try {
    const spec = { autosize: FIT, ...known.figure.spec, datasets: { rows } };
    const least = LEAST[known.figure.kind] || 0;
    if (box.clientWidth < least) spec.width = least;
    const made = await vegaEmbed(box, spec, {
      actions: false,
      ast: true, // expressions are interpreted: the page's policy allows no eval
      config: chartTheme(box.clientWidth),
      defaultStyle: false,
      mode: "vega-lite",
      renderer: rows.length > CANVAS_FROM ? "canvas" : "svg",
      tooltip: { disableDefaultStyle: true, theme: "page" },
    });
    if (known.drawing !== turn) return; // a later turn draws it
    if (known.view) known.view.finalize();
    known.view = made.view;
    known.drawnRows = rows;
    place.dataset.drawn = "yes";
    reachable(box);
  } catch (error) {
    box.replaceChildren(element("p", { class: "quiet" }, `This figure was not drawn: ${error.message}`));
    console.error(error);
  } finally {
    if (known.drawing === turn) known.drawing = null;
    box.style.minHeight = "";
  }
}

function redrawAll() {
  for (const [place, known] of shown) if (known.view) draw(place, { again: true });
}

function filterFigures() {
  for (const [place, known] of shown) {
    const rows = visibleRows(known);
    const note = rows.length < known.rows.length ? `Filtered: ${rows.length} of ${known.rows.length} rows.` : "";
    place.querySelector(".filtered").textContent = note;
    if (known.view && rows.length !== known.drawnRows.length) draw(place, { again: true });
    else if (known.view && rows.some((row, index) => row !== known.drawnRows[index])) {
      draw(place, { again: true });
    }
  }
}

// Draw what is left while nothing else happens, so that printing finds every figure.
function drawWaiting() {
  const rest = window.requestIdleCallback || ((work) => setTimeout(work, 50));
  rest(async () => {
    const place = waiting.shift();
    if (!place) return;
    if (place.isConnected) await draw(place);
    drawWaiting();
  });
}

// A drawing that is wider than its place scrolls, and the keyboard must reach it.
function reachable(box) {
  if (box.scrollWidth > box.clientWidth + 1) box.setAttribute("tabindex", "0");
  else box.removeAttribute("tabindex");
}

function fillTools(place) {
  const { figure, table } = shown.get(place);
  const data = element(
    "details", { class: "rows" }, element("summary", {}, `Data (${table.rows.length} rows)`));
  data.addEventListener("toggle", () => {
    if (!data.open || data.querySelector("table")) return;
    const cut = table.rows.length > TABLE_ROWS ? `, the first ${TABLE_ROWS} rows` : "";
    const caption = `Data of the figure “${figure.title}”${cut}.`;
    data.append(...tableOf(`rows-${figure.name}`, caption, table, { most: TABLE_ROWS }));
  });
  const button = (name, work) => {
    const made = element("button", { type: "button", class: "quiet-button", "aria-label": `${name}: ${figure.title}` }, name);
    made.addEventListener("click", work);
    return made;
  };
  const svg = async () => {
    await draw(place);
    const { view } = shown.get(place);
    if (view) save(`${figure.name}.svg`, "image/svg+xml", await view.toSVG());
  };
  const tools = place.querySelector(".tools");
  const open = tools.querySelector("details[open]");
  tools.replaceChildren(
    element("p", { class: "filtered", role: "status" }),
    button("CSV", () => save(`${figure.name}.csv`, "text/csv", csvOf(table))),
    button("SVG", svg),
    data,
  );
  if (open) data.open = true;
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
