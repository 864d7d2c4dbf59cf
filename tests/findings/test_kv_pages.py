"""What the pages show of the KV budget: curves, memory parts, tables, sentences, and the answer on the terminal."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from boot_logs import boot_log
from scipy import stats

from analysis import paths
from analysis.estimates.rounding import show_chance
from analysis.findings import boot_risk, kv_cost, kv_curves, kv_level_tables, kv_tables, memory_parts, risk_text
from analysis.findings.kv_boots import GIB
from analysis.study import Study

WriteStudy = Callable[..., Study]


def test_the_curve_holds_the_boots_the_line_and_the_need_of_each_level() -> None:
    known = boot_risk.memory(Study("vllm-cpu").connection)
    curve = kv_curves.along_batch(known)
    assert curve["group"].unique().to_list() == ["length 8,192; profiled, 0.25 of memory"]
    boots = sorted(curve.filter(kind="boot").select("x", "value").iter_rows())
    x, y = [2048.0] * 4 + [8192.0] * 3, [3.91, 3.91, 3.91, 4.03, 3.92, 4.02, 4.04]
    assert boots == sorted(zip(x, y, strict=True))
    fit = stats.linregress(x, y)
    line = curve.filter(kind="prediction", extrapolated=False)
    assert [fit.intercept + fit.slope * at for at in line["x"]] == pytest.approx(line["value"].to_list())
    need = dict(curve.filter(kind="need", extrapolated=False).select("x", "value").iter_rows())
    assert need[2048] * GIB == pytest.approx(169 * 128 * 3072, rel=0.002)
    assert need[8192] * GIB == pytest.approx(389 * 128 * 3072, rel=0.002)
    assert curve.filter(extrapolated=True)["x"].min() == 8192
    described = kv_curves.describe_curve(curve, "batch tokens")
    assert described["title"] == "7 boots along batch tokens, 0 of them refused"


def test_the_curve_along_length_shows_the_refused_boots_below_the_need() -> None:
    curve = kv_curves.along_length(boot_risk.memory(Study("vllm-cpu").connection))
    refused = curve.filter(outcome="refused")
    assert (refused["x"].to_list(), refused["value"].to_list()) == ([32768.0] * 2, [0.06] * 2)
    group = refused["group"][0]
    need = curve.filter(kind="need", group=group, extrapolated=False)
    assert min(need["value"]) > 0.06


def test_what_memory_went_to(write_study: WriteStudy) -> None:
    usage = (
        "(Worker pid=9) INFO 06-01 10:00:30 [gpu_worker.py:700] Free memory on device cuda:0 (70.0/80.0 GiB) on "
        "startup. Desired GPU memory utilization is (0.5, 40.0 GiB). Actual usage is 15.0 GiB for weight, 2.5 GiB for "
        "peak activation, 0.5 GiB for non-torch memory, and 1.0 GiB for CUDAGraph memory.",
    )
    study = write_study({"a": boot_log(8192, 2048, "20.0", 60_000, extra=usage)})
    parts = dict(memory_parts.table(study.connection).select("part", "value").iter_rows())
    assert parts == {
        "weights": 15.0, "activation peak": 2.5, "graphs": 1.0, "other": 0.5, "KV cache": 20.0,
        "not accounted for": 40.0 - 39.0,
    }  # fmt: skip


def test_a_peak_that_holds_the_graphs_is_not_counted_twice() -> None:
    boot = {
        "weights_gib": 15.0, "peak_gib": 3.5, "non_torch_gib": None, "consumed_gib": 15.5, "graphs_gib": 1.0,
        "requested_gib": 40.0, "cache_gib": 21.0, "total_gib": 80.0,
    }  # fmt: skip
    newer, older = (memory_parts.parts({**boot, "engine_version": v}) for v in ("0.28.0", "0.26.0"))
    assert (newer["activation peak"], older["activation peak"]) == (2.5, 3.5)
    assert newer["other"] == 0.5


def test_the_recorded_memory_is_split_as_the_log_prints_it() -> None:
    table = memory_parts.table(Study("vllm-cpu").connection).filter(label="B1")
    assert dict(table.select("part", "value").iter_rows()) == {"weights and other": 1.85, "KV cache": 3.92}


def test_tables_and_sentences_of_no_boots(write_study: WriteStudy) -> None:
    study = write_study({"a": boot_log(8192, None)})
    known = boot_risk.memory(study.connection)
    costs = kv_cost.costs(study.connection, known.series, known.cells)
    assert kv_tables.next_step(costs, []) == "boot the same setting at a second batch size, twice at each"
    assert kv_tables.risk_sentence([]).startswith("Whether the next boot starts cannot be said")
    empty = kv_tables.risk_table([]), kv_level_tables.step_table([], []), kv_level_tables.cell_table(known, [])
    assert [table.height for table in empty] == [0, 0, 0]
    assert risk_text.most_useful([]) == ""


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "0 %"), (1e-9, "under 0.1 %"), (0.043, "4.3 %"), (0.99999, "over 99.9 %")]
)
def test_far_tails_are_not_printed_with_false_digits(value: float, said: str) -> None:
    assert show_chance(value) == said


def _risk(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "analysis", "risk", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=paths.ROOT)


def test_the_terminal_answers() -> None:
    run = _risk("vllm-cpu", "--batch-tokens", "4,096", "--max-model-len", "8192")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("max_num_batched_tokens 4,096, max_model_len 8,192 (profiled, 0.25 of memory): safe")
    assert "from 7 boots" in run.stdout
    none = _risk("llamacpp", "--batch-tokens", "4096")
    assert (none.returncode, none.stdout.startswith("Cannot be said")) == (1, True)
    wrong = _risk("vllm-cpu", "--batch-tokens", "many")
    assert wrong.returncode == 2 and "'many' is not a number of tokens" in wrong.stderr
    assert _risk("no-such-study", "--batch-tokens", "1").returncode == 1


def _sentence(name: str) -> str:
    known = boot_risk.memory((study := Study(name)).connection)
    return kv_tables.risk_sentence(boot_risk.answers(study.connection, known))


def test_refused_both_times_is_no_close_call() -> None:
    said = _sentence("vllm-cpu")
    assert said == (
        "Of 9 settings looked at, 6 are safe and 1 is risky; of 2 it cannot be told. Safe is at most one refusal in "
        "twenty boots, by every route. Boots with 2,048 batch tokens at length 32,768 and 0.06 GiB set for the cache, "
        "where one longest request needs 0.13 GiB, were refused both times; with other memory settings 3 of 3 "
        "started (profiled, 0.25 of memory)."
    )
    assert "closest call" not in said


def test_a_need_that_is_only_known_to_be_at_most_something_limits_the_chance() -> None:
    study = Study("cluster-a")
    known = boot_risk.memory(study.connection)
    answers = boot_risk.answers(study.connection, known)
    assert kv_tables.risk_sentence(answers).endswith(
        "The closest call is 12,288 batch tokens at length 768,000: refused with a chance of 4.4 % by requests that "
        "fit, or at most 62 % by printed memory."
    )
    curve = kv_curves.along_batch(known)
    described = kv_curves.describe_curve(curve, "batch tokens")["description"]
    assert described.endswith("length 768,000: a longest request needs at most 9.8 GiB inside what was tried")
    assert curve["low"].drop_nulls().min() == 0.0  # no band of negative memory
    routes = kv_curves.chances(answers).filter(x=12288)["route"].to_list()
    assert sorted(routes) == ["printed memory, at most", "requests that fit"]


def test_one_route_of_two_gives_no_word() -> None:
    study = Study("cluster-a")
    answers = boot_risk.answers(study.connection, boot_risk.memory(study.connection))
    [short] = [r for r in answers if r.length == 256_000]
    assert [round(c, 3) for c in short.chances] == [0.065]
    assert short.verdict == "cannot_tell"


def test_the_budget_stays_and_the_process_grows() -> None:
    study = Study("vllm-cpu-iterations")
    known = boot_risk.memory(study.connection)
    made = [step for one in known.series for step in kv_cost.steps(one, known.cells)]
    said, _ = kv_tables.headline([], made)
    assert "The memory for the cache stayed at 4.04 GiB, and" in said
    assert (
        "no memory was taken from the cache's budget. Peak memory of the engine's processes rose by 0.68 GiB." in said
    )
    assert said.endswith("With one boot a level the scatter of boots is not known.")
    [step] = made
    peaks = [step.series.at(n)[0].peak_bytes / GIB for n in (step.lower, step.higher)]
    assert peaks == pytest.approx([8.54, 9.22], abs=0.01)


def test_without_host_counters_the_process_is_another_figure() -> None:
    known = boot_risk.memory(Study("vllm-cpu").connection)
    made = [step for one in known.series for step in kv_cost.steps(one, known.cells)]
    said, _ = kv_tables.headline([], made)
    assert "went from 3.94 to 3.99 GiB" in said
    assert said.endswith("What the process takes beside the cache is another figure.")
