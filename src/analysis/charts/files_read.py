"""What the study directory held and what was read of it."""

import altair as alt

from analysis.charts.frames import Frame, tidy
from analysis.charts.marks import counts


def files_read(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One bar for each kind and status of file, labelled with its count. Columns kind, status, n; exact, no interval."""
    return counts(tidy(frame), "kind", "status", "files", title, subtitle, description)
