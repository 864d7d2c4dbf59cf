"""Load and prefill rates on pages whose tokens and seconds are known."""

from pathlib import Path

import pytest

from analysis import paths
from analysis.findings import prefill_rates, time_split
from analysis.study import Study

PAGE = """\
process_start_time_seconds 1
vllm:prompt_tokens_total{{engine="0",model_name="m"}} {prompt}
vllm:request_prefill_kv_computed_tokens_sum{{engine="0",model_name="m"}} {computed}
vllm:request_prefill_kv_computed_tokens_count{{engine="0",model_name="m"}} {n}
vllm:request_prefill_time_seconds_sum{{engine="0",model_name="m"}} {seconds}
vllm:request_prefill_time_seconds_count{{engine="0",model_name="m"}} {n}
"""


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")

    def make(rows: list[tuple[float, float, float]], drop: str = "never") -> dict[str, object]:
        folder = tmp_path / "s" / "metrics" / "a"
        folder.mkdir(parents=True)
        for minute, (prompt, computed, seconds) in enumerate(rows):
            text = PAGE.format(prompt=prompt, computed=computed, seconds=seconds, n=minute)
            kept = [line for line in text.splitlines() if drop not in line]
            (folder / f"20260101T00{minute:02}00Z.prom").write_text("\n".join(kept) + "\n")
        study = Study(tmp_path / "s")
        [run] = time_split.runs(study.connection)
        return {e.id: e for e in prefill_rates.rates(study.connection, run)}

    return make


def test_the_load_is_not_the_rate(pages) -> None:  # noqa: ANN001
    found = pages([(0, 0, 0), (600, 300, 1), (1200, 900, 2), (1200, 900, 2), (1800, 1200, 4)])
    load = found[prefill_rates.LOAD]
    assert load.value == 1800 / 240
    assert load.method.startswith("load, not a prefill rate")
    assert found[prefill_rates.MEAN].value == 1200 / 4
    assert found[prefill_rates.MEAN].low is None
    assert found[prefill_rates.MEDIAN].value == 300  # of 300, 600 and 150; a minute without any is in none
    assert found[prefill_rates.PEAK].value == 600
    assert "chosen for being the highest" in found[prefill_rates.PEAK].warnings


def test_cached_tokens_inside_are_said(pages) -> None:  # noqa: ANN001
    found = pages([(0, 0, 0), (600, 300, 1)], drop="computed")
    assert found[prefill_rates.MEAN].value == 600
    assert "tokens found in the prefix cache are inside: an upper limit" in found[prefill_rates.MEAN].warnings


def test_a_rate_without_its_seconds_is_not_computable(pages) -> None:  # noqa: ANN001
    found = pages([(0, 0, 0), (600, 300, 1)], drop="prefill_time")
    assert found[prefill_rates.LOAD].value == 10
    assert {found[id].value for id in (prefill_rates.MEAN, prefill_rates.MEDIAN, prefill_rates.PEAK)} == {None}


def test_many_intervals_give_the_mean_an_interval(pages) -> None:  # noqa: ANN001
    rows = [(0.0, 0.0, 0.0)]
    for i in range(40):
        prompt, computed, seconds = rows[-1]
        rows.append((prompt + 600, computed + 300 + 17 * (i % 5) + (i * 7) % 11, seconds + 1 + 0.1 * (i % 3)))
    mean = pages(rows)[prefill_rates.MEAN]
    assert mean.value == pytest.approx(rows[-1][1] / rows[-1][2])
    assert mean.low < mean.value < mean.high
    assert mean.n in (5, 10)
