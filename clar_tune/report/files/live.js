// A page that refreshes itself: it asks for changes, and only what changed is replaced.

const PERIOD = 2000; // milliseconds between two questions while the run goes on
const CALM = 15_000; // when it has ended, or nobody looks

const pulse = { version: "", failures: 0, timer: 0, changed: new Date() };

function startLive() {
  pulse.version = document.getElementById("page").dataset.version;
  showPulse();
  watchPlace();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) ask();
  });
  pulse.timer = setTimeout(ask, PERIOD);
}

async function ask() {
  clearTimeout(pulse.timer);
  try {
    const answer = await fetch("content", {
      cache: "no-store", headers: { "If-None-Match": `"${pulse.version}"` },
    });
    if (answer.status === 200) receive(await answer.text(), answer.headers.get("ETag"));
    else if (answer.status !== 304) throw new Error(String(answer.status));
    pulse.failures = 0;
    showPulse(answer.headers.get("Clar-Tune-Store") === "unreadable" ? "stale" : "");
  } catch (error) {
    pulse.failures += 1;
    showPulse(error.message === "401" ? "token" : "gone");
  }
  const calm = document.hidden || !isGoing();
  pulse.timer = setTimeout(ask, calm ? CALM : PERIOD * Math.min(5, 1 + pulse.failures));
}

function receive(text, tag) {
  const fresh = new DOMParser().parseFromString(`<div id="page">${text}</div>`, "text/html");
  pulse.version = (tag || "").replaceAll('"', "");
  pulse.changed = new Date();
  const focused = document.activeElement;
  holdPlace();
  morphChildren(document.getElementById("page"), fresh.getElementById("page"));
  refresh();
  if (focused.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
  keepPlace();
}

// What the reader looks at stays where it is, while content above it grows or shrinks.
const held = { element: null, top: 0, scrolled: 0 };

function topOf(place) {
  return place.getBoundingClientRect().top;
}

function holdPlace() {
  const focused = document.activeElement;
  const { top, bottom } = focused.getBoundingClientRect();
  const inView = focused.closest("main *") && top >= 0 && bottom <= innerHeight;
  const seen = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  held.element = scrollY ? (inView ? focused : seen && seen.closest("main *")) : null;
  if (held.element) Object.assign(held, { top: topOf(held.element), scrolled: scrollY });
}

function keepPlace() {
  if (!scrollY || !held.element || !held.element.isConnected) return;
  const moved = topOf(held.element) - held.top;
  if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: "instant" });
  held.scrolled = scrollY;
}

function watchPlace() {
  new ResizeObserver(keepPlace).observe(document.getElementById("page"));
  addEventListener("scroll", () => {
    const ours = Math.abs(scrollY - held.scrolled) < 1;
    if (held.element && !ours) Object.assign(held, { top: topOf(held.element), scrolled: scrollY });
  }, { passive: true });
}

function isGoing() {
  return document.getElementById("main").dataset.going === "yes";
}

function showPulse(trouble = "") {
  const place = document.getElementById("pulse");
  const state = trouble || (isGoing() ? "live" : "ended");
  const texts = {
    live: "Live: this page refreshes itself.",
    ended: "The run is not at work any more. This page waits in case it goes on.",
    stale: "The server cannot read the store at the moment: what you see is the last state.",
    gone: "The server does not answer: what you see is the last state. Trying again.",
    token: "The server asks for a token: open the address that it printed.",
  };
  const status = document.getElementById("pulse-text");
  if (status.textContent !== texts[state]) status.textContent = texts[state];
  place.dataset.state = state;
  document.getElementById("pulse-time").textContent = `Updated ${pulse.changed.toLocaleTimeString()}`;
}

// Make the old children like the fresh ones; elements stay, and with them focus and scrolling.
function morphChildren(old, fresh) {
  const keyed = new Map();
  for (const child of old.children) if (nameOf(child)) keyed.set(nameOf(child), child);
  let next = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    const name = child.nodeType === Node.ELEMENT_NODE ? nameOf(child) : "";
    const same = name ? keyed.get(name) : alike(next, child) ? next : null;
    if (!same || same.nodeName !== child.nodeName) {
      old.insertBefore(document.importNode(child, true), next);
      continue;
    }
    if (same === next) next = next.nextSibling;
    else old.insertBefore(same, next);
    morph(same, child);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

function morph(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !OWN.has(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !OWN.has(name)) old.setAttribute(name, value);
  }
  if (!old.hasAttribute("data-keep")) morphChildren(old, fresh);
}

const OWN = new Set(["open", "hidden", "data-drawn", "data-shown", "tabindex", "aria-expanded"]);

function nameOf(child) {
  return child.id || child.dataset?.study || "";
}

function alike(old, fresh) {
  if (!old || old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) return false;
  return old.nodeType !== Node.ELEMENT_NODE || !nameOf(old);
}
