"""What became of the claims that were published about a study."""

import altair as alt

from analysis.charts.frames import Frame
from analysis.charts.marks import counts


def verdict_count(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One bar a verdict, labelled with its count. Columns verdict, unit (what is counted), n; exact: no interval."""
    return counts(frame, "verdict", "unit", "claims", title=title, subtitle=subtitle, description=description)
