"""Assumption: runs are independent and log-normal. Comparisons of one measure whose intervals hold together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from analysis.estimates import choose
from analysis.estimates.compare import against_base, all_pairs, decided
from analysis.estimates.estimate import Estimate

Pair = tuple[str, str]
Sessions = Mapping[str, list[str]]


def compare_pairs(
    values: Mapping[str, ArrayLike],
    pairs: Sequence[Pair],
    *,
    sessions: Sessions | None = None,
    margin: float | None = None,
) -> dict[Pair, Estimate]:
    """For each pair (a, b) of arms the ratio b over a with its verdict; `values` has one number a run of each arm.

    Pairs that have runs enough are one family: their intervals hold together at 95 % (Dunnett where all share their
    base, Tukey where they are all pairs there are, both for arms that are not paired by session; else Bonferroni).
    Dunnett and Tukey take the scatter of all arms for equal: where the pair's own interval is the wider one, it holds.
    Equivalence needs each pair's own two one-sided tests and no correction. What the pair's interval would be alone
    is in its sensitivity.
    """
    of = dict(sessions or {})
    alone = {
        (a, b): choose.compare(values[b], values[a], session_a=of.get(b), session_b=of.get(a), margin=margin)
        for a, b in pairs
    }
    members = [pair for pair, e in alone.items() if e.low is not None]
    if len(members) < 2:
        return alone
    paired = any(alone[pair].n_of == "pairs of sessions" for pair in members)
    joint = {} if paired else _together(values, members)
    if not joint:
        joint = {
            (a, b): choose.compare(
                values[b], values[a], session_a=of.get(b), session_b=of.get(a), margin=margin, family=len(members)
            )
            for a, b in members
        }
    return {pair: _member(e, joint[pair], len(members), margin) if pair in joint else e for pair, e in alone.items()}


def _together(values: Mapping[str, ArrayLike], members: list[Pair]) -> dict[Pair, Estimate]:
    """Dunnett or Tukey for these pairs; empty where neither fits."""
    bases, arms = {a for a, _ in members}, list(dict.fromkeys(arm for pair in members for arm in pair))
    if len(bases) == 1:
        (base,) = bases
        found = dict(zip(members, against_base(values[base], [values[b] for _, b in members]), strict=True))
    elif len(members) == len(arms) * (len(arms) - 1) // 2:
        # Later arms first: Tukey's pairs are earlier over later, ours are b over a.
        order = arms[::-1]
        tukey = all_pairs([values[arm] for arm in order])
        found = {(order[j], order[i]): e for (i, j), e in tukey.items()}
        found = {pair: e for pair, e in found.items() if pair in members}
    else:
        return {}
    return found if len(found) == len(members) and all(e.low is not None for e in found.values()) else {}


def _member(alone: Estimate, joint: Estimate, size: int, margin: float | None) -> Estimate:
    """The pair's estimate with the family's interval, and the verdict that this interval allows."""
    if joint.low is None or joint.high is None or alone.low is None or alone.high is None:
        return alone
    ends = {f"this comparison alone, not one of {size}": (alone.low, alone.high), **alone.sensitivity}
    low, high = min(joint.low, alone.low), max(joint.high, alone.high)
    verdict = "equivalent" if alone.verdict == "equivalent" else decided(low, high)
    # Each end is the farther one; where both are the pair's own, so are method and assumption.
    own = (low, high) == (alone.low, alone.high)
    method, assumption = (alone.method, alone.assumption) if own else (joint.method, joint.assumption)
    wider = f" (wider than {joint.method})" if own else ""
    found = replace(
        alone, low=low, high=high, method=f"{method}{wider}; {size} comparisons hold together",
        assumption=assumption, verdict=verdict, sensitivity=ends,
    )  # fmt: skip
    if verdict == "cannot_tell" and alone.verdict == "different":
        found = found.with_warnings(f"alone this difference would be shown, as one of {size} comparisons it is not")
    return found
