"""Sentences, tables and text alternatives of "arms compared": laid out, nothing computed anew."""

from collections import Counter
from dataclasses import replace
from math import exp, log

import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.compare import MARGIN
from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number, show_value
from analysis.findings import arm_conditions, arm_knobs, arms
from analysis.findings.arm_measures import MEASURES, QUANTILE, QUANTILES
from analysis.findings.arm_verdicts import price
from analysis.findings.arms import Arms, Pair
from analysis.findings.words import listed, number_of

UNITS = {"output_tokens_per_s": "tokens/s", "completed_per_hour": "1/h", "valid_per_hour": "1/h", "prefill_share": "1",
         "pool": "tokens", "available": "bytes", "engine_memory": "bytes", "peak_memory": "bytes"}  # fmt: skip
"""Units of measures; seconds where none is named."""


def margin(of: Arms) -> float:
    """The margin that holds: declared, else the default."""
    return MARGIN if of.plan.margin is None else of.plan.margin


def percent(share: float) -> str:
    """A share as a reader is told it: 5 %, 2.5 %."""
    return f"{100 * share:.3g} %".replace("-", "−")


def verdict_text(e: Estimate, within: float) -> str:
    """The verdict as a reader is told it; none where the two arms do not compare in this measure."""
    if arms.POOL_LIMIT in e.warnings:
        return "no comparison"
    texts = {
        "different": f"different ({_change(e)})", "equivalent": f"equivalent within {percent(within)}",
        "cannot_tell": "cannot tell", "no_replicates": "no verdict: one boot",
    }  # fmt: skip
    return texts.get(e.verdict or "", "not computable")


def _change(e: Estimate) -> str:
    if e.value is None or e.low is None or e.high is None:
        return "by how much is not known"
    if e.value >= 2:
        return f"{show_value(e).removesuffix('x')} times"
    change = replace(e, value=e.value - 1, low=e.low - 1, high=e.high - 1, unit="1")
    return f"{'+' if e.value > 1 else ''}{show_value(change)}"


def measure_text(e: Estimate) -> str:
    """What a ratio is about, with its class."""
    name = e.qualifiers.get("class")
    return MEASURES[e.qualifiers["measure"]][0] + (f" ({name})" if name else "")


def sentence(of: Arms, found: list[Estimate]) -> str:
    """The answer: what was shown, what was not, and between which arms."""
    names = of.names
    if len(names) < 2:
        there = f"there is one arm, {names[0]}" if names else "there is no boot log and no declared boot"
        return f"No arms can be compared: {there}."
    left, found = [e for e in found if arms.POOL_LIMIT in e.warnings], comparable(found)
    rest = f" Not counted: {number_of(len(left), 'ratio')}, for {arms.POOL_SHORT}." if left else ""
    if not found:
        return f"The {len(names)} arms have no measure in common that compares.{rest}"
    count = Counter(e.verdict for e in found)
    if count["no_replicates"] == len(found):
        lead = f"None of {len(found)} comparisons {_against(of, found)} has a verdict"
        return f"{lead}: each has one boot in an arm, and how much boots scatter was not measured.{rest}"
    told = [
        _verb(count["different"], "shows", "show", "a difference") or "none shows a difference",
        _verb(count["equivalent"], "shows", "show", f"equivalence within {percent(margin(of))}"),
        f"{count['cannot_tell']} cannot tell" if count["cannot_tell"] else "",
        _verb(count["no_replicates"], "has", "have", "one boot in an arm and so no verdict"),
    ]  # fmt: skip
    whole = listed([t for t in told if t])
    lead = f"Of {len(found)} comparisons {_against(of, found)}, {whole}.{rest}"
    return f"{lead} {_speed(of, found)}".strip()


def _verb(n: int, one: str, more: str, rest: str) -> str:
    return f"{n} {one if n == 1 else more} {rest}" if n else ""


def _against(of: Arms, found: list[Estimate]) -> str:
    bases = {e.qualifiers["a"] for e in found}
    return f"with arm {bases.pop()}" if len(bases) == 1 else f"of {len(of.names)} arms"


def _speed(of: Arms, found: list[Estimate]) -> str:
    """What was shown of speed; and where nothing was, that."""
    speed = [e for e in found if e.qualifiers["measure"] in arms.SPEED]
    shown = [e for e in speed if e.verdict in ("different", "equivalent")]
    if not speed:
        return "No arm pair has a load on both sides: speed was not compared."
    if not shown:
        return "Of speed nothing is shown, neither a difference nor that there is none."
    e = shown[0]
    paid = f", but {'; '.join(why)}" if (why := price(of, e)) else ""
    text = verdict_text(e, margin(of))
    return f"{measure_text(e).capitalize()} of {e.qualifiers['b']} over {e.qualifiers['a']}: {text}{paid}."


def headline(found: list[Estimate]) -> list[Estimate]:
    """The figures that the answer rests on: speed that was decided, then what else was, then speed that was not."""
    decided = ("different", "equivalent")
    return sorted(
        comparable(found), key=lambda e: (e.verdict not in decided) * 2 + (e.qualifiers["measure"] not in arms.SPEED)
    )[:4]


def comparable(found: list[Estimate]) -> list[Estimate]:
    """The ratios without those of pools of two settings, which are numbers but no comparison."""
    return [e for e in found if arms.POOL_LIMIT not in e.warnings]


def next_step(of: Arms, found: list[Estimate]) -> str:
    """What would decide."""
    if of.boots.is_empty():
        return "Add the boot logs, or declare the boots in study.toml: [[boots]] with id, arm and files."
    if len(of.names) > 1 and not comparable(found):
        return "Give both arms a load, or their logs: requests below a folder of the boot's name, logs in boots/."
    if len(of.names) < 2:
        return "Boot a second configuration into the same folder, or compare two studies: make compare A=... B=..."
    if any(e.verdict == "no_replicates" for e in found):
        return "Boot each arm at least three times under the same load, the arms taking turns in each session."
    open_ones = [e for e in found if e.verdict == "cannot_tell" and e.qualifiers["measure"] in arms.SPEED]
    needed = next((w for e in open_ones for w in e.warnings if w.startswith("at this scatter")), "")
    return f"{measure_text(open_ones[0]).capitalize()}: {needed}." if needed else ""


def unless(of: Arms, found: list[Estimate]) -> str:
    """What would change the answer: arms that were not run alike, or differ in more than one knob."""
    pairs = list(dict.fromkeys((e.qualifiers["a"], e.qualifiers["b"]) for e in found))
    unlike = list(dict.fromkeys(c for pair in pairs for c in arm_conditions.mismatches(of, pair, "ttft_p50")))
    mixed = [b for a, b in pairs if len(_differing(of, (a, b))) > 1] if not of.plan.whole_systems else []
    said = [f"the loads were not alike ({', '.join(unlike)})"] if unlike else []
    strangers = sorted({*of.plan.arms, *([of.plan.base] if of.plan.base else [])} - set(of.boots["arm"]))
    said += [f"study.toml names arms that are not there ({', '.join(strangers)})"] if strangers else []
    said += [f"{listed(mixed)} {'differs' if len(mixed) == 1 else 'differ'} in more than one knob"] if mixed else []
    return f"Holds only as far as the arms compare: {'; '.join(said)}." if said else ""


def _differing(of: Arms, pair: Pair) -> list[str]:
    return arm_knobs.differing(of.knobs, of.of_arm(pair[0]), of.of_arm(pair[1]))


def arm_table(of: Arms) -> pl.DataFrame:
    """One row an arm: its boots, how the arm is known, sessions, and what it differs in from the base."""
    first = arms.base(of)
    rows = []
    for arm in of.names:
        boots = of.boots.filter(pl.col("arm") == arm)
        within = arm_knobs.within(of.knobs, of.of_arm(arm))
        known = arm_knobs.is_known(of.knobs, of.of_arm(arm))
        both_known = known and first is not None and arm_knobs.is_known(of.knobs, of.of_arm(first))
        changed = _differing(of, (first, arm)) if first and arm != first else []
        rows.append({
            "arm": arm, "boots": boots.height, "served": boots.filter(pl.col("outcome") == "served").height,
            "known from": "study.toml" if boots["arm_is_declared"].all() else "the boot logs",
            "sessions": boots["session_name"].n_unique() if not boots["session_name"].null_count() else None,
            "configuration": _configuration(within, known),
            "differs from the base in": "(the base)" if arm == first else ", ".join(changed) or "nothing that is known",
            "comparison": "—" if arm == first else _kind(of, changed, within, both_known),
        })  # fmt: skip
    texts = ("known from", "configuration", "differs from the base in", "comparison")
    schema = {
        "arm": pl.String,
        **dict.fromkeys(("boots", "served"), pl.Int64),
        "known from": pl.String,
        "sessions": pl.Int64,
    }
    return pl.DataFrame(rows, schema={**schema, **dict.fromkeys(texts, pl.String)})


def _configuration(within: list[str], known: bool) -> str:
    if not known:
        return "not known"
    return f"differs between its boots: {', '.join(within)}" if within else "one"


def _kind(of: Arms, changed: list[str], within: list[str], known: bool) -> str:
    if not known:
        return "not known"
    if within:
        return "none: not one configuration"
    if len(changed) < 2:
        return "one knob" if changed else "repeats the base"
    return "whole systems (declared)" if of.plan.whole_systems else f"confounded: {len(changed)} knobs"


def knob_table(of: Arms) -> pl.DataFrame:
    """One row a knob that is set or differs: whether it changed, what kind it is, its value in each arm."""
    values = {
        arm: arm_knobs.by_arm(of.knobs, of.of_arm(arm))
        for arm in of.names
        if arm_knobs.is_known(of.knobs, of.of_arm(arm))
    }
    counted = {k for i, a in enumerate(of.names) for b in of.names[i + 1 :] for k in _differing(of, (a, b))}
    kinds = of.knobs.kinds
    rows = []
    for knob in sorted({k for of_arm in values.values() for k in of_arm}):
        here = {
            arm: of_arm.get(knob, "—" if kinds[knob] == "resolved" else arm_knobs.NOT_SET)
            for arm, of_arm in values.items()
        }
        differs = len(set(here.values())) > 1
        if differs or kinds[knob] != "resolved":
            changed = "yes" if knob in counted else "follows from the others" if differs else "no"
            rows.append({"knob": knob, "changed": changed, "kind": kinds[knob], **here})
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("knob", "changed", "kind", *values), pl.String))
    order = pl.col("changed").replace_strict({"yes": 0, "follows from the others": 1, "no": 2}, return_dtype=pl.Int8)
    return frame.sort(order, "knob")


def verdict_table(of: Arms, found: list[Estimate]) -> pl.DataFrame:
    """One row a ratio: both arms' values (first the base's), ratio, verdict, boots, and what must be known with it."""
    rows = [
        {
            "arms": f"{e.qualifiers['b']} over {e.qualifiers['a']}", "measure": measure_text(e),
            "values": Shown(e, f"{centre(of, e.qualifiers['a'], e)} → {centre(of, e.qualifiers['b'], e)}", "input"),
            "ratio": Shown(e, ratio_text(e)),
            "verdict": verdict_text(e, margin(of)), "boots": e.n,
            "know with it": "; ".join(dict.fromkeys([*price(of, e), *_decides(e)])) or "—",
        }
        for e in found
    ]  # fmt: skip
    texts = ("arms", "measure", "values", "ratio", "verdict")
    return cells.frame(rows, dict.fromkeys(texts, pl.String) | {"boots": pl.Int64, "know with it": pl.String})


def caption(lead: str, found: list[Estimate]) -> str:
    """The caption of a table of ratios; where it shows quantiles, how they are taken."""
    return f"{lead}. {QUANTILE}" if any(e.qualifiers["measure"] in QUANTILES for e in found) else lead


def ratio_text(e: Estimate) -> str:
    """A ratio as a reader is told it, in a table that says elsewhere why it has no interval."""
    return show(e) if e.low is not None else show_value(e) if e.value else "—"


def _decides(e: Estimate) -> list[str]:
    """What belongs beside a verdict; what holds for all ratios of two arms is in the table of arms."""
    said = [w for w in e.warnings if w.startswith(("at this scatter", "a difference was", "alone this"))]
    said += [arms.POOL_SHORT] if arms.POOL_LIMIT in e.warnings else []
    return [*said, *([e.reason] if e.verdict == "cannot_tell" and e.reason else [])]


def centre(of: Arms, arm: str, e: Estimate) -> str:
    """The geometric mean of an arm's boots, in its unit."""
    values = arms.values(of, arm, e)
    mean = exp(sum(map(log, values)) / len(values)) if values and min(values) > 0 else None
    return show_number(mean, UNITS.get(e.qualifiers["measure"], "s"), digits=3)
