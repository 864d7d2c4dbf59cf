"""The figures that only the ledger uses: counts, boots of one setting, arms; by hand, and where there is nothing."""

import json
from pathlib import Path

import pytest

from analysis import paths
from analysis.findings import arm_range, boot_pairs, registry, request_counts
from analysis.reconstruct.vllm_log import Boot, log
from analysis.study import Study
from tests.simulate import Truth


@pytest.fixture(autouse=True)
def stores_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def bench(folder: Path, boot: str, rate: float, name: str = "bench-chat") -> None:
    result = {"date": "20260101-000000", "completed": 10, "duration": 10.0, "num_prompts": 10,
              "total_output_tokens": round(rate * 10), "output_throughput": rate}  # fmt: skip
    put(folder / "requests" / boot / f"{name}.json", json.dumps(result))


def arms(folder: Path, rates: dict[str, list[float]]) -> Study:
    """A study with an arm for each key and a boot and a benchmark for each of its rates."""
    toml = "margin = 0.05\n"
    for day, (arm, of_arm) in enumerate(rates.items(), start=1):
        for n, rate in enumerate(of_arm):
            boot = f"{arm}{n}"
            toml += f'[[boots]]\nid = "{boot}"\narm = "{arm}"\n'
            put(folder / "boots" / f"{boot}.log", log(Boot(8192, 2048 * day, 10.0 + n, 100_000, day=f"0{day}-1{n}")))
            bench(folder, boot, rate)
    put(folder / "study.toml", toml)
    return Study(folder)


@pytest.mark.parametrize(
    ("rates", "value", "verdict"),
    [
        ({"a": [100], "b": [101.6]}, 0.016, "no_replicates"),
        ({"a": [100, 100.2, 99.8], "b": [101, 101.1, 100.9]}, 0.01, "equivalent"),
        ({"a": [100, 101, 99], "b": [150, 151, 149]}, 0.5, "different"),
        ({"a": [100, 130, 80], "b": [100, 131, 79]}, 0, "cannot_tell"),
        ({"a": [100, 101, 99], "b": [150, 151, 149], "c": [120]}, 0.5, "no_replicates"),
    ],
)
def test_the_range_of_arms_has_the_weakest_verdict(
    rates: dict[str, list[float]], value: float, verdict: str, tmp_path: Path
) -> None:
    [found] = arm_range.ranges(arms(tmp_path / "s", rates).connection)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.verdict == verdict
    assert found.qualifiers == {"measure": "output_throughput", "load": "bench-chat"}
    assert len(found.evidence) == sum(map(len, rates.values()))


def test_loads_of_two_kinds_are_no_replicates(tmp_path: Path) -> None:
    study = tmp_path / "s"
    for boot, rate in (("a0", 50.0), ("b0", 60.0)):
        bench(study, boot, rate, "bench-doc")
    found = {e.qualifiers["load"]: e for e in arm_range.ranges(arms(study, {"a": [100], "b": [100]}).connection)}
    assert {load: e.value for load, e in found.items()} == pytest.approx({"bench-chat": 0, "bench-doc": 0.2})


def test_boots_of_one_setting_are_compared_and_of_two_are_not(tmp_path: Path) -> None:
    for n, (memory, pool) in enumerate([(12.08, 1110893), (8.44, 1085106)]):
        put(tmp_path / "s" / "boots" / f"b{n}.log", log(Boot(768000, 8192, memory, pool, day=f"08-0{n + 1}")))
    put(tmp_path / "s" / "boots" / "other.log", log(Boot(768000, 4096, 20.0, 1_500_000)))
    found = {(e.id, e.qualifiers.get("measure")): e for e in boot_pairs.pairs(Study(tmp_path / "s").connection)}
    assert found["pool.range", "available"].value == pytest.approx(1 - 8.44 / 12.08)
    assert found["pool.range", "tokens"].value == pytest.approx(1 - 1085106 / 1110893)
    assert {e.qualifiers["arm"] for e in found.values()} == {"len 768000, batch 8192"}


def test_a_refusal_says_what_it_needed(tmp_path: Path) -> None:
    put(tmp_path / "s" / "boots" / "r.log", log(Boot(768000, 16384, 6.9, None, 9.8, 35072)))
    found = {e.id: e.value for e in boot_pairs.refusals(Study(tmp_path / "s").connection)}
    assert found == {"refusal.needed": 9.8 * 2**30, "refusal.longest": 35072}


def test_counts_of_a_run(tmp_path: Path) -> None:
    study = Study(Truth(requests=40, unmatched=2, traced=5).write(tmp_path / "s"))
    found = {e.id: e for e in request_counts.counts(study.connection)}
    assert (found["time.requests"].value, found["finish.unmatched"].value) == (40, 2)
    assert found["cache.computed_share"].value is None
    assert found["cache.computed_share"].reason.startswith("not computable: the pages do not export")
    first = json.loads((tmp_path / "s" / "requests" / "b1" / "trace.jsonl").read_text().splitlines()[0])
    assert found["rate.prefill.longest_prompt"].value == pytest.approx(
        1000 / (first["first_token_at"] - first["sent_at"])
    )


@pytest.mark.parametrize("part", ["boots/b1.log", "metrics", "requests"])
def test_every_figure_is_asked_of_almost_empty_studies(part: str, tmp_path: Path) -> None:
    whole = Truth(requests=40, traced=3).write(tmp_path / "whole")
    (tmp_path / "s").mkdir()
    (whole / part).rename(tmp_path / "s" / Path(part).name)
    everything = registry.Registry(Study(tmp_path / "s").connection).everything()
    assert everything
    assert all(e.value is not None or e.reason for e in everything)
