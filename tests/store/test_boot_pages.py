"""Which boot a page came from: what study.toml says, then folders, then file names, then the only boot there is."""

import shutil
from pathlib import Path

import duckdb
import pytest

from analysis import paths
from analysis.store.load import load

PAGE = "# TYPE vllm:prompt_tokens counter\nvllm:prompt_tokens_total 1.0\n"


def _boots_of(folder: Path, boots: list[str], pages: list[str], toml: str = "") -> dict[str, str | None]:
    study = folder / "study"
    for boot in boots:
        target = study / "boots" / f"{boot}.log"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(paths.DATA / "vllm-cpu" / "boots" / "A3.log", target)
        target.write_text(target.read_text() + f"\n{boot}\n")  # no byte copies of each other
    for page in pages:
        (study / page).parent.mkdir(parents=True, exist_ok=True)
        (study / page).write_text(PAGE)
    if toml:
        (study / "study.toml").write_text(toml)
    load(study, folder / "s.duckdb")
    with duckdb.connect(str(folder / "s.duckdb"), read_only=True) as connection:
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
