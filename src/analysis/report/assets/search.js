// Search within the report: every word must occur. The index, window.REPORT, comes before this script.
(() => {
const box = document.querySelector(".search");
const input = box.querySelector("input");
const list = box.querySelector("ul");
const said = box.querySelector("[role=status]");
const MOST = 30;

function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

const rows = window.REPORT.map((row) => ({ ...row, folded: fold(`${row.title} ${row.text} ${row.page}`) }));

function found(query) {
  const words = fold(query).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const hits = rows.filter((row) => words.every((word) => row.folded.includes(word)));
  const first = (row) => (words.every((word) => fold(row.title).includes(word)) ? 0 : 1);
  return hits.sort((a, b) => first(a) - first(b));
}

function show() {
  const hits = found(input.value);
  list.replaceChildren(
    ...hits.slice(0, MOST).map((row) => {
      const link = document.createElement("a");
      link.href = row.href;
      link.textContent = row.title;
      const where = document.createElement("span");
      where.textContent = [row.kind, row.page, row.text].filter(Boolean).join(" · ");
      const item = document.createElement("li");
      item.append(link, where);
      return item;
    }),
  );
  const more = hits.length > MOST ? `, the first ${MOST} shown` : "";
  said.textContent = input.value.trim() ? `${hits.length} found${more}` : "";
  list.hidden = !hits.length;
}

box.hidden = false;
input.addEventListener("input", show);
input.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    input.value = "";
    show();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, textarea, select, [contenteditable]")) {
    event.preventDefault();
    input.focus();
  }
});
})();
