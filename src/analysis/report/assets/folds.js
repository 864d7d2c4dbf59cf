// Opens what is folded where a link leads into it, and for the printer.
(() => {
const PRINTED = "details:not([open], .code)"; // as in style.css

function reveal() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  const around = [];
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) around.push(fold);
  const closed = around.filter((fold) => !fold.open);
  // A number's block has its name and value in view, and how it was obtained in its fold.
  const within = target.matches(".estimate") ? [...target.querySelectorAll("details")] : [];
  for (const fold of [...closed, ...within]) fold.open = true;
  if (closed.length) target.scrollIntoView();
}

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(PRINTED)];
  for (const fold of opened) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
});
addEventListener("hashchange", reveal);
// A link to the place where the reader is already changes no address.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link?.hash && link.href === location.href) reveal();
});
reveal();
})();
