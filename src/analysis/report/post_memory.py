"""The sections of a post on memory: the refusal and its arithmetic, the sweep of arms, boots of one setting."""

from dataclasses import replace

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number
from analysis.report.post_material import Material, counted
from analysis.report.post_parts import Rows, Said, Section

KV_PAGE, POOL_PAGE, ARMS_PAGE = "30-kv-budget", "40-token-pool", "50-arms"
COST = "kv.cost_per_batch_token"


def budget(m: Material) -> Section | None:
    """What one longest request needs, what there was, and what a batch token costs."""
    cost = m.takeaway(KV_PAGE, COST)
    refused = _refusal(m)
    risk = m.takeaway(KV_PAGE, "kv.refusal_probability")
    paragraphs = [refused, [*([cost] if cost else []), *_two_point(m)], [risk] if risk else []]
    if not any(paragraphs):
        return None
    title = "The KV arithmetic" + (" of a refusal" if refused else "")
    return Section(title, tuple(tuple(p) for p in paragraphs if p), picture=m.picture("memory-along-batch"))


def _refusal(m: Material) -> list[Said]:
    """The one refusal in words; several are in the figure."""
    needed = m.one("refusal.needed")
    boot = needed.qualifiers.get("boot", "") if needed else ""
    available = m.one("pool.available", boot=boot)
    if needed is None or available is None:
        return []
    length, batch = m.settings.get(boot, (None, None))
    at = f" at {show_number(batch)} batch tokens" if batch else ""
    one = f"one request of {show_number(length)} tokens" if length else "one longest request"
    said = [
        Said(f"Boot {boot} refused to start{at}: {one} needs {show(needed)} of cache and {show(available)} "
             "were available. That is an error with both figures in it, and no process killed for lack of memory.",
             (needed, available))
    ]  # fmt: skip
    return said + _line(m, needed, available, length)


def _line(m: Material, needed: Estimate, available: Estimate, length: int | None) -> list[Said]:
    """What the refusal's two points say of how the need grows with the length."""
    longest = m.one("refusal.longest", **needed.qualifiers)
    fixed, slope = m.one("kv.request_fixed", route="refusal"), m.one("kv.request_per_token", route="refusal")
    if not (longest and fixed and slope and length and needed.value and available.value):
        return []
    straight = available.value / needed.value * length
    text = (
        f"The same message says that {show(longest)} would have fitted. In proportion to the length it would have been "
        f"{show_number(round(straight, -3), 'tokens')}. If the need is a straight line between the two points, it is "
        f"{show(fixed)} whatever the length, and {show(slope)} beside it"
    )
    fits = longest.value is not None and fixed.value is not None and abs(longest.value / straight - 1) < 0.05
    return [Said(text + ("." if fits else ": a proportion is the wrong model of it."), (longest, fixed, slope))]


def _two_point(m: Material) -> list[Said]:
    """The cost by two points, where boots contradict it, with what is wrong with it."""
    cost = m.one(COST, route="two_point")
    if cost is None or not cost.warnings or m.every(COST, route="available"):
        return []
    return [Said(f"A proportion between two points gives a figure, {show(cost)}; it {cost.warnings[0]}.", (cost,))]


def sweep(m: Material) -> Section | None:
    """Throughput over arms, and what a shorter context did to memory."""
    spans = m.every("arms.range")
    verdicts = _untested(m) or m.takeaway(ARMS_PAGE, "arms.ratio")
    if not spans and verdicts is None:
        return None
    is_sweep = bool(spans) and m.is_sweep()
    paragraphs = [[_span(e) for e in spans], _context(m), [verdicts] if verdicts and not is_sweep else []]
    table, picture = (_boot_table(m), None) if is_sweep else (None, m.picture("ratios"))
    title = "The context sweep" if is_sweep else "The arms compared"
    return Section(title, tuple(tuple(p) for p in paragraphs if p), table=table, picture=picture)


def _untested(m: Material) -> Said | None:
    """What is said of ratios of arms that all ran once."""
    ratios = m.every("arms.ratio")
    if not ratios or {e.verdict for e in ratios} != {"no_replicates"}:
        return None
    return Said(f"Each arm ran once, so none of the {show_number(len(ratios))} ratios is tested.", tuple(ratios))


def _span(e: Estimate) -> Said:
    arms = show_number(e.n) if e.n else "the"
    load = e.qualifiers.get("load", "")
    what = e.qualifiers["measure"].replace("_", " ")
    text = f"Over {arms} arms under one load{f' ({load})' if load else ''} the {what} lies {show(e)} apart"
    if e.verdict == "no_replicates":
        text += (
            ". Each arm ran once, so nobody knows how far two runs of one arm lie apart: neither a difference is shown "
            "nor equality. To call it noise takes replicates and a margin"
        )
    return Said(text + ".", (e,))


def _context(m: Material) -> list[Said]:
    """Whether memory at a shorter context lies among boots of a longer one, at the same batch tokens."""
    by_setting: dict[tuple[int | None, int | None], list[Estimate]] = {}
    for e in m.every("pool.available"):
        by_setting.setdefault(m.settings.get(e.qualifiers["boot"], (None, None)), []).append(e)
    said = []
    for (length, batch), [short] in ((k, v) for k, v in by_setting.items() if len(v) == 1 and k[0]):
        for (longer, same), boots in by_setting.items():
            if len(boots) < 2 or not longer or not length or longer <= length or same != batch:
                continue
            low, high = (f(boots, key=lambda e: e.value or 0.0) for f in (min, max))
            inside = (low.value or 0.0) <= (short.value or 0.0) <= (high.value or 0.0)
            end = "so the shorter context is not shown to move memory" if inside else "and it lies outside them"
            text = (
                f"The boot of arm {short.qualifiers['arm']} has {show(short)} available to the cache. Boots of arm "
                f"{low.qualifiers['arm']}, with a longer context, have {show(low)} and {show(high)}, {end}. The "
                "pool in tokens is the number of longest requests that fit times their length: between two lengths it "
                "does not compare."
            )
            said.append(Said(text, (short, low, high)))
    return said


def _boot_table(m: Material) -> Rows:
    """What each boot says of its memory, without what was assumed."""
    rows = []
    for boot, (_, batch) in m.settings.items():
        cells = [m.one(id, boot=boot) for id in ("pool.available", "pool.tokens", "pool.requests_at_max_length")]
        shown = ["not known" if e is None else show(e) for e in cells]
        rows.append((boot, show_number(batch), *shown))
    head = ("boot", "batch tokens", "available to the cache", "token pool", "longest requests that fit")
    note = "; what rests on an assumed figure is left out" if m.banner else ""
    return Rows(f"One row a boot, as its log prints it{note}", head, tuple(rows))


def boots(m: Material) -> Section | None:
    """How far boots of one setting lie apart, and where the next one may lie."""
    pool = m.takeaway(POOL_PAGE)
    if pool is None:
        return None
    arms = sorted({e.qualifiers["arm"] for e in m.every("pool.range")})
    pair, table = (_pair(m, arms[0]), None) if len(arms) == 1 else ([], _arm_table(m, arms))
    identity = m.takeaway("10-inventory", "pool.identity")
    paragraphs = [pair, [identity] if identity else [], [pool]]
    picture = m.picture("memory-by-boot" if m.is_assumed("pool.tokens") else "pool-by-arm")
    title = "Boots of one setting" if not identity else "Boots of one setting contradict each other"
    return Section(title, tuple(tuple(p) for p in paragraphs if p), table=table, picture=picture)


def _arm_table(m: Material, arms: list[str]) -> Rows | None:
    """One row an arm of several boots; None where there is no such arm."""
    rows = []
    for arm in arms:
        ranges = [m.one("pool.range", arm=arm, measure=what) for what in ("available", "tokens")]
        spread = m.one("pool.spread", arm=arm, measure="available")
        n = next((e.n for e in ranges if e), None)
        known = [show(e) if e else "not known" for e in (*ranges, spread)]
        rows.append((arm, "not known" if n is None else show_number(n), *known))
    head = ("arm", "boots", "memory, largest less smallest", "pool, largest less smallest", "relative spread of memory")
    caption = "One row an arm of several boots; a range is of these boots, a spread of boots in general"
    return Rows(caption, head, tuple(rows)) if rows else None


def _pair(m: Material, arm: str) -> list[Said]:
    """The ranges of an arm's boots, and what so few boots allow to be said of others."""
    memory, tokens = (m.one("pool.range", arm=arm, measure=what) for what in ("available", "tokens"))
    if not memory or not tokens:
        return []
    said = [
        Said(f"The {show_number(memory.n)} boots of arm {arm} lie {counted(memory)} apart in the memory available to "
             f"the cache, and {counted(tokens)} in their token pools: a range of these boots, no spread of boots.",
             (memory, tokens))
    ]  # fmt: skip
    spreads = [m.one("pool.spread", arm=arm, measure=what) for what in ("available", "tokens")]
    if all(spreads):
        a, b = (replace(e, warnings=()) for e in spreads if e is not None)
        text = f"As a relative spread, so few boots allow {show(a)} for the memory and {show(b)} for the pool."
        said.append(Said(text, (a, b)))
    over = m.one("pool.spread_ratio", arm=arm)
    if over is not None and over.low is None:
        chance = "".join(f", and {warning}" for warning in over.warnings[:1])
        text = f"They do not show that memory scatters more than the pool: the spreads' ratio is {show(over)}{chance}."
        said.append(Said(text, (over,)))
    return said
