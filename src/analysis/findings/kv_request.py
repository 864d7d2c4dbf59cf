"""What one request needs: a + b x length at one batch size, and the need at settings that were not tried."""

from dataclasses import dataclass, replace

import duckdb
import numpy as np

from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.request_cost import BLOCK_ROUNDING, request_cost, request_cost_from_needs
from analysis.estimates.rounding import show_value
from analysis.findings.kv_boots import FINDING, GIB, Cell, KvBoot, lines, settings

SATURATED = (
    "boots whose batch is as long as the length or longer are left out: there a request is held whole by every layer"
)


@dataclass(frozen=True)
class Parts:
    """The two parts of a request at one batch size of one setting: (a, b), and by which route."""

    setting: str
    batch: int
    route: str
    fixed: Estimate
    per_token: Estimate
    lengths: tuple[int, ...]

    @property
    def is_known(self) -> bool:
        """Whether both parts could be told."""
        return self.fixed.value is not None and self.per_token.value is not None

    def need(self, length: int) -> float:
        """The need of a request of `length` on the line (bytes)."""
        return (self.fixed.value or 0.0) + (self.per_token.value or 0.0) * length


@dataclass(frozen=True)
class Floor:
    """What a boot must have to start: the need of one longest request (bytes), how it is known, and where it is not."""

    bytes: float
    how: str
    is_extrapolated: bool = False
    is_limit: str = ""


def parts(connection: duckdb.DuckDBPyConnection, boots: list[KvBoot], found: list[Cell]) -> list[Parts]:
    """kv.request_fixed and kv.request_per_token at each setting and batch size, by the routes that the logs allow.

    `refusal`: one message names the need at the length asked for and the longest length that fits, free of boot noise.
    `lengths`: the needs at the shortest and the longest length that boots were made with.
    """
    made, names = [], settings(boots)
    for setting, batch in sorted({(b.request_setting, b.batch_tokens) for b in boots if b.batch_tokens is not None}):
        of = [b for b in boots if (b.request_setting, b.batch_tokens) == (setting, batch)]
        by_length = [c for c in found if (c.setting, c.batch) == (setting, batch)]
        got = [*_by_refusal(setting, batch, of), *_by_lengths(setting, batch, by_length)]
        if not got and by_length:
            got = [_unidentified(setting, batch, by_length)]
        made += [_evident(connection, p, of, {"setting": names[setting]} if len(names) > 1 else {}) for p in got]
    return made


def _by_refusal(setting: str, batch: int, of: list[KvBoot]) -> list[Parts]:
    messages = {
        (b.length_tokens, b.refused_need_bytes, b.available_bytes, b.estimated_length_tokens, b.rounding_bytes): b.boot
        for b in of
        if b.refused_need_bytes and b.available_bytes is not None and b.estimated_length_tokens
    }
    made = []
    for (length, need, left, longest, rounding), boot in messages.items():
        a, b = request_cost(length, need or 0, left or 0, longest or 0, rounding)
        route = "refusal" if len(messages) == 1 else f"refusal of {boot}"
        made.append(Parts(setting, batch, route, a, b, (longest or 0, length)))
    return made


def _by_lengths(setting: str, batch: int, by_length: list[Cell]) -> list[Parts]:
    held = [c for c in by_length if c.length > batch]
    usable = [c for c in held if not c.is_broken]
    if len({c.length for c in held}) < 2:
        return []
    if len(usable) < 2:
        why = "withheld: boots of one configuration contradict each other on what a request needs"
        none = [no_interval(None, unit, "needs at two lengths", why) for unit in ("bytes", "bytes/token")]
        return [Parts(setting, batch, "lengths", none[0], none[1], ())]
    short, long = usable[0], usable[-1]
    rounding = max(short.need_rounding, long.need_rounding)
    a, b = request_cost_from_needs(short.length, short.need, long.length, long.need, rounding)
    made = Parts(setting, batch, "lengths", a, b, tuple(c.length for c in usable))
    notes = [SATURATED] if len(held) < len(by_length) else []
    for c in usable[1:-1]:
        off = abs(c.need - made.need(c.length)) - c.need_rounding
        if off > BLOCK_ROUNDING * c.need:
            notes.append(f"not a straight line: the need at {c.length:,} tokens lies {off / c.need:.0%} off it")
    return [Parts(setting, batch, "lengths", a.with_warnings(*notes), b.with_warnings(*notes), made.lengths)]


def _unidentified(setting: str, batch: int, by_length: list[Cell]) -> Parts:
    cell = by_length[-1]
    known = f"only their sum is known, {cell.need / GIB:.3g} GiB at {cell.length:,} tokens"
    why = f"boots of one length and no refusal with an estimated maximum length: {known}"
    if cell.is_broken:
        why = "boots of one length that contradict each other, and no refusal with an estimated maximum length"
    none = [no_interval(None, unit, "none", f"not computable: {why}") for unit in ("bytes", "bytes/token")]
    return Parts(setting, batch, "lengths", none[0], none[1], ())


def _evident(connection: duckdb.DuckDBPyConnection, p: Parts, of: list[KvBoot], named: dict[str, str]) -> Parts:
    evidence = lines(connection, of)
    a, b = (
        e.with_evidence(*evidence).named(id, FINDING, batch_tokens=str(p.batch), route=p.route, **named)
        for id, e in (("kv.request_fixed", p.fixed), ("kv.request_per_token", p.per_token))
    )
    return Parts(p.setting, p.batch, p.route, a, b, p.lengths)


def needs(connection: duckdb.DuckDBPyConnection, boots: list[KvBoot], found: list[Cell]) -> list[Estimate]:
    """kv.request_need of each cell: what its boots say that one longest request needs; none where they contradict."""
    names, made = settings(boots), []
    for c in found:
        e = not_computable(
            "bytes", f"its {len(c.boots)} boots contradict each other, by {show_value(c.agreement)}"
        ) if c.is_broken else Estimate(
            c.need, "bytes", "bound", "available x length / pool, by the boots whose log rounds it least",
            c.need - c.need_rounding, c.need + c.need_rounding,
            assumption="the available memory logged is the memory that sized the pool",
        )  # fmt: skip
        e = replace(e, n=len(c.boots), n_of="boots", verdict=c.agreement.verdict)
        e = e.with_evidence(*lines(connection, c.boots))
        of = {"setting": names[c.setting]} if len(names) > 1 else {}
        made.append(e.named("kv.request_need", FINDING, max_model_len=str(c.length), batch_tokens=str(c.batch), **of))
    return made


def floor(setting: str, batch: int, length: int, found: list[Cell], known: list[Parts]) -> Floor | str:
    """What a boot must have at this batch size and length, or why it cannot be said.

    As measured there; else on the line between the batch sizes tried at this length (a request never has more than its
    length in flight, so a batch beyond it changes nothing); else on a + b x length at this batch size.
    """
    here = [c for c in found if (c.setting, c.length) == (setting, length) and not c.is_broken]
    exact = next((c for c in here if min(c.batch, length) == min(batch, length)), None)
    if exact is not None:
        past = f"measured at {exact.batch:,} batch tokens: a batch past the length changes nothing"
        return Floor(exact.need, "measured at this setting" if exact.batch == batch else past)
    if len(here) > 1:
        return _between(here, batch, length)
    lines_here = [p for p in known if (p.setting, p.batch) == (setting, batch) and p.is_known and length > batch]
    if lines_here:
        best = min(lines_here, key=lambda p: (p.fixed.high or 0) - (p.fixed.low or 0))
        outside = not min(best.lengths) <= length <= max(best.lengths)
        return Floor(best.need(length), f"a + b x length, by {best.route}", outside)
    if here:
        side = "most" if here[0].batch > batch else "least"
        how = f"the need at {here[0].batch:,} batch tokens, which is the {side} it can be here"
        return Floor(here[0].need, how, is_limit=side)
    return f"what a request of {length:,} tokens needs at {batch:,} batch tokens is not known"


def _between(here: list[Cell], batch: int, length: int) -> Floor:
    needs = {float(min(c.batch, length)): c.need for c in here}
    x, y, at = np.array(sorted(needs)), np.array([needs[n] for n in sorted(needs)]), float(min(batch, length))
    if x[0] <= at <= x[-1]:
        return Floor(float(np.interp(at, x, y)), "on the line between the batch sizes tried at this length")
    if len(x) < 2:
        return Floor(float(y[0]), "the need at the nearest batch size")
    near = slice(0, 2) if at < x[0] else slice(-2, None)
    (x0, x1), (y0, y1) = x[near], y[near]
    return Floor(float(y0 + (at - x0) * (y1 - y0) / (x1 - x0)), "beyond the batch sizes tried", True)
