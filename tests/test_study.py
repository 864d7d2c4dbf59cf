"""The analyst's handle: it reads in what changed, asks by what data exist, and records strict JSON."""

import json
from pathlib import Path

import polars as pl
import pytest

from analysis import paths
from analysis.estimates import cells
from analysis.estimates.estimate import Estimate, not_computable
from analysis.findings.ask import UnknownMeasureError
from analysis.study import Study
from tests.conftest import copy_boots


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    return copy_boots(tmp_path / "study", ["A3"])


def test_an_added_file_is_read_and_an_open_store_stays_as_it_was(folder: Path) -> None:
    first = Study(folder)
    copy_boots(folder, ["R1"])
    second = Study(folder)
    count = "select outcome, count(*)::bigint as n from boots group by outcome order by outcome"
    assert first.sql(count).rows() == [("served", 1)]
    assert second.sql(count).rows() == [("refused", 1), ("served", 1)]


def test_an_unchanged_study_is_not_read_again(folder: Path) -> None:
    before = Study(folder).store.database.stat().st_mtime_ns
    assert Study(folder).store.database.stat().st_mtime_ns == before
    assert len(list((paths.STORES).rglob("*.duckdb"))) == 1


def test_a_damaged_store_is_made_anew(folder: Path) -> None:
    study = Study(folder)
    study.connection.close()
    study.store.database.write_bytes(b"not a database")
    assert Study(folder).sql("select count(*)::bigint as n from boots").item() == 1


def test_two_folders_of_one_name_have_two_stores(folder: Path, tmp_path: Path) -> None:
    other = copy_boots(tmp_path / "elsewhere" / "study", ["R1"])
    assert Study(folder).sql("select boot from boots").item() == "A3"
    assert Study(other).sql("select boot from boots").item() == "R1"


def test_parameters_are_bound(folder: Path) -> None:
    rows = Study(folder).sql("select boot from boots where boot = $boot", boot="A3' or true --")
    assert rows.height == 0


def test_what_is_recorded_is_strict_json_by_page(folder: Path, tmp_path: Path) -> None:
    study = Study(folder, tmp_path / "out")
    endless = Estimate(2.0, "x", "estimate", "m", low=1.0, high=float("inf")).named("time.lever_ceiling", "20-page")
    study.record(endless, endless)
    study.answer("20-page", "a sentence", endless)
    found = json.loads((tmp_path / "out" / "results" / "20-page.json").read_text(), parse_constant=pytest.fail)
    assert [(e["high"], e["warnings"]) for e in found["estimates"]] == [(None, ["no upper limit"])]
    assert found["takeaways"][0]["sentence"] == "a sentence"


def test_what_follows_nothing_leaves_no_files_and_no_figures(folder: Path, tmp_path: Path) -> None:
    study = Study(folder, tmp_path / "out")
    rows = cells.frame([(not_computable("1", "no").named("time.wall_state", "85-fleet"),)], {"share": pl.String})
    assert "no fleet" in study.nothing("85-fleet", "There is no fleet.", "Record one.").html
    assert "not computable" in study.table(rows, "shares", "x").html
    assert [path.name for path in (tmp_path / "out").rglob("*") if path.is_file()] == ["85-fleet.json"]
    recorded = json.loads((tmp_path / "out/results/85-fleet.json").read_text())
    assert recorded["estimates"] == []
    [takeaway] = recorded["takeaways"]
    assert (takeaway["sentence"], takeaway["next_step"], takeaway["supporting"]) == (
        "There is no fleet.", "Record one.", True,
    )  # fmt: skip


def test_a_figure_without_an_id_is_not_recorded(folder: Path) -> None:
    with pytest.raises(ValueError, match="id"):
        Study(folder).record(not_computable("1", "nothing"))


def test_asking_picks_a_method_and_says_which() -> None:
    study = Study("vllm-cpu")
    scrapes = study.ratio("prefill_time", "decode_time", run="A2")
    assert scrapes.picked.startswith("scrapes")
    assert scrapes.value == pytest.approx(124.80288395600246 / (124.80288395600246 + 1605.7471595460052))
    values = study.quantile("ttft", 0.5, run="A2")
    buckets = study.quantile("queue_time", 0.5, run="A2")
    assert (values.picked.split(":")[0], buckets.picked.split(":")[0]) == ("values", "buckets")
    assert values.value is not None
    assert (buckets.value, buckets.low, buckets.high) == (None, 0.0, 0.3)
    pools = study.compare("A", "B", "pool")
    assert (pools.verdict, pools.n) == ("different", 3)
    assert study.compare("A", "D", "available").verdict == "equivalent"
    assert study.compare("A", "B", "prefill_share").verdict == "no_replicates"
    assert study.compare("A", "B", "ttft_p50", "chat").qualifiers["class"] == "chat"
    assert study.compare("A", "F", "prefill_share").reason == (
        "not computable: no boot of both arms has prefill share of request-seconds"  # F carried no load
    )


@pytest.mark.parametrize("ask", [lambda s: s.quantile("speed", 0.5, run="A2"), lambda s: s.ratio("a", "b", run="Z9"),
                                 lambda s: s.compare("A", "B", "speed"), lambda s: s.compare("A", "Z", "pool"),
                                 lambda s: s.compare("A", "B", "ttft_p50")])  # fmt: skip
def test_asking_for_what_is_not_there_lists_what_is(ask) -> None:  # noqa: ANN001
    with pytest.raises(UnknownMeasureError, match="there are"):
        ask(Study("vllm-cpu"))
