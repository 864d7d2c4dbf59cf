"""Figures: inline SVG at two widths in the page, what a script needs to draw them again, and SVG, PNG and CSV files."""

import copy
import re
import textwrap
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import altair as alt

from analysis.charts.frames import Frame
from analysis.charts.theme import NARROW, WIDE
from analysis.findings.assumed import Assumptions
from analysis.redact import redact, redacted
from analysis.report import drawing
from analysis.report.interactive import as_json, interactive
from analysis.report.names import checked_name
from analysis.report.table import NOTHING, grid, write_csv

ALONE = (
    "<style>.chart svg{overflow:visible;max-width:100%;height:auto}.chart.narrow{display:none}"
    "@media screen and (max-width:45rem){.chart.wide{display:none}.chart.narrow{display:block}}</style>"
)
"""Goes with each figure, for JupyterLab, which has not the report's style sheet.

Both drawings would show; and a label would be cut where the browser's font is wider than the one it was measured with.
"""
_TEXTS = {"datasets", "domain", "sort", "title", "description"}
_EMPTY = re.compile(r'<g\b[^>]*\brole="graphics-symbol"[^>]*?(?:/>|></g>)')
"""A layer that drew nothing: a reader of the screen would be told of a picture without a name."""
_ID = re.compile(r'\bid="([^"]+)"')
_REFERENCE = re.compile(r'(\bid="|url\(#|href="#)([^")]+)')
_DATA = re.compile(r'aria-roledescription="(?!axis"|legend"|title"|visualization"|[^"]* container")')
"""A mark that stands for a row of data; marks to read others by, such as a line at zero, are drawn without a role."""
LEGEND = 18
"""Most characters of a group's name in a legend of two columns at the narrow width."""
_BESIDE_PANELS = 52  # pixels of axis and margin, beside the panels of a facet
Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """A finished figure: `html` for the page; its files are written already."""

    name: str
    html: str

    def _repr_html_(self) -> str:
        return self.html


def figure(
    chart: alt.TopLevelMixin, name: str, table: Frame, out: Path | None, caption: str, assumed: Assumptions = NOTHING
) -> Figure:
    """Show a chart with the id `fig-<name>`; with `out` write figures/<name>.svg, .png and tables/<name>.csv too.

    A chart on which nothing would be drawn is not shown: its title stands there as the sentence that says why.

    The page gets the chart drawn twice, wide and narrow, and the style sheet shows the one that fits; the title is
    in the page's text, where it wraps. `table` has the numbers that the chart shows, `caption` says how they arose.
    Raises ValueError for a chart without a description: it is the text alternative.
    """
    spec = _redacted(chart.to_dict())
    if not spec.get("description", "").strip():
        raise ValueError(f"the figure {name} has no description: say in words what it shows, with the numbers")
    name, links = checked_name(name), ""
    drawn = _inline(spec, name)
    if not _DATA.search(drawn):
        if out is not None and len(table):
            write_csv(table, name, out)
        return Figure(
            name, f'<figure id="fig-{name}" class="nothing"><p class="title">{escape(_sentence(spec))}</p></figure>'
        )
    if out is not None:
        _write_files(spec, name, out)
        write_csv(table, name, out, assumed)
        links = _links(name)
    numbers = grid(table, name, f"The numbers of the figure: {_title(spec)}", assumed, linked=out is not None)
    legend = f"<figcaption>{escape(redact(caption).text)}{links}</figcaption>"
    live = {**interactive(spec), "usermeta": {"columns": legend_columns(spec)}}
    html = (
        f'<figure id="fig-{name}">{ALONE}{_heading(spec)}{drawn}'
        f'<script type="application/json" class="spec">{as_json(live)}</script>{legend}'
        f"<details><summary>The numbers</summary>{numbers}</details></figure>"
    )
    return Figure(name, html)


def to_svg(spec: Spec, prefix: str) -> str:
    """The SVG of a Vega-Lite spec, its ids numbered after `prefix` so that several can stand in one page.

    The engine numbers them on from whatever it drew before.
    """
    svg = _EMPTY.sub("", drawing.svg(spec))
    ids = {old: f"{prefix}-{at}" for at, old in enumerate(dict.fromkeys(_ID.findall(svg)))}
    return _REFERENCE.sub(lambda found: f"{found[1]}{ids.get(found[2], found[2])}", svg)


def _redacted(value: Any, key: str = "") -> Any:
    """The spec with the texts that it shows redacted; data and scales alike, so that they still match."""
    if key in _TEXTS:
        return redacted(value)
    if isinstance(value, dict):
        return {k: _redacted(part, k) for k, part in value.items()}
    return [_redacted(part) for part in value] if isinstance(value, list) else value


def _inline(spec: Spec, name: str) -> str:
    label = escape(spec["description"])
    bare = {key: value for key, value in spec.items() if key != "title"}
    drawn = []
    for size, width in (("wide", WIDE), ("narrow", NARROW)):
        svg = to_svg(_sized(bare, width), f"{name}-{size}").replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
        drawn.append(f'<div class="chart {size}">{svg}</div>')
    return "".join(drawn)


def _sized(spec: Spec, width: int) -> Spec:
    """The spec at an outer width in pixels; the narrow one has a legend of two columns and fewer ticks."""
    sized = copy.deepcopy(spec)
    if "facet" in sized:
        sized["spec"]["width"] = width - _BESIDE_PANELS
        sized["spec"].setdefault("config", {})
    else:
        sized["width"] = width
    if width < WIDE:
        config = sized.setdefault("config", {})
        config["legend"] = {**config.get("legend", {}), "columns": legend_columns(spec)}
        config["axis"] = {**config.get("axis", {}), "tickCount": 4}
    return sized


def legend_columns(value: Any) -> int:
    """Columns of a legend at the narrow width: one where some name of a group would not fit into half of it."""
    if isinstance(value, dict):
        names = value.get("domain") if isinstance(value.get("domain"), list) else []
        long = any(isinstance(name, str) and len(name) > LEGEND for name in names or ())
        return 1 if long else min((legend_columns(part) for part in value.values()), default=2)
    return min(map(legend_columns, value), default=2) if isinstance(value, list) else 2


def _write_files(spec: Spec, name: str, out: Path) -> None:
    """The figure by itself, for slides and mail: with its title, on white."""
    alone = _sized(spec, WIDE)
    title = alone.get("title", {})
    if isinstance(title, str):
        title = alone["title"] = {"text": title}
    for part, width in (("text", 74), ("subtitle", 96)):
        if isinstance(title.get(part), str):
            title[part] = textwrap.wrap(title[part], width)
    alone["config"] = {**alone.get("config", {}), "background": "white"}
    alone["padding"] = 12
    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    svg = to_svg(alone, name)
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    (folder / f"{name}.png").write_bytes(drawing.png(svg))


def _title(spec: Spec) -> str:
    title = spec.get("title", "")
    return str(title.get("text", "") if isinstance(title, dict) else title)


def _sentence(spec: Spec) -> str:
    return f"{_title(spec).rstrip('.')}."


def _heading(spec: Spec) -> str:
    subtitle = spec["title"].get("subtitle", "") if isinstance(spec.get("title"), dict) else ""
    return f'<p class="title">{escape(_title(spec))}</p><p class="subtitle">{escape(str(subtitle))}</p>'


def _links(name: str) -> str:
    files = (("SVG", f"figures/{name}.svg"), ("PNG", f"figures/{name}.png"), ("CSV", f"tables/{name}.csv"))
    links = " ".join(
        f'<a href="{path}" download aria-label="{what} of the figure {name}">{what}</a>' for what, path in files
    )
    return f' <span class="links">{links} <a href="#fig-{name}" aria-label="Link to the figure {name}">Link</a></span>'
