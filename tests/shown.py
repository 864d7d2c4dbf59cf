"""What the notebooks show of a study, table by table, without a kernel and without drawing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import polars as pl

import analysis.study
from analysis import paths
from analysis.study import Study


class Watched(Study):
    """A study that keeps the frames of its tables and figures by name, instead of making pages."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.shown: dict[str, pl.DataFrame] = {}

    def table(self, frame: pl.DataFrame, name: str, caption: str) -> Any:
        self.shown[name] = frame

    def figure(self, chart: Any, name: str, table: pl.DataFrame, caption: str) -> Any:
        self.shown[name] = table


def tables(data: Path, monkeypatch: Any) -> Iterator[tuple[str, Study, dict[str, pl.DataFrame]]]:
    """Each notebook's name, its study, and the frames of its tables and of its figures' numbers, by name."""
    monkeypatch.setattr(analysis.study, "Study", Watched)
    for file in sorted(paths.NOTEBOOKS.glob("*.ipynb")):
        names: dict[str, Any] = {"display": lambda shown: None}
        cells = [cell for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "code"]
        for cell in cells:
            source = f"data, out = {str(data)!r}, ''" if "parameters" in cell.metadata.get("tags", []) else cell.source
            exec(compile(source, file.name, "exec"), names)
        yield file.stem, names["study"], names["study"].shown
