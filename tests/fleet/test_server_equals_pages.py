"""What a server computes equals what the raw pages of the same period give: totals, windows, clock, gauges."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from analysis import paths
from analysis.sources.fleet_address import parse_address
from analysis.sources.fleet_fetch import fetch
from analysis.sources.prometheus_line import parse_sample
from analysis.sources.prometheus_pages import time_in_name
from analysis.store.load import load
from tests.conftest import copy_boots
from tests.fleet import simulated
from tests.fleet.conftest import KINDS

BOOTS = ["A2", "B1"]
BOUND = 1e-9
"""Relative: what sums in another order, and VictoriaMetrics' decimal storage, may change."""
QUERIES = {
    "totals": "select run, concept, statistic, coalesce(le, -1) as le, coalesce(key, '') as key, total as value "
    "from run_totals",
    "windows": "select run, end_s, concept, statistic, coalesce(le, -1) as le, coalesce(key, '') as key, "
    "increase as value "
    "from run_windows where start_s is not null",
    "wall": "select run, wall_s as value from run_clock",
    "busy": "select run, busy_s as value from run_clock",
    "gauges": "select target as run, scraped_at_s, concept, coalesce(key, '') as key, value "
    "from concept_gauges join page_order using (page, target, life)",
}


def _store(data: Path, tmp_path: Path) -> duckdb.DuckDBPyConnection:
    database = tmp_path / f"{data.name}-{len(list(tmp_path.iterdir()))}.duckdb"
    load(data, database)
    return duckdb.connect(str(database), read_only=True)


def _fetched(base: str, query: str, out: Path) -> Path:
    out.mkdir(parents=True)
    fetch(parse_address(f"prometheus+{base}/?{query}"), out)
    return out


def _worst(a: duckdb.DuckDBPyConnection, b: duckdb.DuckDBPyConnection, what: str) -> float:
    """The largest difference over all rows, relative to a second, token or request at least; rows must be the same."""
    left, right = (c.sql(QUERIES[what]).pl() for c in (a, b))
    keys = [name for name in left.columns if name != "value"]
    both = left.join(right, on=keys, how="full", coalesce=True, suffix="_there")
    assert both.height == left.height == right.height > 0
    assert both.filter(pl.col("value").is_null() != pl.col("value_there").is_null()).height == 0
    off = (pl.col("value") - pl.col("value_there")).abs() / pl.max_horizontal(pl.col("value").abs(), pl.lit(1.0))
    return float(both.select(off.max()).item() or 0.0)


def recorded_samples(study: Path) -> Iterator[tuple[str, str, float, float]]:
    for file in sorted(study.rglob("*.prom.gz")):
        at = time_in_name(file.name)
        for line in gzip.decompress(file.read_bytes()).decode().splitlines():
            sample = None if line.startswith("#") else parse_sample(line)
            if sample is not None and at is not None:
                labels = {**json.loads(sample.series.labels), "instance": file.parent.name, "job": "vllm"}
                yield (
                    sample.series.name,
                    ",".join(f"{k}={json.dumps(v)}" for k, v in sorted(labels.items())),
                    sample.value,
                    at,
                )


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two recorded boots as a study of pages alone, and as a back-fill."""
    folder = copy_boots(tmp_path_factory.mktemp("recorded") / "whole", BOOTS)
    for file in [*folder.glob("boots/*"), *folder.glob("requests/*/*"), *folder.glob("host/*"), folder / "study.toml"]:
        file.unlink(missing_ok=True)
    return folder, simulated.openmetrics(folder.parent / "back.om", recorded_samples(folder))


@pytest.mark.parametrize("kind", KINDS)
def test_recorded_pages_and_a_server_with_a_window_a_scrape_are_one(
    kind: str, recorded: tuple[Path, Path], start_server: Any, tmp_path: Path
) -> None:
    folder, back_fill = recorded
    server = start_server(kind, back_fill)
    query = 'match=job="vllm"&start=2026-11-29T13:10:00Z&end=2026-11-29T13:22:00Z&window=1s'
    raw, served = _store(folder, tmp_path), _store(_fetched(server.base, query, tmp_path / "served"), tmp_path)
    for what in QUERIES:
        # A window's increase is a difference of two large values: VictoriaMetrics keeps some twelve digits of each.
        assert _worst(raw, served, what) < (1e-6 if what == "windows" and kind != "prometheus" else BOUND), what


@pytest.mark.parametrize("kind", KINDS)
def test_with_longer_windows_totals_and_wall_clock_stay_the_same(
    kind: str, recorded: tuple[Path, Path], start_server: Any, tmp_path: Path
) -> None:
    folder, back_fill = recorded
    server = start_server(kind, back_fill)
    query = 'match=job="vllm"&start=2026-11-29T13:00:00Z&end=2026-11-29T14:00:00Z&window=1m'
    raw, served = _store(folder, tmp_path), _store(_fetched(server.base, query, tmp_path / "served"), tmp_path)
    assert _worst(raw, served, "totals") < BOUND
    assert _worst(raw, served, "wall") < BOUND


@pytest.fixture(scope="module")
def rolling(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, Path]:
    """Replicas that restart, come late, leave early; one whose counters pass their old values within one interval."""
    times = np.arange(simulated.START + 30, simulated.START + 1830, 30)
    fleet = {
        "steady": (times, simulated.replica(1, times)),
        "restarts": (times, simulated.replica(2, times, restart_at=21)),
        "restarts-early": (times, simulated.replica(3, times, restart_at=2, rate=1.0)),
        "late": (times[23:], simulated.replica(4, times[23:])),
        "leaves": (times[:17], simulated.replica(5, times[:17])),
        "late-restarts": (times[11:], simulated.replica(6, times[11:], restart_at=20)),
    }
    fleet["overtakes"] = (times, _overtaking(times))
    folder = simulated.write_pages(tmp_path_factory.mktemp("rolling") / "raw", fleet)
    return fleet, folder, simulated.openmetrics(folder.parent / "back.om", simulated.samples(fleet))


def _overtaking(times: np.ndarray) -> list[simulated.Page]:
    """A busy process after the restart: only the process start shows it."""
    before, after = simulated.replica(7, times[:3], rate=0.05), simulated.replica(8, times[3:], rate=5.0)
    start = float(times[3] - 5)
    return [
        *before,
        *([(n, inside, start if n.startswith("process") else v) for n, inside, v in page] for page in after),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", ["30s", "5m"])
def test_restarts_arrivals_and_departures_are_counted_as_the_pages_count_them(
    kind: str, window: str, rolling: tuple[dict[str, Any], Path, Path], start_server: Any, tmp_path: Path
) -> None:
    _, folder, back_fill = rolling
    server = start_server(kind, back_fill)
    query = f'match=job="sim"&start={simulated.START}&end={simulated.START + 1800}&window={window}&resolution=15s'
    raw, served = _store(folder, tmp_path), _store(_fetched(server.base, query, tmp_path / "served"), tmp_path)
    assert _worst(raw, served, "totals") < BOUND


@pytest.mark.parametrize("kind", KINDS)
def test_a_fleet_in_one_run_is_the_sum_of_its_replicas(
    kind: str, rolling: tuple[dict[str, Any], Path, Path], start_server: Any, tmp_path: Path
) -> None:
    _, folder, back_fill = rolling
    server = start_server(kind, back_fill)
    query = f'match=job="sim"&start={simulated.START}&end={simulated.START + 1800}&window=5m&resolution=15s&by=none'
    raw, served = _store(folder, tmp_path), _store(_fetched(server.base, query, tmp_path / "served"), tmp_path)
    summed = (
        "select concept, statistic, coalesce(le, -1) as le, coalesce(key, '') as key, "
        "sum(total)::double as value from run_totals group by all"
    )
    left, right = (c.sql(summed).pl() for c in (raw, served))
    both = left.join(right, on=["concept", "statistic", "le", "key"], suffix="_there")
    assert both.height == left.height == right.height > 100
    assert served.sql("select distinct run from run_totals").fetchall() == [("metrics/fleet",)]
    np.testing.assert_allclose(both["value_there"], both["value"], rtol=BOUND)
    each = served.sql(
        "select replica, value from replica_totals where name = 'vllm:request_prefill_time_seconds_sum' order by 1"
    ).fetchall()
    there = raw.sql(
        "select run[9:], total from run_totals where concept = 'prefill_time' and statistic = 'sum' order by 1"
    ).fetchall()
    assert [name for name, _ in each] == [name for name, _ in there]
    np.testing.assert_allclose([v for _, v in each], [v for _, v in there], rtol=BOUND)


def test_the_studies_of_the_repository_are_where_this_test_looks() -> None:
    assert all((paths.DATA / "vllm-cpu" / "metrics" / boot).is_dir() for boot in BOOTS)
