"""Run the notebooks, make the pages, swap the finished report in."""

import sys

# As in charts: jsonschema, which nbformat imports, needs no URI grammar, and building it takes over a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
