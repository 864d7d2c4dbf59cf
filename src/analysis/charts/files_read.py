"""What the study directory held and what was read of it."""

import altair as alt

from analysis.charts.frames import Frame
from analysis.charts.marks import counts


def files_read(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One bar for each kind and status of file, labelled with its count. Columns kind, status, n.

    Exact: there is no interval.
    """
    return counts(frame, "kind", "status", "files", title=title, subtitle=subtitle, description=description)
