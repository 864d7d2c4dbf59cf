"""One function, one chart: a tidy frame in, an Altair chart out. Charts read nothing and write nothing."""

import sys

# jsonschema, which Altair imports, builds grammars for a URI check whenever this package can be imported: over a second
# in every kernel, and no chart needs it.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

from analysis.charts.files_read import files_read  # noqa: E402
from analysis.charts.memory_by_boot import memory_by_boot  # noqa: E402
from analysis.charts.outcome_count import outcome_count  # noqa: E402
from analysis.charts.pool_by_arm import pool_by_arm  # noqa: E402
from analysis.charts.share_by_boot import share_by_boot  # noqa: E402
from analysis.charts.share_over_time import share_over_time  # noqa: E402

__all__ = ["files_read", "memory_by_boot", "outcome_count", "pool_by_arm", "share_by_boot", "share_over_time"]
