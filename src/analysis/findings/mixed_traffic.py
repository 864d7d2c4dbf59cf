"""Times, records and goodput by traffic class and phase, from what clients wrote down; blocks of time are the units."""

from dataclasses import replace

import duckdb
import numpy as np
import polars as pl

from analysis.estimates import choose, rates
from analysis.estimates.clusters import clustered_ratio
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.rounding import show_number
from analysis.findings.class_groups import Group
from analysis.findings.mixed_quantiles import of_requests, ordinary, point, points
from analysis.findings.objective import REQUEST_LIMITS, Objective

FINDING = "60-mixed-traffic"
QUANTILES = (0.5, 0.95)
MEASURES: tuple[tuple[str, str, str, dict[str, str], str], ...] = (
    ("mixed.ttft", "ttft_s", "s", {}, "no time of the first token"),
    ("mixed.inter_token", "typical_s", "s", {"gap": "typical"}, "no arrivals with a count of tokens (tokens_cum)"),
    ("mixed.inter_token", "longest_s", "s", {"gap": "longest"}, "no arrivals of tokens (token_at)"),
    ("mixed.completion", "e2e_s", "s", {}, "no time of the end"),
    ("mixed.decode_rate", "decode_rate", "tokens/s", {}, "no output tokens, or no time of the last one"),
)
"""Results id, column of a group's completed requests, unit, qualifiers, and what is missing where it is empty."""
LEAST_VISITS = 3
"""Visits of each phase that an interval of a difference takes: of one visit each, whatever else changed is in it."""
SHORTEST = 128
"""Prompts of up to so many tokens are one length; above, each length is twice the one below it."""
COLUMN_OF = {"ttft_s": "ttft_s", "inter_token_s": "typical_s", "completion_s": "e2e_s"}
UNJUDGED = "the trace does not say which outputs are valid records (valid); that an output parses does not make it one"


def times(group: Group) -> list[Estimate]:
    """mixed.ttft, mixed.inter_token, mixed.completion and mixed.decode_rate of a group, at p50 and at the slow tail."""
    found = []
    if not group.requests.filter("is_completed").height:
        return []
    unplaced = not group.done.height
    for id, column, unit, more, missing in MEASURES:
        quantiles = (0.5, 0.05) if id == "mixed.decode_rate" else QUANTILES
        missing = "the records do not say when a request was sent, so there are no blocks" if unplaced else missing
        found += [_quantile(group, id, column, unit, q, missing, more) for q in quantiles]
    return found


def ttft_by_length(group: Group) -> list[Estimate]:
    """mixed.ttft again by the length of the conversation: the prompt's tokens, in doubling steps."""
    done = group.done.filter(pl.col("prompt_tokens").is_not_null() & pl.col("ttft_s").is_not_null())
    lengths = sorted({length_of(tokens) for tokens in done["prompt_tokens"]})
    found = []
    for top in lengths:
        mine = np.array([tokens is not None and length_of(tokens) == top for tokens in group.done["prompt_tokens"]])
        part = replace(group, done=group.done.filter(pl.Series(mine)), block=group.block[mine])
        name = f"{top // 2 + 1 if top > SHORTEST else 1} to {top}"
        found += [_quantile(part, "mixed.ttft", "ttft_s", "s", q, "", {"prompt_tokens": name}) for q in QUANTILES]
    return found


def length_of(tokens: int) -> int:
    """The upper end of the step that a prompt length is in: 128, 256, 512, ..."""
    return max(SHORTEST, 1 << (max(int(tokens), 1) - 1).bit_length())


def _quantile(
    group: Group, id: str, column: str, unit: str, q: float, missing: str, more: dict[str, str]
) -> Estimate:  # fmt: skip
    values, block = group.column(column)
    if not len(values):
        estimate = not_computable(unit, missing)
    else:
        chosen = ordinary(choose.quantile(q, unit, values=values, block=block), point(values, q), q)
        estimate = chosen.with_warnings(f"requests: {of_requests(len(values), q)}", *_by_block(values, block, q, unit))
        if (lost := group.done.height - len(values)) > 0:
            estimate = estimate.with_warnings(f"{lost} of {group.done.height} completed requests do not say it")
    named = {**group.qualifiers, **more, "quantile": f"p{100 * q:g}"}
    return estimate.with_evidence(*group.evidence).named(id, FINDING, **named)


def _by_block(values: np.ndarray, block: np.ndarray, q: float, unit: str) -> tuple[str, ...]:
    """The range of the blocks, which is all that few blocks can say."""
    each = points(values, block, q)
    if len(each) < 2:
        return ()
    ends = f"{show_number(min(each), unit, digits=2)} to {show_number(max(each), unit, digits=2)}"
    return (f"by block: {ends} ({len(each)} blocks)",)


def records(group: Group, objective: Objective, judged: bool) -> list[Estimate]:
    """mixed.valid_records_per_hour of a group: only where some class of the study has its outputs judged (`judged`)."""
    known = group.done.filter(pl.col("valid").is_not_null())
    if not known.height:
        missing = [not_computable("1/h", UNJUDGED)] if not judged else []
        return [e.named("mixed.valid_records_per_hour", FINDING, **group.qualifiers) for e in missing]
    estimate = _per_hour(group, known)
    notes = [
        "clock: in each visit from the first request of the class sent to its last end; ramp-up and drain are inside"
    ]
    notes += [f"{known.filter(~pl.col('valid')).height} of {known.height} completed outputs are not valid records"]
    if (open_ones := group.done.height - known.height) > 0:
        notes.append(f"{open_ones} completed outputs were not judged and count as not valid")
    rule = objective.text.get("valid_record")
    notes.append(
        f"valid: {rule}" if rule else "what makes a record valid was not declared: it is the client's judgement"
    )
    said = estimate.with_warnings(*notes).with_evidence(*group.evidence)
    return [said.named("mixed.valid_records_per_hour", FINDING, **group.qualifiers)]


def _per_hour(group: Group, known: pl.DataFrame) -> Estimate:
    """Blocks of time of one visit; with three visits and more, the visits themselves are the units."""
    times = (
        group.done.drop_nulls(["start_s", "end_s"])
        .group_by("visit")
        .agg(pl.col("start_s").min(), pl.col("end_s").max())
    )
    valid = known.filter("valid").drop_nulls("end_s")
    if not times.height:
        return not_computable("1/h", "the requests have no times")
    if times.height == 1:
        _, start, end = times.row(0)
        return rates.rate_per_hour(valid["end_s"].to_numpy(), float(start), float(end))
    visits = times.join(valid.group_by("visit").len(), on="visit", how="left").sort("visit")
    counts = visits["len"].fill_null(0).cast(pl.Float64).to_numpy()
    hours = (visits["end_s"] - visits["start_s"]).to_numpy() / rates.HOUR_S
    if times.height < LEAST_VISITS or not hours.min() > 0:
        why = f"fewer than {LEAST_VISITS} visits of the phase"
        return no_interval(float(counts.sum() / hours.sum()), "1/h", "rate", why, n=times.height, n_of="visits")
    each = np.arange(len(counts))
    return clustered_ratio(counts, hours, each, "1/h", "visits", "visits of a phase are independent")


def goodput(group: Group, objective: Objective) -> list[Estimate]:
    """mixed.goodput: the share of requests that met every declared limit of their class; `counted` all or finished."""
    limits = {k: v for k, v in objective.classes.get(group.name, {}).items() if k in REQUEST_LIMITS}
    if not limits:
        return []
    done = group.done
    unknown = [k for k in limits if done[COLUMN_OF[k]].null_count() == done.height]
    if unknown or not done.height:
        why = not_computable("1", f"no request says its {', '.join(unknown) or 'times'}")
        pair = [(name, why) for name in ("all", "finished")]
    else:
        within = (pl.col(COLUMN_OF[k]).fill_null(float("inf")) <= v for k, v in limits.items())
        met = done.select(pl.all_horizontal(*within))
        ok = met.to_series().cast(pl.Float64) * done["valid"].fill_null(True).cast(pl.Float64)
        both = rates.goodput(ok.to_numpy(), done["start_s"].to_numpy(), group.requests.height - done.height)
        pair = list(zip(("all", "finished"), both, strict=True))
    said = "met: " + ", ".join(f"{k} at most {v:g}" for k, v in sorted(limits.items())) + ", and not an invalid record"
    return [
        e.with_warnings(said).with_evidence(*group.evidence)
        .named("mixed.goodput", FINDING, **group.qualifiers, counted=name) for name, e in pair
    ]  # fmt: skip


def outcomes(group: Group) -> list[Estimate]:
    """mixed.requests: how many requests of a group ended in each status, and how the client judged them; counted."""
    judged = group.requests["outcome"].drop_nulls()
    counts = {
        "completed": group.requests.filter("is_completed").height,
        **{s: group.requests.filter(status=s).height for s in ("error", "aborted", "incomplete")},
    }
    counts["completed without output"] = group.requests.height - sum(counts.values())
    if judged.len():
        counts |= {name: int((judged == name).sum()) for name in ("pass", "retry", "abstain", "repair")}
    again = group.requests.filter(pl.col("attempt") > 1).height
    if group.requests["attempt"].null_count() < group.requests.height:
        counts["attempts after the first"] = again
    return [
        Estimate(
            float(count), "1", "census", "counted in the trace", n=group.requests.height, n_of="requests",
            reason="census: the requests of this trace", evidence=group.evidence,
        ).named("mixed.requests", FINDING, **group.qualifiers, outcome=outcome)
        for outcome, count in counts.items() if count >= 0
    ]  # fmt: skip


def judged(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether any completed request of the study says if its output is a valid record."""
    query = "select count(valid) > 0 from class_requests where is_completed"
    return bool(connection.sql(query).fetchall()[0][0])
