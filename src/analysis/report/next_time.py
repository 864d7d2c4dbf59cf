"""The section of the inventory's page that says what to record next time, with commands that can be copied."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape

from analysis import paths
from analysis.findings.next_time import Advice, advice
from analysis.report.grouping import groups
from analysis.report.pages import Heading, Page
from analysis.report.results import Results

PAGE, ANCHOR, TITLE = "10-inventory", "next-time", "What to record next time"
INTRO = (
    "Each figure of this report that could not be computed, or has no interval, says why. Recorded like this, it "
    "can be: commands are run from the folder of this project, MODEL and addresses are yours, and what has AFTER= or "
    "FOR= runs while the load does, in a terminal of its own."
)
NEW = "my-study/"
"""A folder that is not there yet."""
REBUILT = (
    "This study was written from published figures: nothing can be recorded into it. Record on the machine that the "
    f"figures are about, into a folder of its own ({NEW} here), and make the report of that."
)
NOTHING = "Every figure that was asked for could be computed, with its interval where one is due."
REASONS = 3
"""Most reasons that are quoted of one way of recording."""
_LAST = re.compile(r'<h2 id="what-this-page-cannot-show"')


def with_section(pages: Sequence[Page], results: Results, engines: Iterable[str], *, is_rebuilt: bool) -> list[Page]:
    """The pages, the inventory's with its section and that in its table of contents; others as they are."""
    return [_with(page, results, engines, is_rebuilt) if page.stem == PAGE else page for page in pages]


def _with(page: Page, results: Results, engines: Iterable[str], is_rebuilt: bool) -> Page:
    found = advice(results.estimates(), NEW if is_rebuilt else data_of(results.json["study"]), engines)
    html = section(found, is_rebuilt=is_rebuilt)
    last = _LAST.search(page.body)
    at = last.start() if last else len(page.body)
    toc = list(page.toc)
    toc.insert(len(toc) - (1 if last and toc else 0), Heading(2, TITLE, ANCHOR))
    return replace(page, body=page.body[:at] + html + page.body[at:], toc=tuple(toc))


def data_of(study: str) -> str:
    """The study's folder as a command takes it, where its name is one that a shell takes as it is.

    Studies of the project are named with data/ before them: commands that write take a path.
    """
    if not re.fullmatch(r"[\w.-]+", study, re.A):
        return NEW
    return f"data/{study}/" if (paths.DATA / study).is_dir() else f"{study}/"


def section(found: Sequence[Advice], *, is_rebuilt: bool = False) -> str:
    """The section's HTML; everything in it is redacted already and escaped here."""
    rebuilt = f"<p>{escape(REBUILT)}</p>" if is_rebuilt and found else ""
    body = "".join(map(_block, found)) or f"<p>{NOTHING}</p>"
    return f'<h2 id="{ANCHOR}">{TITLE}</h2><p>{escape(INTRO)}</p>{rebuilt}{body}'


def _block(it: Advice) -> str:
    what = list(dict.fromkeys(group.what for group in groups(it.figures)))
    rest = f"; and {len(it.reasons) - REASONS} more" if it.reasons[REASONS:] else ""
    reasons = "; ".join(it.reasons[:REASONS]) + rest
    figures = f"{len(it.figures):,} figure{'s' if len(it.figures) > 1 else ''}"
    texts = [*it.commands, "\n".join(it.lines)]
    code = "".join(f'<pre class="command"><code>{escape(text)}</code></pre>' for text in texts if text)
    return (
        f"<h3>{escape(it.name)}</h3><p>{escape(it.why)}</p>{code}"
        f'<p><span class="name">Missing now:</span> {escape(reasons)}.</p>'
        f"<details><summary>Would answer {figures}</summary><p>{escape('; '.join(what))}</p></details>"
    )
