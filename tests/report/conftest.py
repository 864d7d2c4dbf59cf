"""One report, made once, that the tests of pages and of the browser look at."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.browsing import ARGS, CHROMIUM

HERE = Path(__file__).parent


def _making() -> ModuleType:
    spec = importlib.util.spec_from_file_location("report_making", HERE / "making.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["report_making"] = module
    spec.loader.exec_module(module)
    return module


making = _making()
HOSTILE = "<script>alert(1)</script>\"'&</svg></style><img src=x onerror=alert(2)>"
NODE = "node-7.corp.internal"
QUOTE = "url=http://gpu-17.corp.internal:8000 user=a@example.com "
FIRST = r"""
value = Estimate(
    0.08, "1", "estimate", "block bootstrap", low=0.07, high=0.09, confidence=0.95, n=41, n_of="scrape intervals",
    assumption="intervals are exchangeable", warnings=("one page was torn: " + HOSTILE,),
    evidence=(Evidence("metrics/a.prom", line=7, quote=QUOTE + HOSTILE),),
).named("time.prefill_share.request_seconds", "prefill share", boot=NODE,
        arm=HOSTILE)
gap = not_computable("1", "no iteration log").named("time.prefill_share.step_time", "step share")
say = f"Prefill takes {value.value:.0%}. {HOSTILE}"
refer = [{"id": value.id, "qualifiers": dict(value.qualifiers)}]
record("10-first", [value, gap], [{"sentence": say, "finding": "first", "estimates": refer}])
answer(say, value, gap)
"""
CHART = r"""
rows = pl.DataFrame({"label": ["b1", QUOTE, HOSTILE], "group": ["prefill", "decode", HOSTILE],
                     "value": [8.0, 80.0, 9.0],
                     "low": [7.0, 79.0, None], "high": [9.0, 81.0, None]})
figure(charts.share_by_boot(rows, title="Decode dominates " + QUOTE + HOSTILE, subtitle="%; 3 boots " + HOSTILE,
       description="b1 at 8 per cent, b2 at 80. " + HOSTILE), "shares", rows, OUT, "Counters. " + QUOTE + HOSTILE)
"""
TIME = r"""
rows = pl.DataFrame({"group": ["prefill"] * 4 + ["decode"] * 4, "minutes": [0.5, 1.5, 2.5, 3.5] * 2,
                     "value": [8.0, 9.0, None, 7.0, 80.0, 81.0, 82.0, 80.0],
                     "band_low": [7.0] * 4 + [79.0] * 4, "band_high": [9.0] * 4 + [83.0] * 4})
chart = charts.share_over_time(rows, title="Steady", subtitle="%; 4 intervals", description="Between 7 and 9.")
figure(chart, "steady", rows, OUT, "c")
"""
SEEN = "(OUT / 'seen.txt').write_text(f'{data} {hash(HOSTILE)}'); print({*'abcdef'})"
TABLE = """
rows = pl.DataFrame({f"column {i}": ["=1+1", QUOTE + HOSTILE, "x" * 30] for i in range(12)})
table(rows, "wide", OUT, "Wide " + HOSTILE)
"""


CELLS = """
low = Estimate(0.5, "1", "estimate", "m", 0.4, 0.6).named("time.wall_state", "20-second", boot=NODE, reason=HOSTILE)
bare = no_interval(0.5, "1", "m", "one boot of " + HOSTILE).named("time.wall_state", "20-second", boot="b2")
gone = not_computable("1", "what " + HOSTILE + " says, which is not to be had without a counter of it")
gone = gone.named("time.wall_state", "20-second", boot="b3")
assumed = Assumptions((Assumption("drift " + HOSTILE, "w", {"values": ("time.wall_state boot=b2",),
                                                            "intervals": ("time.wall_state boot=" + NODE,)}),))
record("20-second", [assumed.mark(e) for e in (low, bare, gone)])
rows = cells.frame(
    [(e.qualifiers["boot"], e, *cells.ends(e, 100).values(), cells.reason(e), "read") for e in (low, bare, gone)],
    {"boot": pl.String, "share": pl.String, **dict.fromkeys(("value", "low", "high"), pl.Float64),
     "why none": pl.String, "kind": pl.String},
)
table(rows, "cells", OUT, "Cells of estimates", assumed)
"""


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a finished report with hostile names everywhere."""
    from analysis.report.run import build

    root = tmp_path_factory.mktemp("made")
    setup = making.SETUP + f"\nHOSTILE, QUOTE, NODE = {HOSTILE!r}, {QUOTE!r}, {NODE!r}\n"
    first = making.notebook(
        root / "nb" / "10-first.ipynb", "# Where time goes\n\nDecode takes most of it.", FIRST, "## Shares", CHART,
        "## Along the run", TIME, 'import sys; print("to stderr", file=sys.stderr); print("<b>to stdout</b> " + QUOTE)',
        setup=setup,
    )  # fmt: skip
    second = making.notebook(
        root / "nb" / "20-second.ipynb",
        "# The rest\n\nA table.",
        "## A wide table",
        SEEN + TABLE,
        "## A wide table",
        CELLS,
        setup=setup,
    )
    out = root / "reports" / "study"
    made = build(HOSTILE, root, out, [first, second], making.Silent(), {"files": {HOSTILE: 3}, "note": HOSTILE})
    assert made == out / "index.html"
    yield out


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield made
        made.close()
