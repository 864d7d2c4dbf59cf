"""Two studies, or two arms, against each other: one page beside the reports, and a table for the terminal."""

import shutil
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from analysis import charts, paths
from analysis.estimates.estimate import Estimate
from analysis.findings import arm_charts, arm_conditions, arm_outputs, arm_tables, arm_verdicts, arms
from analysis.findings.arms import Arms, Pair
from analysis.findings.assumed import Assumptions
from analysis.redact import redact
from analysis.report.answer import answer
from analysis.report.compare_text import text
from analysis.report.convert import anchored
from analysis.report.errors import ReportError
from analysis.report.figure import figure
from analysis.report.names import slug
from analysis.report.pages import Page
from analysis.report.progress import TerminalProgress
from analysis.report.run import write_pages
from analysis.report.study_report import generated_from, read_in
from analysis.report.swap import replacing
from analysis.report.table import table
from analysis.store.fleet import study_of
from analysis.study import Study

PAGE = arms.FINDING


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a study, and the arm of it that was named, if one was."""

    study: Study
    arm: str | None

    @classmethod
    def named(cls, given: str) -> "Side":
        """The side that `path` or `path#arm` names."""
        path, _, arm = given.partition("#")
        folder = study_of(path)
        read_in(folder, TerminalProgress())
        return cls(Study(folder), arm or None)


def make(first: str, second: str, out: Path | None = None) -> tuple[Path, str]:
    """Compare what two texts `path` or `path#arm` name; the path of the page, and the table for the terminal.

    The page goes to `out`, or beside the reports. Raises ReportError when the sides have no arms that go together.
    """
    sides = Side.named(first), Side.named(second)
    compared, pairs = _arms(sides)
    found = arm_verdicts.verdicts(compared, pairs)
    name = " against ".join(f"{side.study.name}{f'#{side.arm}' if side.arm else ''}" for side in sides)
    place = out or paths.REPORTS / f"compare-{slug(name)[:80]}"
    with replacing(place.absolute()) as folder:
        body, toc = anchored(_body(compared, pairs, found, folder, sides[0].study.assumptions))
        page = Page(PAGE, "Arms compared", redact(arm_tables.sentence(compared, found)).text, body, tuple(toc))
        _results(compared, found, Study(sides[0].study.data, folder))
        write_pages(
            redact(name).text,
            folder,
            [page],
            {side: generated_from(s.study.store) for side, s in zip("AB", sides, strict=True)},
        )
        shutil.rmtree(folder / "results")
    return place / f"{PAGE}.html", text(compared, pairs, found)


def _arms(sides: tuple[Side, Side]) -> tuple[Arms, list[Pair]]:
    """The arms of both sides together, and which of them are held against each other: second over first."""
    of = [arms.of(side.study.connection) for side in sides]
    for side, its in zip(sides, of, strict=True):
        if side.arm is not None and side.arm not in its.names:
            raise ReportError(f"{side.study.name} has no arm {side.arm!r}; there are {', '.join(its.names) or 'none'}")
    a, b = (side.arm for side in sides)
    if sides[0].study.data == sides[1].study.data:
        if a is None or b is None or a == b:
            raise ReportError("one study on both sides: name two of its arms, A=study#arm B=study#other")
        return replace(of[0], plan=replace(of[0].plan, base=a, arms=(a, b))), [(a, b)]
    names = (sides[0].study.name, sides[1].study.name)
    names = ("A", "B") if names[0] == names[1] else names
    pairs = [(f"{names[0]}: {x}", f"{names[1]}: {y}") for x, y in _matched(of[0].names, of[1].names, a, b)]
    both = arms.together(of[0], of[1], names)
    plan = replace(both.plan, arms=tuple(dict.fromkeys(arm for pair in pairs for arm in pair)), base=pairs[0][0])
    return replace(both, plan=plan), pairs


def _matched(first: list[str], second: list[str], a: str | None, b: str | None) -> list[Pair]:
    """Named arms, or the only one each, or the arms that have one name in both studies."""
    mine, theirs = ([a] if a else first), ([b] if b else second)
    if len(mine) == 1 and len(theirs) == 1:
        return [(mine[0], theirs[0])]
    common = [(arm, arm) for arm in mine if arm in theirs]
    if not common:
        raise ReportError(
            f"which arms go together is not known: A has {', '.join(mine) or 'none'}, "
            f"B has {', '.join(theirs) or 'none'}; name them: A=path#arm B=path#arm"
        )
    return common


def _results(of: Arms, found: list[Estimate], study: Study) -> None:
    """What results.json holds of the comparison."""
    study.record(*found)
    headline = arm_tables.headline(found)
    study.answer(
        PAGE, arm_tables.sentence(of, found), *headline,
        next_step=arm_tables.next_step(of, found), unless=arm_tables.unless(of, found),
    )  # fmt: skip


def _body(of: Arms, pairs: list[Pair], found: list[Estimate], out: Path, assumed: Assumptions) -> str:
    """The page between header and footer: the same parts as the notebook on arms."""
    ratios, phases = arm_charts.forest_table(found), arm_charts.startup_table(of)
    forest = charts.forest(ratios, **arm_charts.describe_forest(of, found))
    timeline = charts.startup_timeline(phases, **arm_charts.describe_startup(phases))
    lines = arm_tables.caption("One row a ratio", found)
    parts = (
        ("h1", "Arms compared", answer(arm_tables.sentence(of, found), *arm_tables.headline(found)).html),
        ("h2", "What differs", table(arm_tables.arm_table(of), "arms", out, "One row an arm").html),
        ("", "", table(arm_tables.knob_table(of), "knobs", out, "One row a knob, its value in each arm").html),
        ("h2", "Were they run alike?", table(arm_conditions.table(of), "conditions", out, "One row a condition").html),
        ("h2", "The ratios", figure(forest, "ratios", ratios, out, "Second over first; boots as units.", assumed).html),
        ("", "", table(arm_tables.verdict_table(of, found), "verdicts", out, lines, assumed).html),
        ("h2", "Did they answer alike?", table(arm_outputs.answers(of), "answers", out, "One row an arm, class").html),
        ("", "", table(arm_outputs.same_inputs(of, pairs), "same-inputs", out, "One row a pair of arms").html),
        ("h2", "Start-up", figure(timeline, "start-up", phases, out, arm_charts.caption_startup(of)).html),
    )  # fmt: skip
    return "".join((f"<{tag}>{escape(title)}</{tag}>" if tag else "") + html for tag, title, html in parts)
