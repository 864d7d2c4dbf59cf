// Search within the report: every word must begin one of a row's. The index, window.REPORT, comes before this script.
(() => {
const box = document.querySelector(".search");
const input = box.querySelector("input");
const list = box.querySelector("[role=listbox]");
const said = box.querySelector("[role=status]");
const MOST = 30;

// The words of a text, each after a space, without accents and case.
function words(text) {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]+/gu, " ").trim().split(" ").filter(Boolean).map((word) => ` ${word}`);
}

// In the report in one file the numbers stand on the page itself.
function numbers() {
  return [...document.querySelectorAll("[id='numbers--main'] .estimate")].map((block) => {
    const text = (part) => block.querySelector(part)?.textContent ?? "";
    return { kind: "number", title: text(".name"), text: text(".value"), page: text("dd"), href: `#${block.id}` };
  });
}

let rows;
function known() {
  rows ??= [...window.REPORT, ...numbers()].map((row) => {
    const [title, everyday] = [row.title, row.words ?? ""].map((text) => words(text).join(""));
    return { ...row, named: title, everyday, all: title + everyday + words(`${row.text} ${row.page}`).join("") };
  });
  return rows;
}

// First what is known by these words in everyday speech, then what has them in its title.
function found(query) {
  const asked = words(query);
  if (!asked.length) return [];
  const has = (text) => asked.every((word) => text.includes(word));
  const place = (row) => (has(row.everyday) ? 0 : has(row.named) ? 1 : 2);
  return known().filter((row) => has(row.all)).sort((a, b) => place(a) - place(b));
}

function option(row, at) {
  const link = document.createElement("a");
  link.id = `search-hit-${at}`;
  link.href = row.href;
  link.tabIndex = -1;
  link.setAttribute("role", "option");
  link.setAttribute("aria-selected", "false");
  const parts = [row.title, [row.kind, row.page, row.text].filter(Boolean).join(" · ")];
  for (const text of parts) link.appendChild(document.createElement("span")).textContent = text;
  return link;
}

function open(is) {
  list.hidden = !is;
  input.setAttribute("aria-expanded", String(is));
  if (!is) mark(null);
}

function marked() {
  return list.querySelector("[aria-selected=true]");
}

function mark(hit) {
  marked()?.setAttribute("aria-selected", "false");
  hit?.setAttribute("aria-selected", "true");
  hit?.scrollIntoView({ block: "nearest" });
  if (hit) input.setAttribute("aria-activedescendant", hit.id);
  else input.removeAttribute("aria-activedescendant");
}

function show() {
  const hits = found(input.value);
  mark(null);
  list.replaceChildren(...hits.slice(0, MOST).map(option));
  list.scrollTop = 0;
  const more = hits.length > MOST ? `, the first ${MOST} shown` : "";
  said.textContent = input.value.trim() ? `${hits.length} found${more}` : "";
  open(hits.length > 0);
}

// To the next hit, or the one before; after the last comes the first.
function move(by) {
  const hits = [...list.children];
  if (!hits.length) return;
  open(true);
  const at = hits.indexOf(marked());
  mark(hits.at(at < 0 && by < 0 ? -1 : (at + by) % hits.length));
}

const KEYS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Enter: () => !list.hidden && (marked() ?? list.firstElementChild).click(),
  Escape: () => {
    input.value = "";
    show();
  },
};

box.hidden = false;
input.addEventListener("input", show);
input.addEventListener("focus", () => open(list.childElementCount > 0));
input.addEventListener("keydown", (event) => {
  if (event.isComposing || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});
// The input keeps the focus while a hit is pressed: else the list would be gone before the click.
list.addEventListener("mousedown", (event) => event.preventDefault());
list.addEventListener("click", () => open(false));
box.addEventListener("focusout", (event) => box.contains(event.relatedTarget) || open(false));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, textarea, select, [contenteditable]")) {
    event.preventDefault();
    input.focus();
  }
});
})();
