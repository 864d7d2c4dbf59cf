"""How the boots of each arm ended."""

import altair as alt

from analysis.charts.frames import Frame
from analysis.charts.marks import counts


def outcome_count(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One bar for each arm and outcome, labelled with its count. Columns arm, outcome, n.

    Counts of what happened are exact: there is no interval.
    """
    return counts(frame, "arm", "outcome", "boots", title=title, subtitle=subtitle, description=description)
