// Wires everything once; events are caught on the way up, so that new elements need nothing.

const themes = dataOf("themes");
document.documentElement.classList.add("scripted");

document.addEventListener("click", (event) => {
  const target = event.target.closest("button, a");
  if (!target) return;
  if (target.matches(".sort")) sortBy(target);
  else if (target.matches("[data-open]")) choose(target.dataset.open, { visit: true });
  else if (target.id === "theme") toggleTheme();
  else if (target.id === "menu") toggleMenu(target);
  else if (target.id === "previous") step(-1);
  else if (target.id === "next") step(1);
  else if (target.matches('a[href^="#"]')) {
    event.preventDefault();
    closeMenu();
    goTo(target.getAttribute("href").slice(1));
  }
});
document.addEventListener("change", (event) => {
  if (event.target.id === "choose") choose(event.target.value);
  else if (event.target.closest("#filters")) changeFilter();
});
document.addEventListener("reset", (event) => {
  if (event.target.id === "filters") setTimeout(clearFilter);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenu();
});
window.addEventListener("hashchange", () => {
  readAddress();
  refresh();
  if (chosen.section) goTo(chosen.section);
});

function toggleMenu(button) {
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(open));
}

function closeMenu() {
  document.getElementById("menu").setAttribute("aria-expanded", "false");
}

// Bring everything in line with the content, after the start and after each change of it.
function refresh() {
  showTheme();
  presentAll();
  applyFilters();
  sortAgain(document.getElementById("main"));
  const keys = choices().map((each) => each.value);
  const key = keys.includes(chosen.study) ? chosen.study : choice.key || bestChoice(keys);
  if (key && (key !== choice.key || versionOf(key) !== choice.version)) choose(key, { told: false });
  else showChoice();
  drawWaiting();
}

// The first study to look at is one with most to tell: with clar, if there is one.
function bestChoice(keys) {
  const told = choices().find((each) => each.textContent.includes("+clar"));
  return told ? told.value : keys[0];
}

readAddress();
startTheme();
refresh();
if (chosen.section) goTo(chosen.section);
if (document.getElementById("pulse")) startLive();
