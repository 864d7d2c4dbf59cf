"""Where the time goes, on real recordings and on pages that allow less."""

from pathlib import Path

import pytest

from analysis import paths
from analysis.findings import time_split, time_tables
from analysis.study import Study
from benchmarks.generate import scrapes

PAGE = """\
process_start_time_seconds {start}
vllm:request_prefill_time_seconds_bucket{{engine="0",le="1.0",model_name="m"}} {n}
vllm:request_prefill_time_seconds_bucket{{engine="0",le="+Inf",model_name="m"}} {n}
vllm:request_prefill_time_seconds_sum{{engine="0",model_name="m"}} {prefill}
vllm:request_prefill_time_seconds_count{{engine="0",model_name="m"}} {n}
vllm:request_decode_time_seconds_bucket{{engine="0",le="1.0",model_name="m"}} {n}
vllm:request_decode_time_seconds_bucket{{engine="0",le="+Inf",model_name="m"}} {n}
vllm:request_decode_time_seconds_sum{{engine="0",model_name="m"}} {decode}
vllm:request_decode_time_seconds_count{{engine="0",model_name="m"}} {n}
vllm:num_requests_running{{engine="0",model_name="m"}} {running}
"""


@pytest.fixture(autouse=True)
def stores_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")


def _study(folder: Path, pages: list[tuple[str, dict[str, float]]]) -> Study:
    for name, numbers in pages:
        file = folder / f"{name}.prom"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PAGE.format(**{"start": 1.0, "running": 0.0, **numbers}))
    return Study(folder)


def test_pages_without_a_boot_log_are_a_run_of_their_folder(tmp_path: Path) -> None:
    pages = [
        ("metrics/a/20260101T000000Z", {"n": 0, "prefill": 0, "decode": 0}),
        ("metrics/a/20260101T000100Z", {"n": 10, "prefill": 2, "decode": 6, "running": 1}),
    ]
    study = _study(tmp_path / "s", pages)
    [run] = time_split.runs(study.connection)
    assert run.qualifiers == {"target": "metrics/a"}
    assert [e.value for e in time_split.phase_seconds(run)] == [None, 2, 6]
    [share] = time_split.prefill_shares(study.connection, [run])
    assert share.value == 0.25
    # No inference histogram: prefill and decode add up to it. One busy minute.
    assert time_split.mean_concurrency(study.connection, run).value == pytest.approx(8 / 60)


def test_an_idle_interval_is_not_in_the_mean_concurrency(tmp_path: Path) -> None:
    pages = [(0, 0, 0), (1, 0, 0), (2, 4, 1), (3, 8, 1), (4, 8, 0), (5, 8, 0)]  # minute, seconds so far, running
    study = _study(
        tmp_path / "s",
        [(f"metrics/20260101T000{m}00Z", {"n": s, "prefill": s / 4, "decode": s, "running": r}) for m, s, r in pages],
    )
    [run] = time_split.runs(study.connection)
    assert time_split.mean_concurrency(study.connection, run).value == pytest.approx(10 / 180)


def test_a_run_that_contradicts_itself_has_no_share(tmp_path: Path) -> None:
    study = _study(tmp_path / "s", [("metrics/20260101T000000Z", {"n": 10, "prefill": 2, "decode": 6})])
    page = tmp_path / "s" / "metrics" / "20260101T000000Z.prom"
    decode_count = 'decode_time_seconds_count{engine="0",model_name="m"} '
    page.write_text(page.read_text().replace(f"{decode_count}10", f"{decode_count}9"))
    study = Study(tmp_path / "s")
    [share] = time_split.prefill_shares(study.connection, time_split.runs(study.connection))
    assert share.value is None
    assert share.reason is not None
    assert share.reason.startswith("not publishable: ")
    assert time_tables.sentence([share]).startswith("Whether prefill or decode takes the time cannot be said")


def test_few_requests_are_a_census_with_the_plainest_reason() -> None:
    study = Study("vllm-cpu")
    runs = [run for run in time_split.runs(study.connection) if run.name == "A3"]
    [share] = time_split.prefill_shares(study.connection, runs)
    assert share.reason == "fewer than 8 requests"
    assert (share.n, share.n_of) == (2, "requests")
    assert share.value == pytest.approx(0.2056528690 / (0.2056528690 + 2.6169655910), rel=1e-9)


def test_the_seconds_of_a_restart_are_in_the_clock(tmp_path: Path) -> None:
    pages = [
        ("20260101T000000Z", {"n": 0, "prefill": 0, "decode": 0, "running": 1, "start": 1.0}),
        ("20260101T000140Z", {"n": 10, "prefill": 10, "decode": 90, "running": 1, "start": 1.0}),
        ("20260101T000320Z", {"n": 10, "prefill": 10, "decode": 90, "running": 1, "start": 1767225730.0}),
    ]
    study = _study(tmp_path / "s", [(f"metrics/{name}", numbers) for name, numbers in pages])
    [run] = time_split.runs(study.connection)
    assert [e.value for e in time_split.phase_seconds(run)] == [None, 20, 180]
    concurrency = time_split.mean_concurrency(study.connection, run)
    assert concurrency.value == pytest.approx(200 / 200)
    assert (concurrency.kind, concurrency.low, concurrency.high) == ("bound", concurrency.value, float("inf"))
    assert float(time_split.scrape_windows(study.connection, run).whole.sum()) == 200


def test_a_long_run_is_drawn_with_a_bounded_number_of_points(tmp_path: Path) -> None:
    scrapes(tmp_path / "s", 2, 451)
    study = Study(tmp_path / "s")
    runs = time_split.runs(study.connection)
    shares = time_split.prefill_shares(study.connection, runs)
    table = time_tables.window_table(study.connection, runs, shares)
    assert table.group_by("group").len()["len"].to_list() == [150, 150]  # 450 intervals, three together
    assert set(table["intervals"]) == {3}
    assert table["requests"].sum() == pytest.approx(sum(run.total("prefill_time", "count") or 0 for run in runs))
    said = "Each point is up to 3 scrape intervals that follow each other, together; no request finished where "
    assert time_tables.points(table) == said + "there is none."
    assert time_tables.describe_windows(table, shares)["subtitle"].startswith(
        "a panel a run; prefill share of request-seconds (%) of each point: a scrape interval, or several of a long "
    )
    assert time_tables.points(table.head(0)).startswith("Each point is one scrape interval;")
