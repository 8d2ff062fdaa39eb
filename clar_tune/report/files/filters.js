// One filter for tables and figures; its state stands in the address.

const chosen = { graph: new Set(), method: new Set(), study: "", section: "" };

function readAddress() {
  const [section, query] = location.hash.slice(1).split("?");
  const state = new URLSearchParams(query || "");
  chosen.graph = new Set(state.getAll("graph"));
  chosen.method = new Set(state.getAll("method"));
  chosen.study = state.get("study") || "";
  chosen.section = section;
}

function writeAddress() {
  const state = new URLSearchParams();
  for (const graph of chosen.graph) state.append("graph", graph);
  for (const method of chosen.method) state.append("method", method);
  if (chosen.study) state.set("study", chosen.study);
  const query = state.toString();
  const hash = chosen.section + (query ? `?${query}` : "");
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}

function passes(graph, method) {
  const allowed = (set, value) => !set.size || value === undefined || set.has(value);
  return allowed(chosen.graph, graph) && allowed(chosen.method, method);
}

function isFiltered() {
  return chosen.graph.size + chosen.method.size > 0;
}

function inputs(kind) {
  return [...document.querySelectorAll(`#filters input[name="${kind}"]`)];
}

function applyFilters() {
  for (const kind of ["graph", "method"]) {
    const known = new Set(inputs(kind).map((input) => input.value));
    chosen[kind] = new Set([...chosen[kind]].filter((value) => known.has(value)));
    for (const input of inputs(kind)) input.checked = chosen[kind].has(input.value);
  }
  for (const line of document.querySelectorAll("main [data-graph], main [data-method]")) {
    line.hidden = !passes(line.dataset.graph, line.dataset.method);
  }
  showFilter();
  filterFigures();
}

function showFilter() {
  const form = document.getElementById("filters");
  if (!form) return;
  const part = (kind, noun) =>
    chosen[kind].size ? `${chosen[kind].size} of ${inputs(kind).length} ${noun}` : "";
  const parts = [part("graph", "graphs"), part("method", "methods")].filter(Boolean);
  document.getElementById("filter-state").textContent = parts.join(", ");
  document.getElementById("clear").hidden = !isFiltered();
}

function changeFilter() {
  for (const kind of ["graph", "method"]) {
    chosen[kind] = new Set(inputs(kind).filter((input) => input.checked).map((input) => input.value));
  }
  writeAddress();
  applyFilters();
}

function clearFilter() {
  chosen.graph.clear();
  chosen.method.clear();
  writeAddress();
  applyFilters();
}

function goTo(section) {
  const target = document.getElementById(section);
  if (!target) return;
  chosen.section = section === "top" ? "" : section;
  writeAddress();
  if (!target.hasAttribute("tabindex")) target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  target.scrollIntoView({ behavior: calm ? "instant" : "smooth" });
}
