"""One look for every chart: readable at 390 px, in light and dark, and without colour."""

from typing import Any, Final

import altair as alt

from analysis.charts.frames import BREAK

# Okabe & Ito (2008) without black and yellow, which vanish on a dark or a white page; the first three keep 3:1 on both.
COLOURS: Final = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
SHAPES: Final = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
WIDE: Final = 680
NARROW: Final = 350
FONT: Final = "Arial, Helvetica, Liberation Sans, sans-serif"
INK: Final = "currentColor"  # inline SVG takes the page's text colour, so one picture serves light and dark


@alt.theme.register("study", enable=True)
def study_theme() -> alt.theme.ThemeConfig:
    """The theme: text and lines in the page's own colour, no background, no frame, legend above the plot."""
    config: dict[str, Any] = {
        "background": "transparent",
        "font": FONT,
        "lineBreak": BREAK,
        "view": {"stroke": None, "continuousHeight": 240, "discreteHeight": {"step": 26}},
        "title": {"anchor": "start", "color": INK, "subtitleColor": INK, "fontSize": 16, "subtitleFontSize": 13,
                  "subtitlePadding": 6, "offset": 14, "frame": "bounds"},
        "axis": {"labelColor": INK, "titleColor": INK, "labelFontSize": 13, "titleFontSize": 13,
                 "titleFontWeight": "normal", "domainColor": INK, "domainOpacity": 0.5, "tickColor": INK,
                 "tickOpacity": 0.5, "gridColor": INK, "gridOpacity": 0.14, "labelLimit": 130, "tickCount": 5},
        "header": {"labelColor": INK, "labelFontSize": 13, "labelFontWeight": "bold"},
        "legend": {"labelColor": INK, "titleColor": INK, "labelFontSize": 13, "orient": "top", "title": None,
                   "symbolSize": 110, "symbolStrokeWidth": 2, "labelLimit": 150, "columnPadding": 16, "offset": 12},
        "point": {"size": 70, "strokeWidth": 2, "opacity": 1},
        "line": {"strokeWidth": 2},
        "rule": {"strokeWidth": 2.5},
        "text": {"color": INK, "fontSize": 13},
    }  # fmt: skip
    return alt.theme.ThemeConfig(config=config)  # type: ignore[typeddict-item]


def colour(domain: list[str]) -> alt.Scale:
    """Colours for up to six groups, in the order given."""
    return alt.Scale(domain=domain, range=COLOURS[: len(domain)])


def filled(domain: list[str], *solid: str) -> alt.Scale:
    """The same colours as fills, for the groups named; the others are open, which shows in print too."""
    return alt.Scale(
        domain=domain, range=[c if d in solid else "transparent" for d, c in zip(domain, COLOURS, strict=False)]
    )


def shape(domain: list[str]) -> alt.Scale:
    """Shapes for up to six groups, in the order given, so that colour never carries a group alone."""
    return alt.Scale(domain=domain, range=SHAPES[: len(domain)])


def finish(chart: alt.LayerChart | alt.FacetChart, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A chart with what every chart must have: the finding, its unit and n, and a text with the numbers.

    Layering does not lift a layer's description, so it is set here, on the whole. Raises ValueError when one is empty.
    """
    if not isinstance(chart, alt.LayerChart):
        raise TypeError("a chart is made of layers")
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    return chart.properties(**_texts(title, subtitle, description), autosize=fit)


def finish_panels(chart: alt.FacetChart, title: str, subtitle: str, description: str) -> alt.FacetChart:
    """The same for small multiples, which Vega-Lite does not fit to a width: report/figure.py sets that of a panel."""
    return chart.properties(**_texts(title, subtitle, description))


def _texts(title: str, subtitle: str, description: str) -> dict[str, Any]:
    for what, text in (("title", title), ("subtitle", subtitle), ("description", description)):
        if not text.strip():
            raise ValueError(f"a chart needs a {what}")
    return {"title": alt.TitleParams(text=title, subtitle=subtitle), "description": description}
