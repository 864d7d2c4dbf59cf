"""Silent degradation: what a boot log, host counters and pages show, what they do not, and what nobody recorded."""

import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

from analysis import paths
from analysis.engines.boot_lines import load
from analysis.findings import (
    arm_conditions,
    arm_verdicts,
    arms,
    class_groups,
    decode_drift,
    decode_steps,
    degradation,
    degradation_tables,
)
from analysis.findings.degradation import Look
from analysis.study import Study

STEP = r"Iteration\(\d+\): (\d+) context requests, .* (\d+) generation requests, .* time: ([\d.]+) ms"
LOG = """\
INFO 01-01 00:00:01 [api_server.py:1] vLLM API server version 0.9.2
WARNING 01-01 00:00:02 [fused_moe.py:9] Using default MoE config. Performance might be sub-optimal!
INFO:     Application startup complete.
WARNING 01-01 00:09:00 [scheduler.py:1] Sequence group 7 is preempted by PreemptionMode.RECOMPUTE mode.
"""
TOML = "[hardware]\ncpus = 4\n"


@pytest.fixture(autouse=True)
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")


def study(tmp_path: Path, log: str = LOG, host: list[dict[str, Any]] | None = None) -> Study:
    folder = tmp_path / "s"
    (folder / "boots").mkdir(parents=True)
    (folder / "boots" / "b.log").write_text(log)
    (folder / "study.toml").write_text(TOML)
    if host:
        (folder / "host").mkdir()
        (folder / "host" / "b.jsonl").write_text("\n".join(map(json.dumps, host)) + "\n")
    return Study(folder)


def by_what(looks: list[Look]) -> dict[str, Look]:
    return {look.what: look for look in looks}


def test_every_fallback_says_what_it_means() -> None:
    fallbacks = [line for line in load().lines if line.purpose == "fallback"]
    assert len(fallbacks) > 25
    assert all(line.means for line in fallbacks)


def test_fallback_lines_are_found_with_their_place(tmp_path: Path) -> None:
    looks = degradation.fallbacks(study(tmp_path).connection)
    assert [(k.said, k.began, k.evidence[0].line) for k in looks] == [
        ("moe default config: 1 line", "line 2, while booting", 2), ("preempted: 1 line", "line 4, while serving", 4),
    ]  # fmt: skip
    assert all(look.means for look in looks)
    [count] = degradation.fallback_counts(looks)
    assert (count.value, count.qualifiers) == (2, {"boot": "b"})


def test_a_log_without_fallbacks_is_looked_at_and_clear(tmp_path: Path) -> None:
    clear = LOG.splitlines()[0] + "\nINFO:     Application startup complete.\n"
    [look] = degradation.fallbacks(study(tmp_path, clear).connection)
    assert look.found is False
    assert look.said.startswith("none of ")


def test_signs_on_the_host_begin_with_the_first_sample_that_shows_them(tmp_path: Path) -> None:
    host = [
        {"t": 1_700_000_000 + k, "mem_total": 1000, "mem_available": 500 if k < 3 else 99, "swap_total": 10,
         "swap_used": 1 if k < 4 else 2, "load1": 1.0 if k < 5 else 8.5,
         "gpus": [{"index": 0, "clock_mhz": 1000 if k < 6 else 899, "throttle_reasons": 0 if k < 7 else 4}]}
        for k in range(9)
    ]  # fmt: skip
    looks = by_what(degradation.host_signs(study(tmp_path, host=host).connection))
    assert {k: v.began for k, v in looks.items()} == {
        "memory pressure": "2023-11-14 22:13:23 UTC", "swap": "2023-11-14 22:13:24 UTC",
        degradation.OVERLOAD: "2023-11-14 22:13:25 UTC", "falling clock": "2023-11-14 22:13:26 UTC",
        "throttling flags": "2023-11-14 22:13:27 UTC",
    }  # fmt: skip
    assert [looks[k].evidence[0].line for k in ("memory pressure", "throttling flags")] == [4, 8]


def test_what_was_not_sampled_is_not_called_clear(tmp_path: Path) -> None:
    looks = by_what(degradation.host_signs(study(tmp_path, host=[{"t": 1e9, "mem_total": 5, "cpu_pct": 3}]).connection))
    assert {k: v.found for k, v in looks.items()} == dict.fromkeys(
        ("memory pressure", "swap", degradation.OVERLOAD, "throttling flags", "falling clock")
    )


def test_no_host_file_is_said_once_a_boot(tmp_path: Path) -> None:
    connection = study(tmp_path).connection
    assert [(k.what, k.found) for k in degradation.host_signs(connection)] == [("host counters", None)]
    assert [(k.what, k.found) for k in degradation.engine_signs(connection)] == [("preemptions", None)]


def test_the_recorded_boots_ran_without_triton_and_s512_began_on_a_loaded_host() -> None:
    connection = Study("vllm-cpu-mixed").connection
    found = [(k.boot, k.what, k.said) for k in degradation.host_signs(connection) if k.found]
    rows = [json.loads(x) for x in (paths.DATA / "vllm-cpu-mixed" / "host" / "S512.jsonl").read_text().splitlines()]
    most = max(r["load1"] for r in rows) / 2
    said = f"at most {most:.1f} runnable tasks for each of 2 CPUs (the engine's own among them); {degradation.BLIND}"
    assert ("S512", degradation.OVERLOAD, said) in found
    kinds = {k.said.partition(":")[0] for k in degradation.fallbacks(connection) if k.boot == "S512"}
    assert kinds == {"eager", "model runner", "no triton", "slow allocator", "ssm cache type"}


def test_a_slowdown_is_found_with_its_beginning(tmp_path: Path) -> None:
    """Streams of 21 tokens at 10 tokens/s, at 5 tokens/s from the tenth minute on; ten a minute for twenty minutes."""
    out = []
    for k in range(200):
        at, gap = 1_700_000_000 + 6.0 * k, (0.1 if k < 100 else 0.2) * (1 + 0.01 * (k % 7))
        tokens = [at + 0.5 + gap * i for i in range(21)]
        out.append({"request_id": f"r{k}", "class": "chat", "phase": "all", "sent_at": at, "first_token_at": tokens[0],
                    "token_at": tokens, "tokens_cum": list(range(1, 22)), "finished_at": tokens[-1], "status": "ok",
                    "prompt_tokens": 9, "output_tokens": 21})  # fmt: skip
    made = study(tmp_path)
    (made.data / "t.jsonl").write_text("\n".join(map(json.dumps, out)) + "\n")
    drifts = decode_drift.drifts(class_groups.groups(Study(made.data).connection))
    [look] = decode_drift.looks(drifts)
    assert look.found is True
    assert look.began.startswith("2023-11-14 22:2")
    assert drifts[0].began_s == pytest.approx(1_700_000_000 + 600, abs=70)
    assert drifts[0].change.value == pytest.approx(0.4, abs=0.1)  # a line through a step of one half overshoots it


def test_the_sentence_keeps_the_three_apart() -> None:
    looks = [Look("b", "swap", True, "x"), Look("c", "swap", False, "x"), Look("b", "fallback", False, "x"),
             Look("b", "clock", None, "x")]  # fmt: skip
    assert degradation_tables.sentence(looks) == (
        "Found: swap (b); looked for, not found: fallback; could not be looked at: clock."
    )
    assert degradation_tables.sentence([]).startswith("Whether the engine degraded silently cannot be said")
    load = degradation_tables.sentence([Look("b", degradation.OVERLOAD, False, "x")])
    assert load.endswith("not found: load average above 2 a CPU (a slow or shared CPU would not show in it).")
    assert degradation_tables.found_table(looks).height == 1
    assert degradation_tables.other_table(looks, None)["what"].to_list() == ["clock"]


def test_a_slow_machine_shows_in_steps_that_only_decode() -> None:
    """T512 and T8192 by hand from the raw lines: median seconds of steps with three decodes and no prompt."""
    medians = {}
    for boot in ("T512", "T8192"):
        log = (paths.DATA / "vllm-cpu-iterations" / "boots" / f"{boot}.log").read_text()
        found = re.findall(STEP, log)
        medians[boot] = statistics.median(
            float(ms) for prompts, decodes, ms in found if (prompts, decodes) == ("0", "3")
        )
    connection = Study("vllm-cpu-iterations").connection
    [apart] = decode_steps.compare(connection)
    assert (apart.boot, apart.first, apart.requests) == ("T8192", "T512", 3)
    assert apart.ratio == pytest.approx(medians["T8192"] / medians["T512"])
    [look] = decode_steps.looks(connection)
    assert (look.found, look.what) == (True, "decode-only steps 1.8 times as long as in T512")
    assert look.means.startswith("they differ in max_num_batched_tokens, which no such step depends on: unless")
    of = arms.of(connection)
    unlike = arm_conditions.table(of).filter(alike="no")["condition"].to_list()
    assert "decode-only step time (3 requests)" in unlike
    assert "decode-only step time (4 requests)" not in unlike  # 223 ms against 192 ms
    ratios = [e for e in arm_verdicts.verdicts(of) if e.qualifiers["measure"] == "ttft_p50"]
    assert ratios
    assert all(any("decode-only step time" in w for w in e.warnings) for e in ratios)


def test_without_a_step_log_step_times_could_not_be_looked_at(tmp_path: Path) -> None:
    [look] = decode_steps.looks(study(tmp_path).connection)
    assert (look.what, look.found) == ("decode-only step time", None)
