"""A reproducible study of LLM inference telemetry.

Everything flows one way: DATA folder -> sources -> store -> findings (with estimates) -> charts -> notebooks -> report.
Analysts start from `Study`.
"""

import sys

# jsonschema, which Altair imports, builds grammars for a URI check whenever this package can be imported: seconds in
# every process that draws, and no chart needs it. Here, because it must come before the first import of Altair.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
