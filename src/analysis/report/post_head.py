"""The head of a post: the title that states the finding, its description, date and tags, and the card for links."""

import textwrap
from dataclasses import dataclass, replace

import vl_convert

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number
from analysis.redact import redact
from analysis.report.pages import fill
from analysis.report.post_material import Material, counted, interval_is_assumed
from analysis.report.post_parts import Section
from analysis.report.post_rest import tally
from analysis.report.post_time import SHARE

CARD = "post-card.png"
WIDTH, HEIGHT = 1200, 630
HALF = 0.5
STEPS = "time.prefill_share.step_time"
ENGINES = {"vllm": "vLLM", "sglang": "SGLang", "llamacpp": "llama.cpp", "tgi": "TGI"}
_TAGS = (
    ("refus", "capacity planning"), ("Boots", "reproducibility"), ("published", "replication"),
    ("arms", "benchmarking"), ("sweep", "benchmarking"), ("traffic", "mixed traffic"), ("turn", "scheduling"),
)  # fmt: skip
"""What a heading of the post says of its topic."""


@dataclass(frozen=True, slots=True)
class Head:
    """What front matter holds."""

    title: str
    description: str
    date: str
    tags: tuple[str, ...]


def head(m: Material, sections: list[Section]) -> Head:
    """Title, description, date and tags, from the data and from the sections that they gave."""
    study = redact(str(m.results["study"])).text
    title = _title(m) or f"What the files of {study} can say"
    said = [s.text for section in sections[1:] for s in section.sentences()[:1]]
    first = said[0] if said else "No question could be answered from these files; the post says what is missing."
    if m.claims:
        first = tally(m.claims)
    made = f"Reconstructed from published figures. {first}" if m.banner else first
    words = " ".join(section.title for section in sections)
    found = dict.fromkeys(tag for part, tag in _TAGS if part in words)
    tags = ("LLM inference", *(ENGINES.get(e, e) for e in m.engines), *(("KV cache",) if "KV" in words else ()), *found)
    return Head(title, textwrap.shorten(made, 300, placeholder=" …"), m.date, tags)


def _title(m: Material) -> str:
    """The finding: which phase takes the time, else what else there is an answer to; empty where there is none."""
    withheld = any(
        e.id == "kv.cost_per_batch_token" and (e.reason or "").startswith("not computable: withheld")
        for e in m.estimates.values()
    )
    phase = _phase(m)
    if phase:
        return phase + (", and the logs give no price for a batch token" if withheld else "")
    pool = m.takeaway("40-token-pool")
    return "" if pool is None else pool.text.split(";")[0].split(". ")[0].rstrip(".")


def _phase(m: Material) -> str:
    """Which phase takes most of all request-seconds together, over all runs, unless some interval allows either."""
    shares, steps = ([e for e in m.every(id) if e.value is not None] for id in (SHARE, STEPS))
    of = "reported" if m.banner else "recorded"
    if not shares:
        return ""
    open_ = [e for e in shares if e.low is not None and e.high is not None and e.low < HALF < e.high]
    if open_ and not interval_is_assumed(open_):
        runs = f"prefill is {show(open_[0])}" if len(shares) == 1 else f"{show_number(len(open_))} runs allow either"
        return f"Which phase takes most of all request time together is not shown: {runs}"
    if all((e.value or 0.0) > HALF for e in shares):
        return _span("Prefill", shares, steps, of)
    if all((e.value or 0.0) < HALF for e in shares):
        return _span("Decode", _rest(shares), _rest(steps), of)
    return "Prefill or decode: that depends on the run" if len(shares) > 1 else "Prefill and decode take about the same"


def _rest(shares: list[Estimate]) -> list[Estimate]:
    return [replace(e, value=1 - (e.value or 0.0)) for e in shares]


def _span(phase: str, shares: list[Estimate], steps: list[Estimate], of: str) -> str:
    """The phase's share of all request time together, and of step time beside it where that is known."""
    runs = "" if len(shares) == 1 else f" in {show_number(len(shares))} runs"
    beside = f", and {_ends(steps)} of the engine's step time" if steps else ""
    return f"{phase} takes {_ends(shares)} of all {of} request time together{beside}{runs}"


def _ends(shares: list[Estimate]) -> str:
    shares = sorted(shares, key=lambda e: e.value or 0.0)
    return " to ".join(dict.fromkeys(map(counted, (shares[0], shares[-1]))))


def card(of: Head, m: Material) -> bytes:
    """The picture that a link to the post shows: a PNG of 1200 x 630 pixels with the title and what it is made from."""
    below = "Reconstructed from published figures" if m.banner else "Every number with its interval"
    svg = fill(
        "post/card.svg.j2", CARD, width=WIDTH, height=HEIGHT, title=textwrap.wrap(redact(of.title).text, 40)[:5],
        below=textwrap.wrap(below, 60),
        study=textwrap.shorten(redact(str(m.results["study"])).text, 60, placeholder=" …"),
    )  # fmt: skip
    return vl_convert.svg_to_png(svg, ppi=72)
