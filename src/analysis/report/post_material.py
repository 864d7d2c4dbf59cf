"""What a post is written from: a finished report, and the few facts of the study that are not in it."""

import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any

from markupsafe import Markup

from analysis import paths
from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show
from analysis.findings.assumed import SAID, reconstruction
from analysis.redact import redact
from analysis.report.post_parts import Picture, Said
from analysis.report.results import estimate_from_json, key
from analysis.report.takeaways import CANNOT_TELL, rank
from analysis.store.opened import Store

LAST = "select max(scraped_at_s) from pages where scraped_at_source <> 'mtime'"
BOOTS = "select boot, max_model_len_tokens, max_num_batched_tokens from boots order by boot"
SERVED = "select max_model_len_tokens, max_num_batched_tokens from boots where outcome = 'served' order by all"
ENGINES = "select distinct engine from boots where engine is not null order by engine"
Json = dict[str, Any]
_SPEC = re.compile(r'<script type="application/json" class="spec">.*?</script>', re.S)
"""What a script draws a figure from again; an article is read, and its pictures stand still."""
ALT = 600
"""Longest text alternative of a picture, in characters: all of the numbers are in its table."""


@dataclass(frozen=True)
class Material:
    """The study and its report, with what sections ask of them."""

    study: Store
    report: Path

    @cached_property
    def results(self) -> Json:
        """results.json."""
        found: Json = json.loads((self.report / "results.json").read_text(encoding="utf-8"))
        return found

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Every estimate of the report by its key."""
        return {key(row): estimate_from_json(row) for row in self.results["estimates"]}

    @property
    def claims(self) -> list[Json]:
        """The ledger, as results.json has it."""
        return list(self.results["claims"])

    @cached_property
    def banner(self) -> str:
        """What says that the study was reconstructed; empty for raw files."""
        return redact(reconstruction(self.study.connection)).text

    @property
    def question(self) -> str:
        """What study.toml says was asked; empty where it does not."""
        return str(self.results["question"])

    @cached_property
    def date(self) -> str:
        """The day of the last metric page that says when it was made, else that of the release; of raw files only."""
        [(last,)] = self.study.sql(LAST).rows()
        if last is None or self.banner:
            return cited("date-released")
        return datetime.fromtimestamp(last, UTC).date().isoformat()

    @cached_property
    def settings(self) -> dict[str, tuple[int | None, int | None]]:
        """Maximum length and batch tokens of each boot, None where its log does not say."""
        return {redact(boot).text: (length, batch) for boot, length, batch in self.study.sql(BOOTS).iter_rows()}

    def is_sweep(self) -> bool:
        """Whether the boots that served differ in the length they allow, and in batch tokens they do not."""
        lengths, batches = (set(column) for column in self.study.sql(SERVED).iter_columns())
        return len(lengths - {None}) > 1 and len(batches) == 1

    @cached_property
    def engines(self) -> list[str]:
        """The engines whose boots were read."""
        return [str(engine) for (engine,) in self.study.sql(ENGINES).iter_rows()]

    def every(self, id: str, **place: str) -> list[Estimate]:
        """The estimates of an id and place that have a figure which rests on nothing assumed."""
        return [
            e for e in self.estimates.values()
            if e.id == id and place.items() <= e.qualifiers.items() and is_known(e)
        ]  # fmt: skip

    def one(self, id: str, **place: str) -> Estimate | None:
        """The one such estimate, None where there are several or none."""
        found = self.every(id, **place)
        return found[0] if len(found) == 1 else None

    def place(self, id: str) -> Mapping[str, str]:
        """The qualifiers of the one estimate of an id; of none, and of several, nothing."""
        found = self.one(id)
        return found.qualifiers if found else {}

    def is_assumed(self, id: str, **place: str) -> bool:
        """Whether there is such a figure and its value rests on what was assumed."""
        return any(
            e.id == id and place.items() <= e.qualifiers.items() and _warns(e, SAID["values"])
            for e in self.estimates.values()
        )

    def takeaway(self, page: str, *ids: str) -> Said | None:
        """What the report says first on a page, and of it what rests on one of these ids, where ids are given.

        None where nothing is sure there: a post tells what was found, its limitations what was not.
        """
        for row in self.results["takeaways"]:
            rests = [self.estimates[k] for k in map(key, row["estimates"]) if k in self.estimates]
            if row["page"] != page or (ids and not {e.id for e in rests} & set(ids)):
                continue
            if rank(row, [e.to_json() for e in rests]) < CANNOT_TELL or any(e.value is not None for e in rests):
                return Said(row["sentence"], tuple(rests))
        return None

    def picture(self, name: str) -> Picture | None:
        """A figure as a page of the report shows it; None where the report has none of this name."""
        for page in sorted(self.report.glob("[0-9]*.html")):
            html = page.read_text(encoding="utf-8")
            found = re.search(rf'<figure id="fig-{re.escape(name)}">.*?</figure>', html, re.S)
            if found and (self.report / "figures" / f"{name}.svg").is_file():
                caption = _inner(r"<figcaption>(.*?)(?:<span|</figcaption>)", found[0])
                alt = textwrap.shorten(_inner(r'aria-label="([^"]*)"', found[0]), ALT, placeholder=" …")
                title = _inner(r'<p class="title">(.*?)</p>', found[0])
                return Picture(name, title.rstrip("."), alt, caption.rstrip("."), Markup(_SPEC.sub("", found[0])))
        return None


def cited(field: str) -> str:
    """A plain field of CITATION.cff."""
    text = (paths.ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(rf'^\s*(?:- )?{field}: "?(.*?)"?$', text, re.M)
    return found[1] if found else ""


def is_known(estimate: Estimate) -> bool:
    """Whether there is a figure whose value rests on nothing that was assumed."""
    return (estimate.value is not None or estimate.low is not None) and not _warns(estimate, SAID["values"])


def interval_is_assumed(estimates: Iterable[Estimate]) -> bool:
    """Whether some interval rests on what was assumed: no sentence may rest on it then."""
    return any(_warns(e, SAID["intervals"]) for e in estimates)


def without_assumed(estimate: Estimate) -> Estimate:
    """An estimate without the warnings that were computed on what was assumed; that it was assumed stays said."""
    marks = tuple(w for w in estimate.warnings if w.startswith(tuple(SAID.values())))
    return replace(estimate, warnings=marks) if marks else estimate


def counted(estimate: Estimate) -> str:
    """A figure as it was counted for what was recorded, without the interval for the service behind it."""
    return show(replace(estimate, kind="census", low=None, high=None))


def ratio(a: Estimate, b: Estimate) -> str:
    """One counted figure over another, in times."""
    assert a.value is not None and b.value
    return show(Estimate(a.value / b.value, "x", "census", "ratio", reason="census"))


def _warns(estimate: Estimate, text: str) -> bool:
    return any(warning.startswith(text) for warning in estimate.warnings)


def _inner(pattern: str, html: str) -> str:
    found = re.search(pattern, html, re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", found[1])).split()) if found else ""
