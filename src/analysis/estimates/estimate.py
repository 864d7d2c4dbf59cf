"""The one shape of a figure: value, interval, what it rests on, and where it came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Literal

Kind = Literal["census", "estimate", "bound", "identity"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where an input came from: a file of the study, and the line, series or window in it.

    `quote` is the line itself, as read; the report redacts it before it is shown.
    """

    file: str
    line: int | None = None
    series: str | None = None
    window: str | None = None
    quote: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The evidence as results.json has it, without the keys that are not known."""
        return {k: v for k in ("file", "line", "series", "window", "quote") if (v := getattr(self, k)) is not None}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure that may be printed.

    `value`, `low` and `high` are in `unit`, base units (s, bytes, tokens, 1 for a share). An unlimited end is +-inf.
    `kind` is census (counted, exact, no interval), estimate (of the service; has an interval or a `reason`), bound
    (the truth cannot lie outside) or identity (must hold exactly). `n` counts independent units, which `n_of` names
    (requests, blocks, boots). `reason` says why the value or the interval is absent. `sensitivity` holds the interval
    again under a worse assumption, by the name of that assumption ("design effect 2"). `picked` says which method was
    chosen by what data exist, and why (`choose.py`).
    """

    value: float | None
    unit: str
    kind: Kind
    method: str
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    n: int | None = None
    n_of: str = ""
    assumption: str = ""
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    id: str = ""
    finding: str = ""
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    verdict: str | None = None
    sensitivity: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    picked: str = ""

    def __post_init__(self) -> None:
        """Refuse a figure without an interval and without the reason that there is none."""
        if self.kind == "estimate" and self.low is None and self.reason is None:
            raise ValueError("an estimate needs an interval or the reason that there is none")
        if self.value is None and self.reason is None:
            raise ValueError("a missing value needs a reason")

    def named(self, id: str, finding: str, **qualifiers: str) -> "Estimate":
        """The same figure under a results id (docs/results.md), with its finding and qualifiers."""
        return replace(self, id=id, finding=finding, qualifiers={**self.qualifiers, **qualifiers})

    def with_warnings(self, *warnings: str) -> "Estimate":
        """The same figure with further warnings."""
        return replace(self, warnings=(*self.warnings, *warnings))

    def with_evidence(self, *evidence: Evidence) -> "Estimate":
        """The same figure with further evidence."""
        return replace(self, evidence=tuple(dict.fromkeys((*self.evidence, *evidence))))

    def to_json(self) -> dict[str, Any]:
        """The figure as results.json has it: strict JSON numbers; an unlimited end is null with a warning."""
        warnings = list(self.warnings)
        low, high = _finite(self.low, "lower", warnings), _finite(self.high, "upper", warnings)
        row: dict[str, Any] = {
            "id": self.id, "finding": self.finding, "qualifiers": dict(self.qualifiers),
            "value": _finite(self.value, "value", warnings), "low": low, "high": high,
            "confidence": self.confidence, "unit": self.unit, "n": self.n, "n_of": self.n_of,
            "method": self.method, "kind": self.kind, "assumption": self.assumption, "reason": self.reason,
            "warnings": warnings, "evidence": [e.to_json() for e in self.evidence],
        }  # fmt: skip
        if self.verdict is not None:
            row["verdict"] = self.verdict
        if self.picked:
            row["picked"] = self.picked
        if self.sensitivity:
            row["sensitivity"] = {
                name: [end if isfinite(end) else None for end in ends] for name, ends in self.sensitivity.items()
            }
        return row


def _finite(number: float | None, end: str, warnings: list[str]) -> float | None:
    if number is None or isfinite(number):
        return number
    warnings.append(f"no {end} limit" if end != "value" else "the value is not finite")
    return None


def no_interval(
    value: float | None, unit: str, method: str, reason: str, *,
    n: int | None = None, n_of: str = "", assumption: str = "", warnings: tuple[str, ...] = (),
) -> Estimate:  # fmt: skip
    """An estimate that has no honest interval; `reason` completes the sentence "no interval: ..."."""
    return Estimate(
        value=value, unit=unit, kind="estimate", method=method, reason=reason,
        n=n, n_of=n_of, assumption=assumption, warnings=warnings,
    )  # fmt: skip


def not_computable(unit: str, missing: str) -> Estimate:
    """A figure that the study cannot give; `missing` names what is not there. Never zero."""
    return Estimate(value=None, unit=unit, kind="estimate", method="none", reason=f"not computable: {missing}")
