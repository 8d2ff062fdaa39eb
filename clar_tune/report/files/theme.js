// Light and dark: as the system says, until the reader chooses.

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : darkSystem.matches;
}

const NARROW = 520; // pixels below which legends stand one above the other

function chartTheme(width) {
  const theme = themes[isDark() ? "dark" : "light"];
  if (width >= NARROW) return theme;
  const layout = { top: { anchor: "start", direction: "vertical", offset: 6 } };
  return { ...theme, legend: { ...theme.legend, layout } };
}

function showTheme() {
  const button = document.getElementById("theme");
  button.setAttribute("aria-pressed", String(isDark()));
}

function toggleTheme() {
  const chosen = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = chosen;
  remember("clar-tune-theme", chosen);
  showTheme();
  redrawAll();
}

function startTheme() {
  const chosen = remembered("clar-tune-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  darkSystem.addEventListener("change", () => {
    showTheme();
    redrawAll();
  });
  showTheme();
}

// A page from disk may not have a storage.
function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The choice holds until the page is closed.
  }
}

function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
