"""Engine steps, one line each: a log of them is large, so they are read as columns, many lines at once."""

from itertools import repeat

import polars as pl

from analysis.sources.boot_match import step_shape
from analysis.sources.boot_split import Boot
from analysis.sources.log_lines import unwrap
from analysis.sources.reading import Unparsed, cut

BATCH = 1 << 16
MAX_UNPARSED = 1001
"""One more than is listed: enough to say that there were more."""
_PLACEHOLDERS = {"{N}": r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,6}|[0-9]{1,18})", "{F}": r"[0-9]{1,18}(?:\.[0-9]{1,18})?"}
_ROW = {"key": pl.UInt64, "line": pl.Int64, "text": pl.String}
_COUNTS = ("iteration", "context_requests", "context_tokens", "generation_requests", "generation_tokens")
COLUMNS = ("boot", "line", "iteration", "engine_index", "logged_at_text", *_COUNTS[1:], "elapsed_s")
"""The columns of `engine_steps` without `file`, in the order of the table."""


class Steps:
    """The step lines met so far, parsed in batches; `unparsed` has those that could not be."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, int, str]] = []
        self.boots: dict[int, Boot] = {}
        self.frames: list[pl.DataFrame] = []
        self.unparsed: list[Unparsed] = []

    def add(self, boot: Boot, numbers: list[int], texts: list[str]) -> None:
        """Keep lines of a boot."""
        self.boots[id(boot)] = boot
        self.waiting.extend(zip(repeat(id(boot)), numbers, texts, strict=False))
        if len(self.waiting) >= BATCH:
            self.parse()

    def frame(self, names: dict[int, str]) -> pl.DataFrame | None:
        """All steps, in the order of lines, under the names of their boots (by id of the boot); None without any."""
        self.parse()
        if not self.frames:
            return None
        boots = pl.DataFrame(list(names.items()), schema={"key": pl.UInt64, "boot": pl.String}, orient="row")
        steps = pl.concat(self.frames).sort("line").join(boots, on="key", maintain_order="left").select(COLUMNS)
        return steps if steps.height else None

    def parse(self) -> None:
        """Read the lines that wait; a boot goes on as far as the last one that says something."""
        if not self.waiting:
            return
        read = _read(self.waiting)
        self.waiting = []
        if (bad := read.filter(pl.col("elapsed_s").is_null())).height:
            # What is around a line may be inside it as well: colour.
            inner = _read([(*row, text) for *row, whole in bad.select(*_ROW).iter_rows() for text in _inner(whole)])
            what = f"boot line: {step_shape().id}"
            for number, text in inner.filter(pl.col("elapsed_s").is_null()).select("line", "text").iter_rows():
                if len(self.unparsed) == MAX_UNPARSED:
                    break
                self.unparsed.append(Unparsed(number, what, cut(text)))
            read = pl.concat((read, inner))
        told = read.filter(pl.col("elapsed_s").is_not_null()).drop("text")
        self.frames.append(told)
        about = told.group_by("key").agg(pl.col("line").max(), pl.col("engine_index", "process").drop_nulls().unique())
        for key, line, engines, processes in about.iter_rows():
            boot = self.boots[key]
            boot.last_line = max(boot.last_line, line)
            boot.stepped.update(engines)
            boot.speakers.update(processes)


def _read(lines: list[tuple[int, int, str]]) -> pl.DataFrame:
    """The lines with what each states; a line that does not parse has no time."""
    parts = pl.col("text").str.extract_groups(_pattern()).struct
    return pl.DataFrame(lines, schema=_ROW, orient="row").with_columns(
        *(parts.field(name).str.replace_all(",", "").cast(pl.Int64, strict=False).alias(name) for name in _COUNTS),
        elapsed_s=parts.field("elapsed_ms").cast(pl.Float64, strict=False) / 1000,
        engine_index=pl.col("text").str.extract(r"\bEngine ([0-9]{3}): ").cast(pl.Int32, strict=False),
        process=pl.col("text").str.extract(r"\(([A-Za-z][A-Za-z0-9_:-]{0,80})(?: rank=[0-9]{1,6})? pid="),
        logged_at_text=pl.col("text").str.extract(r"\b([0-9]{2}-[0-9]{2} [0-9:.]{8,18})"),
    )


def _inner(line: str) -> list[str]:
    """What of a line is about a step, without wrappers."""
    return [piece.text for piece in unwrap(line) if step_shape().keys[0] in piece.text]


def _pattern() -> str:
    shape = step_shape()
    rest = shape.rest_text
    for placeholder, pattern in _PLACEHOLDERS.items():
        rest = rest.replace(placeholder, pattern)
    return shape.keys[0].replace("(", r"\(") + rest
