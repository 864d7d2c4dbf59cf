"""What study.toml declares, held against the logs."""

from pathlib import Path

import duckdb

from analysis import paths
from analysis.findings.inventory import contradictions
from analysis.store.load import load

LOG = """\
INFO 11-29 13:04:18 [api_server.py:1839] vLLM API server version {version}
INFO 11-29 13:04:18 [utils.py:233] non-default args: {{'model': 'm', 'max_model_len': 8192}}
INFO 11-29 13:04:18 [scheduler.py:205] Chunked prefill is enabled with max_num_batched_tokens=2048.
INFO 11-29 13:04:19 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='m', max_seq_len=8192
INFO:     Application startup complete.
"""
DECLARED = """\
title = "t"
name = "n"




[[boots]]
id = "a1"
arm = "A"
max_model_len = 99999
max_num_batched_tokens = 2048
[[boots]]
id = "ghost"
arm = "Z"
[[boots]]
id = "a1"
arm = "B"
[[boots]]
id = "a2"
arm = "A"
max_model_len = 8192
"""


def found(folder: Path, database: Path) -> list[tuple[str | None, ...]]:
    load(folder, database)
    with duckdb.connect(str(database), read_only=True) as connection:
        table = contradictions(connection)
    assert table.columns == ["what", "where", "declared", "found"]
    return table.rows()


def test_each_kind_is_listed_once(tmp_path: Path) -> None:
    study = tmp_path / "s"
    (study / "boots").mkdir(parents=True)
    for boot, version in (("a1", "0.11.0"), ("a2", "0.12.0")):
        (study / "boots" / f"{boot}.log").write_text(LOG.format(version=version))
    (study / "study.toml").write_text(DECLARED)
    assert found(study, tmp_path / "s.duckdb") == [
        ("a boot is declared in several arms", "a1 (study.toml:7, study.toml:15)", "A, B", "taken: A"),
        ("a declared boot has no log", "ghost (study.toml:12)", "Z", None),
        ("a log names several versions of its engine", "a2 (boots/a2.log:1, 4)", None, "0.11.0, 0.12.0"),
        ("max_model_len differs from the log's", "a1 (study.toml:10)", "99999", "8192"),
    ]


def test_the_recorded_study_contradicts_itself_nowhere(tmp_path: Path) -> None:
    assert found(paths.ROOT / "data" / "vllm-cpu", tmp_path / "s.duckdb") == []
