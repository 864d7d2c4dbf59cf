"""Which rows of the table of ratios are comparisons, and how a boot's own quantiles are taken."""

import json
import math
import re
from collections import Counter

import pytest

from analysis import paths
from analysis.findings import arm_measures, arm_tables, arm_verdicts, arms
from analysis.study import Study


@pytest.mark.parametrize(("study", "rows", "counted"), [("vllm-cpu-mixed", 17, 16), ("cluster-a", 5, 3)])
def test_the_sentence_counts_what_the_table_calls_comparisons(study: str, rows: int, counted: int) -> None:
    """Of the rows one (two) are pools of two batch settings (lengths): the logs print 512 and 8192."""
    of = arms.of(Study(study).connection)
    found = arm_verdicts.verdicts(of)
    told = Counter(arm_tables.verdict_table(of, found)["verdict"])
    assert told == {"no verdict: one boot": counted, "no comparison": rows - counted}
    assert arm_tables.sentence(of, found) == (
        f"None of {counted} comparisons with arm {arms.base(of)} has a verdict: each has one boot in an arm, and how "
        f"much boots scatter was not measured. Not counted: {rows - counted} ratio{'s' if rows - counted > 1 else ''}, "
        "for pools of two settings do not compare."
    )


def test_pools_that_do_not_compare_widen_no_other_interval() -> None:
    """A and F have one setting; B, C and D have others, and are no comparisons in the family of F."""
    found = [e for e in arms.ratios(arms.of(Study("vllm-cpu").connection)) if e.qualifiers["measure"] == "pool"]
    methods = {e.qualifiers["b"]: (arms.POOL_LIMIT in e.warnings, e.method) for e in found if e.low is not None}
    assert methods == {
        "B": (True, "Welch's t on logarithms"), "C": (True, "Welch's t on logarithms"),
        "D": (True, "Welch's t on logarithms"), "F": (False, "Welch's t on logarithms"),
    }  # fmt: skip
    (e,) = [e for e in found if e.qualifiers["b"] == "F"]
    assert not any("this comparison alone" in name for name in e.sensitivity)


@pytest.mark.parametrize(("boot", "class_", "answers"), [("S512", "chat", 52), ("S8192", "batch", 22)])
def test_a_median_is_the_smallest_value_that_half_do_not_exceed(boot: str, class_: str, answers: int) -> None:
    """By hand from the trace; of an even number it is the lower of the two in the middle."""
    study = Study("vllm-cpu-mixed")
    rows = [json.loads(line) for line in (study.data / "requests" / boot / "trace.jsonl").read_text().splitlines()]
    waits = sorted(
        row["first_token_at"] - row["sent_at"] for row in rows
        if row["class"] == class_ and row["phase"] != "warmup" and row["status"] == "ok" and row["output_tokens"]
    )  # fmt: skip
    assert len(waits) == answers
    of = arms.of(study.connection)
    for measure, q in {"ttft_p50": 0.5, "ttft_p95": 0.95}.items():
        (got,) = of.measures.filter(measure=measure, boot=boot).filter(**{"class": class_})["value"]
        assert got == pytest.approx(waits[math.ceil(q * answers) - 1], abs=1e-9)
        assert got == pytest.approx(min(w for w in waits if sum(x <= w for x in waits) >= q * answers), abs=1e-9)


def test_the_words_for_it_stand_where_it_is_taken_and_shown() -> None:
    view = (paths.VIEWS / "87_boot_measures.sql").read_text()
    assert set(re.findall(r"\b(?:quantile\w*|median)\(", view)) == {"quantile_disc("}
    taken = set(re.findall(r"quantile_disc\([^)]*\) as (\w+)", view))
    assert taken == arm_measures.QUANTILES
    assert arm_measures.QUANTILE.removesuffix(".") in (paths.ROOT / "docs" / "methods.md").read_text()
    found = arm_verdicts.verdicts(arms.of(Study("vllm-cpu-mixed").connection))
    assert arm_tables.caption("One row a ratio", found) == f"One row a ratio. {arm_measures.QUANTILE}"
    memory = [e for e in found if e.qualifiers["measure"] in {"pool", "available"}]
    assert arm_tables.caption("One row a ratio", memory) == "One row a ratio"
