"""Charts that answer to the pointer, on top of the drawings: values on hover, a legend that filters, zoom and pan.

The page has each chart drawn already and can be read without a script. Where scripts run, assets/figures.js draws it
again from the specification that stands beside it, with what this module adds. One local file holds our script with
Vega, Vega-Lite and Vega-Embed as vl-convert-python ships them; nothing is fetched, and expressions are interpreted, not
compiled, so that the page's policy needs no exception.
"""

import copy
import json
import os
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import vl_convert

from analysis import paths
from analysis.report.drawing import VEGA_LITE
from analysis.store import fingerprint

SCRIPTS = Path(__file__).parent / "assets"
FIGURES = "figures.js"
"""Names in assets/ of a report."""
FORMATS = {
    float: {"type": "quantitative", "format": ",.4~g"},
    int: {"type": "quantitative", "format": ",d"},
}
"""How a tooltip shows numbers: four significant digits; the table under the figure has them as computed."""
_HELPER = re.compile(r"_|(bar|text)$")
"""Columns that charts make for themselves: where a mark stands, what it is labelled with."""
TITLES = {
    "n": "count", "n_of": "counted", "low": "lower limit", "high": "upper limit", "x": "at", "p50": "median",
    "p95": "95th percentile", "start_s": "start (s)", "end_s": "end (s)", "band_low": "lower limit",
    "band_high": "upper limit",
}  # fmt: skip
"""Columns that a tooltip calls by other words."""
_ELSEWHERE = {"title", "description", "$schema", "usermeta"}
Spec = dict[str, Any]


def interactive(spec: Spec) -> Spec:
    """The specification with tooltips on every mark, a legend that filters, and zoom and pan where an axis is a scale.

    The title is left out: it is in the page's text. Zoom needs the Shift key, so that a page still scrolls.
    """
    live = _renamed(copy.deepcopy({key: value for key, value in spec.items() if key not in _ELSEWHERE}))
    units = list(_units(live))
    for unit, data in units:
        _name_values(unit, _columns(live, data))
    views = [unit for unit, _ in units]
    _filter_by_legend(views)
    _zoom(views)
    return live


def as_json(spec: Spec) -> str:
    """The specification as JSON that can stand in a script element: no text in it can end the element."""
    text = json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def bundle() -> str:
    """The script of the figures with all that it needs; made once for each version of what it is made of."""
    ours = (SCRIPTS / FIGURES).read_text(encoding="utf-8")
    made_of = fingerprint.digest((version("vl-convert-python"), VEGA_LITE, ours))
    kept = paths.SCRIPTS / f"figures-{made_of[:16]}.js"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_name(f".{kept.name}.{os.getpid()}")
        partial.write_text(vl_convert.javascript_bundle(ours, vl_version=VEGA_LITE), encoding="utf-8")
        partial.replace(kept)
    return kept.read_text(encoding="utf-8")


def _renamed(spec: Spec) -> Spec:
    """The specification with its data sets named by number; Altair names them by a digest."""
    names = {old: f"rows{at}" for at, old in enumerate(spec.get("datasets", {}))}
    spec["datasets"] = {names[old]: rows for old, rows in spec.get("datasets", {}).items()}

    def rename(part: Any) -> None:
        if isinstance(part, list):
            for item in part:
                rename(item)
        elif isinstance(part, dict):
            if isinstance(part.get("data"), dict) and part["data"].get("name") in names:
                part["data"] = {"name": names[part["data"]["name"]]}
            for key, item in part.items():
                if key != "datasets":
                    rename(item)

    rename(spec)
    return spec


def _units(spec: Spec, data: str = "") -> Iterator[tuple[Spec, str]]:
    """The views that draw marks, those inside layers and panels too, each with the name of its data."""
    data = spec.get("data", {}).get("name", data)
    if "mark" in spec:
        yield spec, data
    for part in (*spec.get("layer", ()), *((spec["spec"],) if "spec" in spec else ())):
        yield from _units(part, data)


def _columns(spec: Spec, data: str) -> dict[str, type]:
    """The columns of a view's data that a reader knows, in their order, with the type of their values."""
    cells = [cell for row in spec.get("datasets", {}).get(data, ()) for cell in row.items()]
    kinds = {name: type(value) for name, value in cells if value is not None and not _HELPER.match(name)}
    return {name: kinds[name] for name, _ in dict.fromkeys((name, None) for name, _ in cells) if name in kinds}


def _name_values(unit: Spec, columns: dict[str, type]) -> None:
    if isinstance(unit["mark"], str):
        unit["mark"] = {"type": unit["mark"]}
    if not columns:
        return
    unit["mark"]["tooltip"] = True
    unit.setdefault("encoding", {})["tooltip"] = [
        {"field": _escaped(name), "title": _title(name), **FORMATS.get(kind, {"type": "nominal"})}
        for name, kind in columns.items()
    ]


def _title(column: str) -> str:
    return TITLES.get(column, column.replace("_", " "))


def _escaped(field: str) -> str:
    """A column's name as Vega-Lite takes it literally: dots and brackets would be paths into a value."""
    return "".join(f"\\{c}" if c in ".[]\\'\"" else c for c in field)


def _filter_by_legend(units: list[Spec]) -> None:
    coloured = [unit for unit in units if unit["encoding"].get("color", {}).get("field")]
    fields = {unit["encoding"]["color"]["field"] for unit in coloured}
    legends = [unit for unit in coloured if unit["encoding"]["color"].get("legend", {}) is not None]
    if len(fields) != 1 or not legends:
        return
    picked = {"type": "point", "fields": sorted(fields), "toggle": "true"}
    legends[0].setdefault("params", []).append({"name": "picked", "select": picked, "bind": "legend"})
    for unit in coloured:
        unit["encoding"]["opacity"] = {"condition": {"param": "picked", "value": 1}, "value": 0.12}


def _zoom(units: list[Spec]) -> None:
    """Zoom and pan, on the first view that has an axis of numbers or times."""
    for unit in units:
        channels = [c for c in ("x", "y") if unit["encoding"].get(c, {}).get("type") in ("quantitative", "temporal")]
        if channels and not any("aggregate" in unit["encoding"][c] for c in channels):
            select = {"type": "interval", "encodings": channels, "zoom": "wheel![event.shiftKey]"}
            unit.setdefault("params", []).append({"name": "zoom", "select": select, "bind": "scales"})
            return
