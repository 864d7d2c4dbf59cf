"""The arms of a study: which boots they are, what they are compared in, which pairs, and the ratio of each pair.

An arm is a set of boots with one configuration: as study.toml declares it, else inferred from the boot logs. Boots are
the units: one number a boot and measure (view boot_measures). Two studies can be put together and compared alike.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import duckdb
import polars as pl

from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.family import Pair, compare_pairs
from analysis.findings import arm_evidence, arm_knobs, integrity, start_ups
from analysis.findings.arm_knobs import Knobs
from analysis.findings.arm_measures import MEASURES
from analysis.findings.frames import rows

FINDING = "50-arms"
PAUSE_S = 3600.0
"""Without declared sessions, a pause longer than this between two boots begins a new one."""
PER_CLASS = frozenset({"completed_per_hour", "valid_per_hour", "ttft_p50", "ttft_p95", "inter_token_p99"})
SPEED = frozenset({*PER_CLASS, "output_tokens_per_s"})
"""Measures in which shorter or invalid answers look like speed."""
START_UP = frozenset({"start_up", "process_start_up"})
VIEWS = ("boot_conditions", "saved_answers", "startup_phases", "measure_evidence")
POOL_SHORT = "pools of two settings do not compare"
POOL_LIMIT = "the printed pool is comparable within one length and batch setting only, and these arms differ in it"


@dataclass(frozen=True, slots=True)
class Plan:
    """What study.toml declares of the comparison; `declared` is whether it names arms, a base or all pairs."""

    base: str | None = None
    arms: tuple[str, ...] = ()
    all_pairs: bool = False
    whole_systems: bool = False
    margin: float | None = None

    @property
    def declared(self) -> bool:
        """Whether the family of comparisons was declared."""
        return bool(self.base or self.arms or self.all_pairs)


@dataclass(frozen=True, slots=True)
class Stated:
    """What a boot states of a condition; `number` where it is one."""

    boot: str
    value: str
    number: float | None


@dataclass(frozen=True)
class Arms:
    """Boots with their arms and sessions (one row a boot), and what is known of them (views of the same names).

    `measures`, `conditions`, `answers`, `phases` (of the start-up) and `evidence` (of measures) have a column `boot`.
    """

    boots: pl.DataFrame
    measures: pl.DataFrame
    conditions: pl.DataFrame
    answers: pl.DataFrame
    phases: pl.DataFrame
    evidence: pl.DataFrame
    knobs: Knobs
    plan: Plan = field(default_factory=Plan)

    @property
    def names(self) -> list[str]:
        """The arms, in the order of their first boot; those that the plan leaves out are not among them."""
        there = self.boots["arm"].unique(maintain_order=True).to_list()
        return [arm for arm in there if not self.plan.arms or arm in self.plan.arms]

    def of_arm(self, arm: str) -> list[str]:
        """The boots of an arm."""
        return self._boots_by_arm.get(arm, [])

    @cached_property
    def _boots_by_arm(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for arm, boot in self.boots.select("arm", "boot").iter_rows():
            found.setdefault(arm, []).append(boot)
        return found

    @cached_property
    def stated(self) -> dict[tuple[str, str | None], list[Stated]]:
        """The conditions by their name and class."""
        found: dict[tuple[str, str | None], list[Stated]] = {}
        for condition, name, *row in self.conditions.select(
            "condition", "class", "boot", "value", "number"
        ).iter_rows():
            found.setdefault((condition, name), []).append(Stated(*row))
        return found


def of(connection: duckdb.DuckDBPyConnection) -> Arms:
    """The arms of a study."""
    boots = rows(connection, "select * from arm_boots order by ordinal_in_study nulls last, boot")
    measures = rows(connection, "select boot, measure, class, value, note from boot_measures order by all")
    broken = list(integrity.broken_runs(connection))
    of_pages = pl.col("measure").is_in(["prefill_share", "output_tokens_per_s"])
    measures = measures.filter(~(of_pages & pl.col("boot").is_in(broken)))  # pages that contradict themselves
    conditions, answers, phases, lines = (rows(connection, f"select * from {view} order by all") for view in VIEWS)
    knobs = arm_knobs.knobs(connection)
    return Arms(_with_sessions(boots), measures, conditions, answers, phases, lines, knobs, plan(connection))


def plan(connection: duckdb.DuckDBPyConnection) -> Plan:
    """What study.toml says: [comparison] base, arms, all_pairs, whole_systems; margin."""
    query = "select key, value from study_facts where file like '%.toml' and key like 'comparison.%'"
    said = {key.partition(".")[2]: json.loads(value) for key, value in connection.sql(query).fetchall()}
    arms = said.get("arms")
    return Plan(
        said["base"] if isinstance(said.get("base"), str) else None,
        tuple(str(arm) for arm in arms) if isinstance(arms, list) else (),
        said.get("all_pairs") is True, said.get("whole_systems") is True, declared_margin(connection),
    )  # fmt: skip


def declared_margin(connection: duckdb.DuckDBPyConnection) -> float | None:
    """The equivalence margin that study.toml declares (a share, 0.05), or None."""
    found = connection.sql(
        "select value from study_facts where key in ('margin', 'objective.margin') limit 1"
    ).fetchall()
    margin = json.loads(found[0][0]) if found else None
    return float(margin) if isinstance(margin, int | float) and 0 < margin < 1 else None


TABLES: tuple[Callable[[Arms], pl.DataFrame], ...] = (
    lambda arms: arms.measures, lambda arms: arms.conditions, lambda arms: arms.answers, lambda arms: arms.phases,
    lambda arms: arms.evidence, lambda arms: arms.knobs.table,
)  # fmt: skip
"""What is known of the boots of a study, in the order of the fields."""


def together(first: Arms, second: Arms, names: tuple[str, str]) -> Arms:
    """Two studies as one: arms, boots, declared sessions and files are called by their study's name first.

    The first study's margin holds, else the second's.
    """
    both = list(zip((first, second), names, strict=True))
    boots = pl.concat(
        [arms.boots.with_columns(*(_under(name, c) for c in ("arm", "boot", "session"))) for arms, name in both],
        how="vertical_relaxed",
    )
    measures, conditions, answers, phases, lines, knobs = (
        pl.concat([_of_study(of(arms), name) for arms, name in both], how="vertical_relaxed") for of in TABLES
    )
    margin = first.plan.margin if first.plan.margin is not None else second.plan.margin
    plan = Plan(whole_systems=first.plan.whole_systems and second.plan.whole_systems, margin=margin)
    recounted = arm_knobs.recounted(knobs)
    return Arms(_with_sessions(boots), measures, conditions, answers, phases, lines, recounted, plan)


def _of_study(table: pl.DataFrame, name: str) -> pl.DataFrame:
    files = [pl.format("{}/{}", pl.lit(name), "file").alias("file")] if "file" in table.columns else []
    return table.with_columns(_under(name, "boot"), *files)


def _under(name: str, column: str) -> pl.Expr:
    return pl.format("{}: {}", pl.lit(name), pl.col(column)).alias(column)


def _with_sessions(boots: pl.DataFrame) -> pl.DataFrame:
    """The boots with `session_name`: as declared, or where nothing is, by pauses between them; null: not known."""
    if boots["session"].null_count() < boots.height:
        return boots.with_columns(session_name=pl.col("session"))
    if boots.is_empty() or boots["start_s"].null_count():
        return boots.with_columns(session_name=pl.lit(None, pl.String))
    order = boots.select("boot", "start_s", "end_s").sort("start_s", "boot")
    before = pl.col("end_s").cum_max().shift(1)
    starts = (pl.col("start_s") - before > PAUSE_S).fill_null(False).cum_sum() + 1
    named = order.select("boot", session_name=pl.format("stretch {}", starts))
    return boots.drop("session_name", strict=False).join(named, on="boot", how="left", maintain_order="left")


def base(arms: Arms) -> str | None:
    """The arm that the others are held against: declared, else the one with the most neighbours one knob away."""
    names = arms.names
    if arms.plan.base in names:
        return arms.plan.base
    ranked = {
        arm: (
            sum(len(arm_knobs.differing(arms.knobs, arms.of_arm(arm), arms.of_arm(b))) == 1 for b in names if b != arm),
            arms.measures.filter(pl.col("boot").is_in(arms.of_arm(arm))).height,
        )
        for arm in names
    }
    return max(names, key=lambda arm: ranked[arm]) if names else None


def pairs(arms: Arms) -> list[Pair]:
    """The pairs (a, b) that are compared: each arm against the base, or all pairs where that was declared."""
    names = arms.names
    if arms.plan.all_pairs:
        return [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    first = base(arms)
    return [(first, arm) for arm in names if arm != first] if first is not None else []


def ratios(arms: Arms, of_pairs: Sequence[Pair] | None = None) -> list[Estimate]:
    """arms.ratio of each pair, measure and class that both arms have: b over a, with its verdict."""
    wanted = pairs(arms) if of_pairs is None else list(of_pairs)
    placed = arms.measures.join(arms.boots.select("boot", "arm", "session_name"), on="boot")
    found: list[Estimate] = []
    for measure in MEASURES:
        of_measure = placed.filter(pl.col("measure") == measure)
        for name in sorted(of_measure["class"].unique().to_list(), key=str):
            cell = of_measure.filter(pl.col("class").eq_missing(name))
            found += _compared(arms, cell, wanted, {"measure": measure} | ({"class": name} if name else {}))
    order = {pair: i for i, pair in enumerate(wanted)}
    return sorted(found, key=lambda e: order[e.qualifiers["a"], e.qualifiers["b"]])


def _compared(arms: Arms, cell: pl.DataFrame, wanted: list[Pair], names: dict[str, str]) -> list[Estimate]:
    """The ratios of one measure and class, a family; an arm of several configurations has no scatter of its own.

    A ratio that is no comparison (pools of two settings) is not of the family: it widens no other's interval.
    """
    by_arm = {str(arm[0]): part.sort("boot") for arm, part in cell.group_by("arm")}
    there = [(a, b) for a, b in wanted if a in by_arm and b in by_arm]
    mixed = {arm: knobs for arm in by_arm if (knobs := arm_knobs.within(arms.knobs, arms.of_arm(arm)))}
    values = {arm: part["value"].to_numpy() for arm, part in by_arm.items()}
    known = {
        arm: part["session_name"].to_list() for arm, part in by_arm.items() if not part["session_name"].null_count()
    }
    one_each = [pair for pair in there if not mixed.keys() & set(pair)]
    apart = [pair for pair in one_each if _has_two_settings(arms, pair, names["measure"])]
    families = [[pair for pair in one_each if pair not in apart], *([pair] for pair in apart)]
    found = {pair: e for family in families
             for pair, e in compare_pairs(values, family, sessions=known, margin=arms.plan.margin).items()}  # fmt: skip
    for pair in there:
        if pair not in found:
            arm = next(arm for arm in pair if arm in mixed)
            why = f"the boots of arm {arm} are not of one configuration: they differ in {', '.join(mixed[arm])}"
            found[pair] = replace(no_interval(None, "x", "none", why, n_of="boots"), verdict="cannot_tell")
    ran = {arm: part["boot"].to_list() for arm, part in by_arm.items()}
    notes = {arm: part["note"].drop_nulls().unique().sort().to_list() for arm, part in by_arm.items()}
    return [
        replace(e, n_of=e.n_of.replace("runs", "boots"))
        .with_warnings(*dict.fromkeys([*notes[a], *notes[b]]), *_cautions(arms, (a, b), names["measure"]))
        .with_evidence(*arm_evidence.of_boots(arms.evidence, (ran[a], ran[b]), names["measure"], names.get("class")))
        .named("arms.ratio", FINDING, a=a, b=b, **names)
        for (a, b), e in found.items()
    ]


def _cautions(arms: Arms, pair: Pair, measure: str) -> list[str]:
    """What a reader of this ratio must know of the two arms."""
    first, second = (arms.of_arm(arm) for arm in pair)
    knobs = arm_knobs.differing(arms.knobs, first, second)
    said = []
    if len(knobs) > 1 and not arms.plan.whole_systems:
        said.append(f"confounded: the arms differ in {len(knobs)} knobs ({', '.join(knobs)})")
    both = arms.boots.filter(pl.col("boot").is_in(first + second))
    if measure in START_UP and (apart := start_ups.apart(both)):
        said.append(apart)
    if _has_two_settings(arms, pair, measure):
        said.append(POOL_LIMIT)
    if not arms.plan.declared:
        said.append("exploratory: study.toml declares no comparison")
    return said


def _has_two_settings(arms: Arms, pair: Pair, measure: str) -> bool:
    """Whether these are pools of two length or batch settings, which do not compare."""
    both = arms.boots.filter(pl.col("boot").is_in([boot for arm in pair for boot in arms.of_arm(arm)]))
    return measure == "pool" and both.select("max_model_len_tokens", "max_num_batched_tokens").n_unique() > 1


def values(arms: Arms, arm: str, e: Estimate) -> list[float]:
    """The numbers of an arm's boots behind a ratio."""
    name: Any = e.qualifiers.get("class")
    of_arm = arms.measures.filter(
        pl.col("boot").is_in(arms.of_arm(arm)),
        pl.col("measure") == e.qualifiers["measure"], pl.col("class").eq_missing(name),
    )  # fmt: skip
    return of_arm.sort("boot")["value"].to_list()
