"""Arms compared: verdicts on whole simulated studies with known truth, and what is said beside them."""

import json
import shutil
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from simulated_arms import START, Boot, cache_page, write

from analysis import paths
from analysis.estimates.estimate import Estimate
from analysis.findings import arm_conditions, arm_knobs, arm_outputs, arm_tables, arm_verdicts, arms
from analysis.findings.arms import Arms
from analysis.store.load import load

KNOB = {"max_num_seqs": 64}


def of_study(folder: Path) -> Arms:
    database = folder.parent / f"{folder.name}.duckdb"
    load(folder, database)
    with duckdb.connect(str(database), read_only=True) as connection:
        return arms.of(connection)


def ratio(found: list[Estimate], b: str, measure: str = "completed_per_hour", a: str = "A") -> Estimate:
    (e,) = [
        e for e in found if e.qualifiers["b"] == b and e.qualifiers["a"] == a and e.qualifiers["measure"] == measure
    ]
    return e


def runs(arm: str, factor: float, seed: int, n: int = 4, scatter: float = 0.01, **more: object) -> list[Boot]:
    """Boots of an arm whose requests take `factor` seconds each, give or take `scatter`."""
    rng = np.random.default_rng(seed)
    each = factor * np.exp(scatter * rng.standard_normal(n))
    return [Boot(f"{arm}{i}", arm, float(s), args=KNOB | {"seed": ord(arm)}, **more) for i, s in enumerate(each, 1)]  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_known_truths_get_their_verdicts(tmp_path: Path, seed: int) -> None:
    """B takes 20 % longer, C as long, D as long but one boot: different, equivalent within 5 %, no verdict."""
    boots = [
        *runs("A", 1.0, seed),
        *runs("B", 1.2, seed + 10),
        *runs("C", 1.0, seed + 20),
        *runs("D", 1.0, seed + 30, 1),
    ]
    of = of_study(write(tmp_path / "study", boots, 'margin = 0.05\n[comparison]\nbase = "A"\n'))
    found = arm_verdicts.verdicts(of)
    assert {b: ratio(found, b).verdict for b in "BCD"} == {"B": "different", "C": "equivalent", "D": "no_replicates"}
    assert ratio(found, "B").low < 1 / 1.2 < ratio(found, "B").high
    assert ratio(found, "B", "ttft_p50").low < 1.2 < ratio(found, "B", "ttft_p50").high
    assert {e.verdict for e in found if "D" in e.qualifiers["b"]} == {"no_replicates"}
    assert not [e for e in found if e.qualifiers["b"] == "D" and e.low is not None]
    assert not any("exploratory" in w or "by default" in w for e in found for w in e.warnings)


def test_a_rate_is_what_the_clients_clocks_say(tmp_path: Path) -> None:
    """30 requests of 2 s, one after the other: 1,800 an hour; p95 of equal times is that time."""
    of = of_study(write(tmp_path / "study", [Boot("A1", "A", 2.0, failed=3), Boot("B1", "B", 4.0, valid=0.5)]))
    got = {(b, m): v for b, m, v in of.measures.select("boot", "measure", "value").iter_rows()}
    # Failed requests run after the others: their 6 s are in the span, they are in no count.
    assert got["A1", "completed_per_hour"] == pytest.approx(30 / 66 * 3600, rel=1e-6)
    assert got["B1", "completed_per_hour"] == pytest.approx(900, rel=1e-6)
    assert got["B1", "valid_per_hour"] == pytest.approx(900 * sum((i % 20) < 10 for i in range(2, 32)) / 30, rel=1e-6)
    assert got["A1", "ttft_p95"] == pytest.approx(0.4, rel=1e-5)
    assert got["A1", "inter_token_p99"] == pytest.approx(1.6 / 49, rel=1e-4)
    assert got["A1", "start_up"] == 60.0
    assert got["A1", "available"] == 18.55 * 2**30


def test_requests_that_are_too_few_are_no_load(tmp_path: Path) -> None:
    of = of_study(write(tmp_path / "study", [Boot("A1", "A", 2.0, requests=5), Boot("B1", "B", 4.0, requests=19)]))
    there = set(of.measures.select("boot", "measure").iter_rows())
    assert ("A1", "ttft_p50") not in there
    assert ("B1", "ttft_p50") in there
    assert ("B1", "ttft_p95") not in there
    assert arm_conditions.table(of).filter(condition="failed requests")["alike"].to_list() == ["one arm only"]


def test_sessions_pair_the_arms(tmp_path: Path) -> None:
    """The machine's mood moves 30 % from session to session, the arms 10 % inside each."""
    boots = []
    for k, mood in enumerate((1.0, 1.3, 0.8)):
        for arm, factor in (("A", 1.0), ("B", 1.1)):
            name = f"{arm}{k}"
            boots.append(Boot(name, arm, mood * factor * (1 + 0.002 * k), args={"seed": ord(arm)}, session=f"s{k}"))
    got = ratio(arm_verdicts.verdicts(of_study(write(tmp_path / "study", boots))), "B")
    assert (got.verdict, got.n, got.n_of) == ("different", 3, "pairs of sessions")
    assert got.value == pytest.approx(1 / 1.1, rel=1e-3)
    for boot in boots:
        boot.session = None
    got = ratio(arm_verdicts.verdicts(of_study(write(tmp_path / "mixed", boots))), "B")
    assert (got.verdict, got.n_of) == ("cannot_tell", "boots per arm")
    for boot in boots:  # the same from the times: a pause of more than an hour begins a session
        boot.start = START + 7200 * int(boot.name[1])
    of = of_study(write(tmp_path / "times", boots))
    assert ratio(arm_verdicts.verdicts(of), "B").n_of == "pairs of sessions"
    assert of.boots["session_name"].n_unique() == 3


def test_arms_of_their_own_sessions_are_warned_about(tmp_path: Path) -> None:
    boots = [*runs("A", 1.0, 1, session="morning"), *runs("B", 1.2, 2, session="evening")]
    got = ratio(arm_verdicts.verdicts(of_study(write(tmp_path / "study", boots))), "B")
    assert any(w.startswith("each arm ran in its own sessions") for w in got.warnings)


def test_more_than_one_knob_is_confounded_unless_declared(tmp_path: Path) -> None:
    boots = [Boot("A1", "A", 1.0), Boot("B1", "B", 1.0, args={"max_num_seqs": 64}, version="0.26.0")]
    of = of_study(write(tmp_path / "study", boots))
    assert arm_knobs.differing(of.knobs, ["A1"], ["B1"]) == ["engine", "max_num_seqs"]
    assert any(w.startswith("confounded: the arms differ in 2 knobs (engine, max_num_seqs)")
               for w in ratio(arm_verdicts.verdicts(of), "B").warnings)  # fmt: skip
    assert arm_tables.arm_table(of)["comparison"].to_list() == ["—", "confounded: 2 knobs"]
    assert "B differs in more than one knob" in arm_tables.unless(of, arm_verdicts.verdicts(of))
    declared = of_study(write(tmp_path / "declared", boots, "[comparison]\nwhole_systems = true\n"))
    assert not any("confounded" in w for e in arm_verdicts.verdicts(declared) for w in e.warnings)
    assert arm_tables.arm_table(declared)["comparison"].to_list() == ["—", "whole systems (declared)"]


def test_an_argument_set_to_its_default_is_no_difference(tmp_path: Path) -> None:
    """The limits that the engine resolved count, not whether somebody typed them."""
    folder = write(tmp_path / "study", [Boot("A1", "A", 1.0), Boot("B1", "B", 1.0)])
    log = folder / "boots" / "B1.log"
    log.write_text(log.read_text().replace("'max_model_len': 32768, ", ""))
    of = of_study(folder)
    assert arm_knobs.differing(of.knobs, ["A1"], ["B1"]) == []


def test_boots_of_an_arm_that_differ_give_no_interval(tmp_path: Path) -> None:
    boots = [*runs("A", 1.0, 1), *runs("B", 1.2, 2)]
    boots[-1].args = {"max_num_seqs": 8, "seed": ord("B")}
    got = ratio(arm_verdicts.verdicts(of_study(write(tmp_path / "study", boots))), "B")
    assert (got.verdict, got.low, got.value) == ("cannot_tell", None, None)
    assert got.reason == "the boots of arm B are not of one configuration: they differ in max_num_seqs"


def test_undeclared_arms_come_from_the_logs(tmp_path: Path) -> None:
    boots = [Boot("x1", "?", 1.0), Boot("x2", "?", 1.0), Boot("y1", "?", 1.2, args={"max_num_seqs": 64})]
    folder = write(tmp_path / "study", boots)
    (folder / "study.toml").unlink()
    of = of_study(folder)
    assert dict(of.boots.select("boot", "arm").iter_rows()) == {
        "x1": "len 32768, batch 8192", "x2": "len 32768, batch 8192", "y1": "len 32768, batch 8192, max_num_seqs=64",
    }  # fmt: skip
    assert not of.boots["arm_is_declared"].any()


def test_the_plan_chooses_base_arms_and_pairs(tmp_path: Path) -> None:
    boots = [boot for arm in "ABC" for boot in runs(arm, 1.0, ord(arm), 2)]
    pairs = {}
    for text in ("", 'base = "C"', 'arms = ["A", "C", "Z"]', "all_pairs = true"):
        of = of_study(write(tmp_path / f"study{len(pairs)}", boots, f"[comparison]\n{text}\n" if text else ""))
        pairs[text] = arms.pairs(of)
        exploratory = any("exploratory" in w for e in arms.ratios(of) for w in e.warnings)
        assert exploratory == (text == "")
    assert list(pairs.values()) == [
        [("A", "B"), ("A", "C")], [("C", "A"), ("C", "B")], [("A", "C")], [("A", "B"), ("A", "C"), ("B", "C")],
    ]  # fmt: skip


def test_a_declared_arm_needs_no_log(tmp_path: Path) -> None:
    folder = write(tmp_path / "study", [*runs("A", 1.0, 1), *runs("B", 1.2, 2)])
    for log in folder.glob("boots/*.log"):
        log.unlink()
    of = of_study(folder)
    assert ratio(arm_verdicts.verdicts(of), "B").verdict == "different"
    assert arm_tables.arm_table(of)["configuration"].to_list() == ["not known", "not known"]


def test_a_faster_arm_with_shorter_or_less_valid_answers_is_told_as_that(tmp_path: Path) -> None:
    boots = [*runs("A", 1.0, 1), *runs("B", 0.8, 2, tokens=30, valid=0.8)]
    of = of_study(write(tmp_path / "study", boots, "margin = 0.05\n"))
    found = arm_verdicts.verdicts(of)
    paid = [
        "B's answers are 40 % shorter (30 against 50 tokens)",
        "fewer of B's answers are valid (87 % against 100 %)",
    ]
    rate = ratio(found, "B")
    assert (rate.verdict, [w for w in rate.warnings if w in paid]) == ("different", paid)
    assert "answers are 40 % shorter" in arm_tables.sentence(of, found)
    assert not any(w in paid for w in ratio(found, "B", "start_up").warnings)
    slower = of_study(write(tmp_path / "slow", [*runs("A", 1.0, 1), *runs("B", 1.3, 2, tokens=30)]))
    assert arm_verdicts.price(slower, ratio(arm_verdicts.verdicts(slower), "B")) == []


def test_what_was_not_alike_is_listed_before_and_beside_the_verdict(tmp_path: Path) -> None:
    cold, warm = [cache_page(0, 0), cache_page(3000, 0)], [cache_page(900, 0), cache_page(3900, 2500)]
    boots = [
        Boot("A1", "A", 1.0, pages=cold),
        Boot("B1", "B", 1.0, pages=warm, warmup=0, failed=2, prompt=200, requests=50),
    ]
    of = of_study(write(tmp_path / "study", boots))
    table = {row["condition"]: row for row in arm_conditions.table(of).iter_rows(named=True)}
    assert [table["prefix cache before the load"][arm] for arm in "AB"] == ["cold", "warm"]
    assert [table["prefix hit rate"][arm] for arm in "AB"] == ["0.0 %", "83.3 %"]
    unlike = [name for name, row in table.items() if row["alike"] == "no"]
    assert unlike == ["mean prompt tokens (chat)", "prefix cache before the load", "prefix hit rate",
                      "warm-up requests left out", "failed requests", "duration of the load (s)"]  # fmt: skip
    assert table["sampling"]["alike"] == table["prompt template"]["alike"] == "not stated"
    said = f"not alike in the two arms: {', '.join(unlike)}"
    found = arm_verdicts.verdicts(of)
    assert said in ratio(found, "B").warnings
    assert said not in ratio(found, "B", "start_up").warnings  # a start-up does not depend on the load


def test_texts_of_the_same_input(tmp_path: Path) -> None:
    long = "the same beginning of a long answer that goes on "
    boots = [
        Boot("A1", "A", 1.0, text=lambda i: f"{long}{i}"),
        Boot("B1", "B", 1.0, text=lambda i: f"{long}{i}" if i % 2 else f"{long}!{i}" if i % 4 else "no"),
    ]
    of = of_study(write(tmp_path / "study", boots))
    (row,) = arm_outputs.same_inputs(of, arms.pairs(of)).iter_rows(named=True)
    assert (row["a"], row["b"], row["inputs"], row["found by"]) == ("A", "B", 30, "request id and prompt length")
    kinds = ["equal" if i % 2 else "near" if i % 4 else "far" for i in range(2, 32)]
    assert row["equal"] == kinds.count("equal") / 30
    assert row["near"] == (kinds.count("equal") + kinds.count("near")) / 30
    boots[1].prompt = 500  # other prompts: nothing is taken for the same input
    assert arm_outputs.same_inputs(of_study(write(tmp_path / "other", boots)), [("A", "B")]).is_empty()


def test_cold_and_warm_boots_of_an_arm_are_compared(tmp_path: Path) -> None:
    boots = [*runs("A", 1.0, 1, n=6), *runs("B", 1.0, 2)]
    for i, boot in enumerate(boots[:6]):
        boot.ready = (55 + i) if i < 3 else 10 + i
    folder = write(tmp_path / "study", boots)
    text = (folder / "study.toml").read_text()
    for i in range(6):
        text = text.replace(f'id = "A{i + 1}"\n', f'id = "A{i + 1}"\ncache = "{"cold" if i < 3 else "warm"}"\n')
    (folder / "study.toml").write_text(text)
    of = of_study(folder)
    found = arm_verdicts.cold_and_warm(of)
    start = ratio(found, "A, warm", "start_up", "A, cold")
    assert start.value == pytest.approx((73 * 74 * 75 / (115 * 114 * 116)) ** (1 / 3), rel=0.02)
    assert start.verdict == "different"
    assert {e.qualifiers["a"] for e in found} == {"A, cold"}
    assert arm_verdicts.states(of).filter(pl.col("arm") == "A")["declared"].to_list() == ["cold"] * 3 + ["warm"] * 3


@pytest.mark.parametrize(
    "boots", [[], [Boot("A1", "A", 1.0)], [Boot("A1", "A", 1.0), Boot("B1", "B", 1.0, requests=0)]]
)
def test_little_is_said_as_little(tmp_path: Path, boots: list[Boot]) -> None:
    folder = write(tmp_path / "study", boots)
    of = of_study(folder)
    found = arm_verdicts.verdicts(of)
    said = arm_tables.sentence(of, found)
    assert said.startswith(("No arms can be compared", "None of 3 comparisons"))
    assert arm_tables.next_step(of, found)
    for frame in (arm_tables.arm_table(of), arm_tables.knob_table(of), arm_conditions.table(of),
                  arm_tables.verdict_table(of, found), arm_outputs.answers(of), arm_verdicts.states(of)):  # fmt: skip
        assert frame.width > 0


def test_two_studies_are_compared_as_arms(tmp_path: Path) -> None:
    before = of_study(write(tmp_path / "before", runs("A", 1.0, 1)))
    after = of_study(write(tmp_path / "after", runs("A", 1.2, 2)))
    both = arms.together(before, after, ("before", "after"))
    assert both.names == ["before: A", "after: A"]
    got = ratio(arm_verdicts.verdicts(both, [("before: A", "after: A")]), "after: A", a="before: A")
    assert got.verdict == "different"
    assert got.value == pytest.approx(1 / 1.2, rel=0.02)
    assert not any("confounded" in w for w in got.warnings)


def test_classes_that_were_sent_in_other_shares_of_the_phases_are_not_alike(tmp_path: Path) -> None:
    of = of_study(Path(shutil.copytree(paths.DATA / "vllm-cpu-mixed", tmp_path / "mixed")))
    table = {row["condition"]: row for row in arm_conditions.table(of).iter_rows(named=True)}
    # By hand: beside the other class were sent 16 of 52 and of 38 chats, 15 of 27 and 14 of 22 documents.
    for kind, shares in {"chat": ["31 %", "42 %"], "batch": ["56 %", "64 %"]}.items():
        row = table[f"share of requests by phase ({kind}, mixed)"]
        assert [row["mnbt512"], row["mnbt8192"], row["alike"]] == [*shares, "no"]
    (pair,) = arms.pairs(of)
    unlike = arm_conditions.mismatches(of, pair, "ttft_p50")
    assert unlike == ["mean prompt tokens (batch)", "share of requests by phase", arm_conditions.HOST_LOAD]


def test_a_class_that_one_arm_sent_in_a_single_phase_is_not_alike(tmp_path: Path) -> None:
    study = Path(shutil.copytree(paths.DATA / "vllm-cpu-mixed", tmp_path / "mixed"))
    trace = study / "requests" / "S8192" / "trace.jsonl"
    kept = [line for line in trace.read_text().splitlines() if json.loads(line)["phase"] != "chat-alone"]
    trace.write_text("\n".join(kept) + "\n")
    of = of_study(study)
    table = {row["condition"]: row for row in arm_conditions.table(of).iter_rows(named=True)}
    row = table["share of requests by phase (chat, mixed)"]
    assert [row["mnbt512"], row["mnbt8192"], row["alike"]] == ["31 %", "100 %", "no"]
