"""The answer to "will this boot start" as plain text, for the terminal."""

from analysis.estimates.rounding import show_chance
from analysis.findings.boot_risk import Risk, boots_to_settle, what_if
from analysis.findings.kv_boots import GIB
from analysis.findings.kv_request import Floor
from analysis.findings.kv_tables import ROUTES, closest, limited
from analysis.redact import redact

WORDS = {
    "safe": "safe: refused in at most one of twenty boots, by every route",
    "risky": "risky: refused in more than one of twenty boots",
    "cannot_tell": "cannot be told",
}


def text(answers: list[Risk]) -> str:
    """One block a population and length, redacted; a sentence where there is none."""
    if not answers:
        return (
            "Cannot be said: no boot log of this study prints its max_num_batched_tokens together with memory for the "
            "cache or a pool."
        )
    return "\n\n".join(redact(_block(answer)).text for answer in answers)


def _block(r: Risk) -> str:
    who = f" ({r.series.name})" if r.series.name else ""
    found = [f"max_num_batched_tokens {r.batch:,}, max_model_len {r.length:,}{who}: {WORDS[r.verdict]}"]
    for e in r.routes:
        route = ROUTES[e.qualifiers["route"]]
        said = limited(r, e) if e.value is not None else (e.reason or "").removeprefix("not computable: ")
        found.append(f"  by {route}: {said}")
    if r.predicted is not None:
        low, high = max(r.predicted.mean - r.predicted.reach, 0.0), r.predicted.mean + r.predicted.reach
        found.append(
            f"  memory predicted: {r.predicted.mean / GIB:.2f} GiB [{low / GIB:.2f}, {high / GIB:.2f}] "
            f"from {r.predicted.n} boots"
        )
    if isinstance(r.floor, Floor):
        limit = f"at {r.need_limit} " if r.need_limit else ""
        found.append(f"  one longest request needs: {limit}{_size(r.floor.bytes)} ({r.floor.how})")
    else:
        found.append(f"  what one longest request needs: {r.floor}")
    if r.is_extrapolated:
        found.append("  extrapolated: no boot was made at or beyond this setting")
    found += [f"  note: {note}" for note in r.notes]
    if r.verdict == "cannot_tell" and (guesses := what_if(r)):
        found.append("  if boots scatter by " + ", ".join(f"{cv:.0%}: {show_chance(p)}" for cv, p in guesses))
    return "\n".join([*found, f"  next: {next_step(r)}"])


def _size(bytes: float) -> str:
    return f"{bytes / GIB:.2f} GiB" if bytes >= GIB else f"{bytes / 2**20:.1f} MiB"


def next_step(r: Risk) -> str:
    """What would settle it."""
    where = f"at {r.batch:,} batch tokens and length {r.length:,}"
    if r.verdict == "safe":
        return "nothing; boots of another host, version or compile cache are another population"
    if r.verdict == "risky" and r.refused:
        more = "set more memory for the cache, or " if r.series.is_pinned else ""
        return f"{r.refused} of {r.seen} boots were refused here; {more}lower the batch tokens or the length"
    needed = boots_to_settle(r)
    if needed is not None and r.seen < needed:
        return f"{needed} boots {where} show it safe if they scatter as the others do; a refused one counts too"
    return f"boot three times {where} and read the memory of each, refused or not"


def most_useful(answers: list[Risk]) -> str:
    """The next step for the closest call; without one, for the first setting tried of which it cannot be told."""
    open_ones = [r for r in answers if r.verdict == "cannot_tell" and not r.is_extrapolated]
    call = closest(answers) or next(iter(open_ones), None)
    return next_step(call) if call is not None else ""
