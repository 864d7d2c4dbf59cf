"""Small studies of boots in the shapes that real engines print, written by the tests and read into a store."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis import paths
from analysis.study import Study

sys.path.insert(0, str(Path(__file__).parent))
from boot_logs import boot_log

WriteStudy = Callable[..., Study]


@pytest.fixture
def write_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteStudy:
    """Writes logs by boot (and a study.toml) into a folder and reads it into a store of its own."""
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")

    def write(logs: dict[str, str], toml: str = "", name: str = "study") -> Study:
        folder = tmp_path / name
        (folder / "boots").mkdir(parents=True)
        for boot, text in logs.items():
            (folder / "boots" / f"{boot}.log").write_text(text, encoding="utf-8")
        if toml:
            (folder / "study.toml").write_text(toml, encoding="utf-8")
        return Study(folder)

    return write


@pytest.fixture
def published(write_study: WriteStudy) -> Study:
    """The published boots: two at 8192 that contradict each other, a third pool, and the refusal at 16384."""
    logs = {
        "a": boot_log(768_000, 8192, "12.08", 1_110_893, day=1),
        "b": boot_log(768_000, 8192, "8.44", 1_085_106, day=2),
        "c": boot_log(768_000, 8192, None, 1_110_255, day=3),
        "d": boot_log(768_000, 16384, "6.9", None, ("9.8", "6.9", 35_072), day=4),
    }
    return write_study(logs, 'transcribed = "two posts"\n')
