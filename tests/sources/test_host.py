"""Host counters."""

import json
from pathlib import Path

import pytest

from analysis.sources import host
from analysis.sources.files import walk

SAMPLES = Path(__file__).parents[1] / "samples" / "requests"


def test_recorded_lines() -> None:
    file = next(f for f in walk(SAMPLES)[0] if f.path == "host.jsonl")
    assert host.recognise(file.head(), file.path)
    reading = host.read(file)
    rows = reading.tables["host_counters"]
    first = {r["counter"]: (r["value"], r["unit"]) for r in rows if r["line"] == 1}
    assert first == {
        "cpu_pct": (80.5, "%"), "load1": (2.0322265625, None), "mem_total": (25276063744.0, "bytes"),
        "mem_available": (16147742720.0, "bytes"), "swap_total": (0.0, "bytes"), "swap_used": (0.0, "bytes"),
        "engine_rss": (8993275904.0, "bytes"),
        "procs/vllm/5923/rss": (1708474368.0, "bytes"), "procs/vllm/5923/cpu_pct": (0.0, "%"),
        "procs/vllm/5923/cpu_s": (50.44, "s"), "procs/vllm/5923/threads": (12.0, None),
        "procs/python3/5943/rss": (13246464.0, "bytes"), "procs/python3/5943/cpu_pct": (0.0, "%"),
        "procs/python3/5943/cpu_s": (0.03, "s"), "procs/python3/5943/threads": (1.0, None),
        "procs/VLLM::EngineCore/5944/rss": (974589952.0, "bytes"), "procs/VLLM::EngineCore/5944/cpu_pct": (0.0, "%"),
        "procs/VLLM::EngineCore/5944/cpu_s": (24.57, "s"), "procs/VLLM::EngineCore/5944/threads": (15.0, None),
        "procs/VLLM::Worker/5957/rss": (6296965120.0, "bytes"), "procs/VLLM::Worker/5957/cpu_pct": (0.0, "%"),
        "procs/VLLM::Worker/5957/cpu_s": (28.33, "s"), "procs/VLLM::Worker/5957/threads": (46.0, None),
    }  # fmt: skip
    assert {(r["run"], r["at_s"]) for r in rows if r["line"] == 1} == {("A1", 1795957536.355)}
    assert reading.unparsed == []


@pytest.mark.parametrize(
    ("counter", "unit"),
    [
        ("gpus/0/power_w", "W"), ("gpus/0/temperature_c", "Cel"), ("gpus/0/memory_used_mib", "MiB"), ("energy_j", "J"),
        ("clock_mhz", "MHz"), ("gpu_util_pct", "%"), ("procs/rss", "bytes"), ("threads", None),
    ],
)  # fmt: skip
def test_units_come_from_names(counter: str, unit: str | None) -> None:
    assert host.unit(counter) == unit


def test_absent_and_odd_values_are_left_out(tmp_path: Path) -> None:
    lines = [
        {"t": 1.0, "cpu_pct": None, "load1": float("nan"), "mem_total": 10**400, "ok": True, "swap_used": 3},
        {"cpu_pct": 5},
        {"t": 2.0, "gpus": [{"index": 0, "power_w": 55.5}, {"index": 1, "power_w": 60}]},
    ]
    (tmp_path / "h.jsonl").write_text("\n".join(map(json.dumps, lines)))
    reading = host.read(walk(tmp_path)[0][0])
    assert [(r["line"], r["counter"], r["value"]) for r in reading.tables["host_counters"]] == [
        (1, "swap_used", 3.0),
        (3, "gpus/0/power_w", 55.5),
        (3, "gpus/1/power_w", 60.0),
    ]
    assert [(u.line, u.what) for u in reading.unparsed] == [(2, "host sample without t")]
