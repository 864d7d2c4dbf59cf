"""Which boot a page came from: what study.toml says, then folders, then file names, then the only boot there is."""

import shutil
from pathlib import Path

import duckdb
import pytest

from analysis import paths
from analysis.store.load import load

PAGE = "# TYPE vllm:prompt_tokens counter\nvllm:prompt_tokens_total 1.0\n"


def _load(folder: Path, boots: list[str], pages: dict[str, str], toml: str = "") -> duckdb.DuckDBPyConnection:
    study = folder / "study"
    for boot in boots:
        target = study / "boots" / f"{boot}.log"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(paths.DATA / "vllm-cpu" / "boots" / "A3.log", target)
        target.write_text(target.read_text() + f"\n{boot}\n")  # no byte copies of each other
    for page, text in pages.items():
        (study / page).parent.mkdir(parents=True, exist_ok=True)
        (study / page).write_text(text)
    if toml:
        (study / "study.toml").write_text(toml)
    load(study, folder / "s.duckdb")
    return duckdb.connect(str(folder / "s.duckdb"), read_only=True)


def _boots_of(folder: Path, boots: list[str], pages: list[str], toml: str = "") -> dict[str, str | None]:
    with _load(folder, boots, dict.fromkeys(pages, PAGE), toml) as connection:
        return dict(connection.sql("select file, boot from boot_pages").fetchall())


def test_folders_and_names(tmp_path: Path) -> None:
    pages = ["metrics/b1/a.prom", "metrics/b10/a.prom", "metrics/b1-1.prom", "metrics/b10-1.prom", "metrics/other.prom"]
    assert _boots_of(tmp_path, ["b1", "b10"], pages) == dict(zip(pages, ["b1", "b10", "b1", "b10", None], strict=True))


def test_the_only_boot(tmp_path: Path) -> None:
    assert _boots_of(tmp_path, ["b1"], ["metrics/x.prom"]) == {"metrics/x.prom": "b1"}


@pytest.mark.parametrize("pattern", ["metrics/x*", "metrics/x.prom"])
def test_what_the_study_says_comes_first(tmp_path: Path, pattern: str) -> None:
    toml = f'[[boots]]\nid = "b1"\n\n[[boots]]\nid = "b2"\nfiles = ["{pattern}"]\n'
    pages = ["metrics/x.prom", "metrics/b1/x.prom"]
    assert _boots_of(tmp_path, ["b1", "b2"], pages, toml) == {"metrics/x.prom": "b2", "metrics/b1/x.prom": "b1"}


STARTED = "process_start_time_seconds "
DECLARED = """[[boots]]
id = "b1"
files = ["metrics/x*"]

[[boots]]
id = "b10"
files = ["metrics/y*"]
"""


@pytest.mark.parametrize(
    ("names", "toml", "start", "want"),
    [
        (["b1-1", "b1-2", "b1-3", "b10-4", "b10-5", "b10-6"], "", "", {"b1": 50, "b10": 70}),
        (["b1-1", "b1-3", "b1-5", "b10-2", "b10-4", "b10-6"], "", "", {"b1": 50, "b10": 70}),
        (["x1", "x2", "x3", "y1", "y2", "y3"], DECLARED, "", {"b1": 50, "b10": 70}),
        # A process that says when it began is known to have counted from zero since.
        (
            ["b1-1", "b1-2", "b1-3", "b10-4", "b10-5", "b10-6"],
            "",
            "process_start_time_seconds ",
            {"b1": 50, "b10": 120},
        ),
    ],
    ids=["one after the other", "interleaved", "declared", "with process starts"],
)
def test_two_boots_in_one_folder_are_not_differenced(
    tmp_path: Path, names: list[str], toml: str, start: str, want: dict[str, int]
) -> None:
    begun = [f"{start}{at}\n" if start else "" for at in (1000, 2000) for _ in range(3)]
    pages = {
        f"metrics/{name}.prom": f"{begin}vllm:prompt_tokens_total {value}\n"
        for name, begin, value in zip(names, begun, [10, 40, 60, 50, 80, 120], strict=True)
    }
    with _load(tmp_path, ["b1", "b10"], pages, toml) as connection:
        assert dict(connection.sql("select run, total::bigint from run_totals").fetchall()) == want
        restarts = connection.sql("select sum(resets) from page_order").fetchall()[0][0]
        assert restarts == (1 if start else 0)
