"""The sections of a post on time: what was asked, the engine's own accounting, rates, and levers."""

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number
from analysis.report.post_material import Material, counted, interval_is_assumed, ratio
from analysis.report.post_parts import Rows, Said, Section

SHARE = "time.prefill_share.request_seconds"
TIME_PAGE, LEVER_PAGE = "20-where-time-goes", "25-levers"
LOAD, PEAK, LONGEST = "rate.prompt_tokens_over_wall_clock", "rate.prefill.peak_window", "rate.prefill.longest_prompt"
MEAN, MEDIAN = "rate.prefill.mean", "rate.prefill.median_window"
LOAD_TITLE = "Tokens per wall second is load, not prefill speed"
BOOKING = "vllm-iteration-tokens-booking"
ASSUMED = "The interval given here rests on assumed figures of the reconstruction; what was counted does not."


def asked(m: Material) -> Section | None:
    """What the study asked and what there is to answer it."""
    said = [Said(f"The question was: {m.question}" if m.question else "The study states no question of its own.")]
    if m.claims:
        checks = sum(str(c["id"]).startswith("C") for c in m.claims)
        rest = len(m.claims) - checks
        also = f", with {show_number(checks)} checks on them that the publication did not make" if checks else ""
        said.append(
            Said(f"{show_number(rest)} statements were published about it; each is held below against the data{also}.")
        )
    read = m.takeaway("10-inventory", "boots.outcome_count")
    found = [Said("What there is to answer it with: " + read.text, read.rests)] if read else []
    return Section("What was asked", (tuple(said), tuple(found)) if found else (tuple(said),))


def accounting(m: Material) -> Section | None:
    """The engine's own seconds, and what its other counters say beside them."""
    first = m.takeaway(TIME_PAGE)
    if first is None:
        return None
    lead = (first, Said(ASSUMED)) if interval_is_assumed(first.rests) else (first,)
    paragraphs = [lead, (*_by_length(m), *_seconds(m)), tuple(_one_request(m)), tuple(_counters(m))]
    picture = m.picture("accountings" if m.every("time.prefill_share.step_time") else "prefill-share")
    return Section("What the engine's own accounting says", tuple(filter(None, paragraphs)), picture=picture)


def _seconds(m: Material) -> list[Said]:
    """The sums of the one run; of several runs the figure says it."""
    share, requests = m.one(SHARE), m.one("time.requests", **m.place(SHARE))
    if not (share and requests):
        return []
    text = (
        f"Behind the share are {show(requests)} requests; of their own seconds {counted(share)} are prefill, and that "
        "is a count."
    )
    return [Said(text, (requests, share))]


def _one_request(m: Material) -> list[Said]:
    """Where one long prompt was timed by its client: how its time divides."""
    alone = [
        e for e in m.every("time.wall_state", state="decode_only")
        if m.one(LONGEST, target=e.qualifiers.get("target", ""))
    ]  # fmt: skip
    if len(alone) != 1 or alone[0].value is None:
        return []
    which = _longest(m, alone[0])
    most = f"Even {which}" if alone[0].value > 0.5 else which[:1].upper() + which[1:]
    return [
        Said(f"{most} spent {counted(alone[0])} of its time in decode. "
             "It is one request, so it says nothing of how requests differ.", (alone[0],))
    ]  # fmt: skip


def _longest(m: Material, e: Estimate) -> str:
    """What the longest request by itself is called: of a reconstruction no client timed one."""
    if not m.banner:
        return "the longest prompt that a client timed by itself"
    rate = m.one(LONGEST, target=e.qualifiers.get("target", ""))
    tokens, found, _ = rate.method.partition(" prompt tokens over") if rate else ("", "", "")
    return f"a request of {tokens} tokens" if found else "the request with the longest prompt"


def _by_length(m: Material) -> list[Said]:
    """How far groups of prompts lie apart: the sums are of the mix that was sent."""
    by_length = [e for e in m.every("length.prefill_share") if "prompt_tokens" in e.qualifiers]  # the others: by class
    groups = sorted(by_length, key=lambda e: e.value or 0.0)
    if len(groups) < 2 or interval_is_assumed(groups):
        return []
    least, most = groups[0], groups[-1]
    text = (
        f"The share is of the mix that was sent: as clients saw it, prompts of {least.qualifiers['prompt_tokens']} "
        f"tokens spent {counted(least)} in prefill, prompts of {most.qualifiers['prompt_tokens']} tokens "
        f"{counted(most)}."
    )
    return [Said(text, (least, most))]


def _counters(m: Material) -> list[Said]:
    said = []
    small = [e for e in m.every("steps.share_at_most") if e.qualifiers.get("source") == "metric"]
    if len(small) == 1:
        text = (
            f"In the engine's histogram of tokens per step {counted(small[0])} of the entries are of at most "
            f"{small[0].qualifiers['tokens']}."
        )
        if any(d["defect"] == BOOKING for d in m.results["generated_from"]["defects"]):
            text += (
                " It books a whole prompt on the step of its first token and leaves out steps that only carry a part "
                "of one, so this is no share of all steps."
            )
        said.append(Said(text, (small[0],)))
    cut = m.one("finish.share", reason="length")
    if cut is not None:
        said.append(Said(f"Of the finished requests {show(cut)} ended at their length limit.", (cut,)))
    if unmatched := m.takeaway("10-inventory", "finish.unmatched"):
        said.append(unmatched)
    return said + _cache(m)


def _cache(m: Material) -> list[Said]:
    hits, computed = m.one("cache.prefix_hit_rate"), m.one("cache.computed_share")
    if not hits or not computed or not hits.value or computed.value != 1:
        return []
    text = (
        f"The engine's histograms say that {counted(computed)} of the prompt tokens were computed, its cache counters "
        f"that {counted(hits)} of the lookups hit: the two do not count the same thing, or one of them is wrong."
    )
    return [Said(text, (computed, hits))]


def rates(m: Material) -> Section | None:
    """A rate over all of the time beside rates of prefill."""
    loads = m.every(LOAD)
    peaks = {e.qualifiers.get("boot"): e for e in m.every(PEAK)}
    pairs = [(load, peaks[load.qualifiers.get("boot")]) for load in loads if load.qualifiers.get("boot") in peaks]
    if not pairs:
        return None
    title = LOAD_TITLE
    if len(pairs) > 1:
        lead = Said(
            "Prompt tokens over all of the time say what was asked of an engine. Prompt tokens over prefill seconds "
            "say how fast it reads. The peak is the highest of many intervals, chosen for being high.",
            tuple(e for pair in pairs for e in pair),
        )
        return Section(title, ((lead,),), table=_rate_table(m, pairs))
    [(load, peak)] = pairs
    # Nobody recorded the intervals of a reconstruction: its peak is a figure that was published.
    burst, which = (
        (f"In bursts, by the published figure, the engine read prompts at {show(peak)}", "a figure of bursts")
        if m.banner
        else (f"In its busiest scrape interval the engine read prompts at {show(peak)}, over the prefill seconds of "
              "that interval", "the highest of many intervals")
    )  # fmt: skip
    said = Said(
        f"All prompt tokens over all of the time are {show(load)}. {burst}: {ratio(peak, load)} as many. The first "
        f"is a mean of what was asked, the second {which}: the factor is one of a burst.",
        (load, peak),
    )
    return Section(title, ((said, *_like_for_like(m, load)),))


def _rate_table(m: Material, pairs: list[tuple[Estimate, Estimate]]) -> Rows:
    """One row a boot."""
    rows = []
    for load, peak in pairs:
        boot = load.qualifiers["boot"]
        mean, median = m.one(MEAN, boot=boot), m.one(MEDIAN, boot=boot)
        rows.append((boot, *(show(e) if e else "not computable" for e in (load, mean, median, peak))))
    head = ("boot", "over all of the time", "over prefill seconds", "median interval", "peak interval")
    return Rows("Rates by boot, in prompt tokens per second", head, tuple(rows))


def _like_for_like(m: Material, load: Estimate) -> list[Said]:
    said, mean, longest = [], m.one(MEAN), m.one(LONGEST)
    if mean is not None:
        said.append(Said(f"Like for like, prompt tokens over prefill seconds, it is {show(mean)}.", (mean,)))
    elif m.is_assumed(MEAN):
        said.append(Said("The figure that is like for like, prompt tokens over prefill seconds, was not published, and "
                         "we assumed one and do not use it."))  # fmt: skip
    if longest is not None and longest.value and load.value:
        side = "below" if longest.value < load.value else "above"
        said.append(Said(f"The longest prompt by itself was read at {show(longest)}, {side} the rate over the whole "
                         "time.", (longest,)))  # fmt: skip
    return said


def levers(m: Material) -> Section | None:
    """What each phase could give."""
    first = m.takeaway(LEVER_PAGE)
    if first is None:
        return None
    lead = (first, Said(ASSUMED)) if interval_is_assumed([*first.rests, *m.every(SHARE)]) else (first,)
    more, share = [], m.one(SHARE)
    free = [e for e in m.every("time.lever_ceiling", lever="prefill") if e.kind != "bound"]
    if share and share.value and share.value < 1 and len(free) == 1:
        whole = Estimate(1.0, "1", "census", "", reason="census")
        rest = Estimate(1 - share.value, "1", "census", "", reason="census")
        text = (
            f"For a request alone in the engine, free prefill would give {ratio(whole, rest)}. For the service that is "
            "no ceiling: while one prompt is read, other requests' decode waits, and the engine books the waiting as "
            "decode. A faster prefill would shorten it too."
        )
        more.append(Said(text, (share,)))
    return Section("What to change first", (lead, tuple(more)) if more else (lead,), picture=m.picture("levers"))
