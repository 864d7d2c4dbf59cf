"""A comparison as a table for the terminal, one line a measure, `~` where no difference is shown."""

from math import log
from statistics import stdev
from textwrap import fill

from analysis.estimates.estimate import Estimate
from analysis.findings import arm_conditions, arm_knobs, arm_tables, arms
from analysis.findings.arms import Arms, Pair
from analysis.findings.words import number_of
from analysis.redact import redact
from analysis.report.takeaways import WIDTH

HEADS = ("measure", "first", "second", "second over first", "verdict")
LEGEND = (
    "Values are geometric means over an arm's boots ± their scatter (how many boots); ~ before a ratio: no difference "
    "is shown."
)
CONFOUNDED = ": confounded, a difference belongs to none of them alone"


def text(of: Arms, pairs: list[Pair], found: list[Estimate]) -> str:
    """Each pair of arms: what differs, what was not alike, the ratios; then what they say together, and what to do."""
    blocks = [_block(of, pair, [e for e in found if (e.qualifiers["a"], e.qualifiers["b"]) == pair]) for pair in pairs]
    step = arm_tables.next_step(of, found)
    said = [arm_tables.sentence(of, found), *([f"What to do: {step}"] if step else [])]
    blocks += [fill(LEGEND, WIDTH), "\n".join(fill(line, WIDTH) for line in said)]
    return redact("\n\n".join(blocks)).text


def _block(of: Arms, pair: Pair, found: list[Estimate]) -> str:
    knobs = [_changed(of, pair, knob) for knob in arm_knobs.differing(of.knobs, of.of_arm(pair[0]), of.of_arm(pair[1]))]
    unlike = arm_conditions.mismatches(of, pair, "ttft_p50")
    lines = [
        f"{side}  {arm}  ({number_of(len(of.of_arm(arm)), 'boot')})"
        for side, arm in zip(("first ", "second"), pair, strict=True)
    ]
    lines.append(f"differ in   {'; '.join(knobs) or 'nothing that is known'}" + (CONFOUNDED if len(knobs) > 1 else ""))
    lines += [f"not alike   {', '.join(unlike)}"] if unlike else []
    paid = list(dict.fromkeys("; ".join(why) for e in found if (why := _notes(of, e))))
    rows = [HEADS, *(_row(of, pair, e, paid) for e in found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    notes = [f"[{i}] {why}" for i, why in enumerate(paid, 1)]
    return "\n".join([*lines, "", *(table if found else ["no measure in common"]), *notes])


def _changed(of: Arms, pair: Pair, knob: str) -> str:
    was, now = (arm_knobs.by_arm(of.knobs, of.of_arm(arm)).get(knob, arm_knobs.NOT_SET) for arm in pair)
    return f"{knob} ({was} → {now})"


def _row(of: Arms, pair: Pair, e: Estimate, paid: list[str]) -> tuple[str, ...]:
    shown = e.verdict == "different"
    ratio = arm_tables.ratio_text(e)
    note = f" [{paid.index('; '.join(why)) + 1}]" if (why := _notes(of, e)) else ""
    told = arm_tables.verdict_text(e, arm_tables.margin(of))
    return (
        arm_tables.measure_text(e), _value(of, pair[0], e), _value(of, pair[1], e),
        ratio if shown else f"~ {ratio}", f"{told}{note}",
    )  # fmt: skip


def _notes(of: Arms, e: Estimate) -> list[str]:
    """What a reader of the row must know: what the arm paid, and where its figure is not comparable."""
    return [*arm_tables.price(of, e), *(warning for warning in e.warnings if warning == arms.POOL_LIMIT)]


def _value(of: Arms, arm: str, e: Estimate) -> str:
    values = arms.values(of, arm, e)
    centre = arm_tables.centre(of, arm, e)
    if len(values) < 2 or min(values) <= 0:
        return f"{centre} (1)" if len(values) == 1 else centre
    return f"{centre} ± {100 * stdev(map(log, values)):.0f} % ({len(values)})"
