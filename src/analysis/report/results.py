"""What the notebooks recorded, as one results.json."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from pathlib import Path
from typing import Any

from analysis.estimates.estimate import Estimate, Evidence
from analysis.redact import Redacted, named, redact
from analysis.report.errors import ReportError
from analysis.report.takeaways import ordered

Json = dict[str, Any]
_KEPT = {"id", "unit", "kind", "finding", "page"}  # our own words: never redacted


@dataclass(frozen=True, slots=True)
class Results:
    """The merged results: results.json itself, the page of each estimate, and what was taken out."""

    json: Json
    page_of: Mapping[str, str]
    redacted: Mapping[str, int]

    def estimates(self) -> list[Estimate]:
        """The estimates as objects, in the order of results.json."""
        return [estimate_from_json(row) for row in self.json["estimates"]]


def key(row: Mapping[str, Any]) -> str:
    """What identifies an estimate: its id and its qualifiers."""
    return json.dumps([row["id"], row.get("qualifiers", {})], sort_keys=True, ensure_ascii=False)


def merge(folder: Path, pages: list[str], study: str, generated_from: Mapping[str, Any], question: str = "") -> Results:
    """Merge `<folder>/<page>.json` of the pages, in their order, into one object with sorted lists.

    `question` is what the study asks; what its arms are, some page recorded. Texts that stem from logs are redacted.
    Raises ReportError when two notebooks disagree on one estimate or claim.
    """
    if strangers := sorted({path.stem for path in folder.glob("*.json")} - set(pages)):
        raise ReportError(f"results/{strangers[0]}.json is of no page: name it after its notebook, {', '.join(pages)}")
    rows: dict[str, list[tuple[str, Json]]] = {"estimates": [], "claims": [], "takeaways": []}
    arms: Json = {}
    for page in pages:
        part = _read(folder / f"{page}.json")
        arms = arms or part.get("arms") or {}
        for name, found in rows.items():
            found += [(page, row) for row in part.get(name, [])]
    kinds: Counter[str] = Counter()
    merged: Json = {
        "study": study,
        "question": _redacted(question, kinds),
        "arms": _redacted(arms, kinds),
        "generated_from": dict(generated_from),
        "estimates": _unique(rows["estimates"], key, kinds),
        "claims": _unique(rows["claims"], lambda claim: str(claim["id"]), kinds),
        "takeaways": [_redacted({**row, "page": page}, kinds) for page, row in rows["takeaways"]],
    }
    merged["takeaways"] = ordered(merged["takeaways"], {key(row): row for row in merged["estimates"]}, key)
    # By the keys that results.json has: a qualifier may have been redacted.
    page_of = {key(_redacted(row, Counter())): page for page, row in reversed(rows["estimates"])}
    return Results(merged, page_of, dict(sorted(kinds.items())))


def write(results: Results, path: Path) -> None:
    """Write results.json: strict JSON, the same bytes for the same content. Raises ReportError for NaN or infinity."""
    try:
        text = json.dumps(results.json, indent=1, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ReportError(f"results.json cannot be written: a recorded number is not finite ({error})") from None
    path.write_text(text + "\n", encoding="utf-8")


def estimate_from_json(row: Mapping[str, Any]) -> Estimate:
    """The estimate that a row of results.json stands for; a null end with its warning is unlimited again."""
    known = {f.name for f in fields(Estimate)}
    values = {name: value for name, value in row.items() if name in known}
    warnings = list(values.get("warnings", ()))
    for end, warning, limit in (("low", "no lower limit", -inf), ("high", "no upper limit", inf)):
        if values.get(end) is None and warning in warnings:
            warnings.remove(warning)
            values[end] = limit
    values["warnings"] = tuple(warnings)
    values["evidence"] = tuple(Evidence(**e) for e in values.get("evidence", ()))
    return Estimate(**values)


def _read(path: Path) -> Json:
    if not path.exists():
        return {}
    part: Json = json.loads(path.read_text(encoding="utf-8"))
    return part


def _unique(rows: list[tuple[str, Json]], identity: Any, kinds: Counter[str]) -> list[Json]:
    seen: dict[str, tuple[str, Json]] = {}
    for page, row in rows:
        first = seen.setdefault(identity(row), (page, row))
        if first[1] != row:
            raise ReportError(f"the notebooks {first[0]} and {page} disagree on {identity(row)}")
    return sorted((_redacted(row, kinds) for _, row in seen.values()), key=identity)


def _redacted(value: Any, kinds: Counter[str]) -> Any:
    if isinstance(value, str):
        return _counted(redact(value), kinds)
    if isinstance(value, Mapping):
        return {k: _field(k, part, kinds) for k, part in value.items()}
    if isinstance(value, list):
        return [_redacted(part, kinds) for part in value]
    return value


def _field(name: str, value: Any, kinds: Counter[str]) -> Any:
    if not isinstance(value, str):
        return _redacted(value, kinds)
    return value if name in _KEPT else _counted(named(name, value), kinds)


def _counted(result: Redacted, kinds: Counter[str]) -> str:
    kinds.update(result.kinds)
    return result.text
