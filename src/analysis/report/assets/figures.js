// Draws the charts of a page again so that they answer to the pointer. Without this script the drawings stay as they
// are. vegaEmbed comes with the bundle (report/interactive.py).
const NARROW = "(max-width: 45rem)"; // as in style.css
const BESIDE_PANELS = 52; // as in figure.py
// ast: expressions are interpreted, because the page's policy forbids to compile them. logLevel: errors only.
const TOOLTIP = { theme: "custom", formatTooltip: named };
const OPTIONS = { mode: "vega-lite", ast: true, actions: false, renderer: "svg", logLevel: 1, tooltip: TOOLTIP };

// A row of a chart's data as a small table; what is missing is left out. `clean` escapes.
function named(value, clean) {
  if (typeof value !== "object") return clean(String(value));
  const known = Object.entries(value).filter(([, part]) => part !== null && part !== "null" && part !== "");
  const rows = known.map(([key, part]) => `<tr><th scope="row">${clean(key)}</th><td>${clean(String(part))}</td></tr>`);
  return `<table>${rows.join("")}</table>`;
}

function sized(spec, box) {
  const width = Math.floor(box.clientWidth);
  const made = structuredClone(spec);
  if ("facet" in made) made.spec.width = width - BESIDE_PANELS;
  else made.width = width;
  if (matchMedia(NARROW).matches) {
    const config = (made.config ??= {});
    config.legend = { ...config.legend, columns: made.usermeta.columns };
    config.axis = { ...config.axis, tickCount: 4 };
  }
  // A finger that drags wants to scroll the page.
  if (matchMedia("(pointer: coarse)").matches) without(made, "zoom");
  return made;
}

function without(spec, name) {
  if (spec.params) spec.params = spec.params.filter((param) => param.name !== name);
  for (const part of [...(spec.layer ?? []), ...(spec.spec ? [spec.spec] : [])]) without(part, name);
}

async function draw(figure) {
  const spec = JSON.parse(figure.querySelector("script.spec").textContent);
  const drawn = [...figure.querySelectorAll(".chart:not(.live)")];
  const box = figure.querySelector(".chart.live") ?? document.createElement("div");
  box.className = "chart live";
  drawn[drawn.length - 1].after(box);
  try {
    await vegaEmbed(box, sized(spec, box), OPTIONS);
    // One picture with one text, as the drawing was; Vega gives each mark a role of its own.
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", drawn[0].querySelector("svg").getAttribute("aria-label"));
    for (const attribute of ["tabindex", "aria-roledescription"]) box.removeAttribute(attribute);
    for (const svg of box.querySelectorAll("svg")) svg.setAttribute("aria-hidden", "true");
    figure.classList.add("is-live");
  } catch (error) {
    box.remove(); // the drawing stays
    figure.classList.remove("is-live");
    console.warn(`${figure.id}: ${error.message}`);
  }
}

const figures = [...document.querySelectorAll("figure:has(script.spec)")];
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target);
    }
  },
  { rootMargin: "200px" },
);
for (const figure of figures) near.observe(figure);

let width = innerWidth;
let waiting = 0;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (innerWidth === width) return; // a phone's address bar came or went
    width = innerWidth;
    for (const figure of figures) if (figure.classList.contains("is-live")) draw(figure);
  }, 200);
});
