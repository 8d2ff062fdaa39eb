// One study at a time: what won, how the search went, all of its trials.

const choice = { key: "", version: "" }; // what is shown

function choices() {
  return [...document.querySelectorAll("#choose option")];
}

function versionOf(key) {
  const option = choices().find((each) => each.value === key);
  return option ? option.dataset.version : "";
}

async function studyData(key) {
  const stored = dataOf(`study-${key}`);
  if (stored) return stored;
  const answer = await fetch(`study/${key}.json`, { cache: "no-store" });
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
  return answer.json();
}

async function choose(key, { visit = false, told = true } = {}) {
  const select = document.getElementById("choose");
  if (!select || !choices().some((each) => each.value === key)) return;
  const version = versionOf(key);
  const changed = choice.key !== key;
  Object.assign(choice, { key, version });
  if (told) chosen.study = key;
  writeAddress();
  showChoice();
  const panel = document.getElementById("study");
  try {
    const data = await studyData(key);
    if (choice.key !== key || choice.version !== version) return; // another choice came first
    showStudy(panel, data, changed);
  } catch (error) {
    panel.replaceChildren(element("p", { class: "quiet" }, `This study cannot be shown: ${error.message}`));
  }
  if (visit) goTo("studies");
}

function showChoice() {
  const select = document.getElementById("choose");
  if (!select) return;
  select.value = choice.key;
  for (const button of document.querySelectorAll("[data-open]")) {
    const current = button.dataset.open === choice.key;
    button.closest("tr").classList.toggle("current", current);
    if (current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  const keys = choices().map((each) => each.value);
  document.getElementById("previous").disabled = keys.indexOf(choice.key) <= 0;
  document.getElementById("next").disabled = keys.indexOf(choice.key) >= keys.length - 1;
}

function step(by) {
  const keys = choices().map((each) => each.value);
  choose(keys[keys.indexOf(choice.key) + by]);
}

function showStudy(panel, data, changed) {
  const made = studyElement(data);
  if (changed) {
    panel.replaceChildren(...made.childNodes);
    for (const place of [...shown.keys()]) if (!place.isConnected) forget(place);
  } else {
    morphChildren(panel, made);
  }
  for (const figure of data.figures) {
    const place = panel.querySelector(`[data-figure="${CSS.escape(figure.name)}"]`);
    present(place, figure, data.tables[figure.rows], { later: false });
  }
  sortAgain(panel);
  panel.dataset.shown = data.key;
}

function pairsElement(pairs) {
  return element("dl", { class: "pairs" }, ...pairs.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

function studyElement(data) {
  const winner = data.winner
    ? element("div", { class: "winner" },
      element("h4", {}, "Winner"), element("p", {}, data.winner.text), pairsElement(data.winner.params))
    : element("div", { class: "winner" },
      element("h4", {}, "Winner"), element("p", { class: "quiet" }, "None yet."));
  return element(
    "div", {},
    element("h3", {}, data.title),
    element("div", { class: "study-head" },
      element("div", {}, element("h4", {}, "Search"), pairsElement(data.facts)), winner),
    element("div", { class: "figures" }, ...data.figures.map(figureElement)),
    element("h4", {}, "Trials"),
    ...tableOf("trials", data.trials.caption, data.trials, { kinds: data.trials.kinds }),
  );
}
