"""The words of metric pages: every name and every set of labels is parsed once, then known by its number."""

import json
import re
from dataclasses import dataclass, field
from itertools import count

import numpy as np
import polars as pl

from analysis.sources.prometheus_line import make_series, parse_labels

MAX_WORDS, MAX_CHARS = 1 << 20, 1 << 28
"""Most names and texts of labels that are remembered, and most characters of them: then pages are read without."""
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*+[ \t]*+")
_VALUE = "=\x00"
"""Stands for a value in the shape of labels."""
_KEYS = re.compile(rf"(?:[a-zA-Z_][a-zA-Z0-9_]*+{_VALUE},)*+[a-zA-Z_][a-zA-Z0-9_]*+{_VALUE}\}}")
_PLACES = frozenset(("__name__", "instance", "pod"))
PROCESS_START, CREATED = 1, 2
SHIFT = 32
LABELS = (1 << SHIFT) - 1


def role_of(name: str) -> int:
    """What a sample's name says of the process: PROCESS_START, CREATED, or 0."""
    if name == "process_start_time_seconds":
        return PROCESS_START
    return CREATED if name.endswith("_created") else 0


@dataclass(slots=True)
class Words:
    """Numbers for the series of a study, and for the raw names and labels that stand for them on its pages.

    A series is a pair of a canonical name and canonical labels, however a page wrote them.
    """

    names: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    known: dict[int, int] = field(default_factory=dict)
    """Numbers of series by the number of the name, shifted, and that of the labels; see `series`."""
    waiting: np.ndarray | None = None
    """The keys of the first page's series: a page alone needs no index of them."""
    instances: list[str] = field(default_factory=list)
    """By number of the labels: the scrape instance that they name, or an empty text."""
    roles: list[int] = field(default_factory=list)
    """By number of the name."""
    raw_names: dict[str, int | None] = field(default_factory=dict)
    raw_labels: dict[str, int | None] = field(default_factory=lambda: {"": 0})
    chars: int = 0
    is_placed: bool = False
    """Whether any labels name an instance."""

    def __post_init__(self) -> None:
        self.labels["{}"] = 0
        self.instances.append("")

    def number(self, name: str, labels: str, instance: str = "") -> int:
        """The number of a series given by its canonical name and labels."""
        known = self.series
        return known.setdefault(self._name(name) << SHIFT | self._labels(labels, instance), len(known))

    @property
    def series(self) -> dict[int, int]:
        """Numbers of series by their keys."""
        if self.waiting is not None:
            self.known.update(zip(self.waiting.tolist(), count()))
            self.waiting = None
        return self.known

    def numbers(self, keys: np.ndarray) -> np.ndarray:
        """The numbers of different series given by their keys (name's number, shifted, and labels' number)."""
        if self.waiting is None and not self.known:
            self.waiting = keys
            return np.arange(len(keys), dtype="i4")
        wanted, known = keys.tolist(), self.series
        known.update(zip([key for key in wanted if key not in known], count(len(known))))
        return np.array(list(map(known.__getitem__, wanted)), "i4")

    def instances_of(self, keys: np.ndarray) -> set[str]:
        """The scrape instances that the labels of these series name; an empty text for none."""
        if not self.is_placed:
            return {""}
        return {self.instances[number] for number in pl.Series(keys & LABELS).unique().to_list()}

    def table(self) -> pl.DataFrame:
        """All series so far: series, name, labels."""
        keys = np.array(list(self.series), "i8")
        names, labels = pl.Series(list(self.names), dtype=pl.String), pl.Series(list(self.labels), dtype=pl.String)
        return pl.DataFrame(
            {"series": np.arange(len(keys), dtype="i4"), "name": names.gather(keys >> SHIFT),
             "labels": labels.gather(keys & LABELS)}
        )  # fmt: skip

    def name_numbers(self, raw: pl.Series) -> list[int | None]:
        """The numbers of the names that a page writes so; None for what only careful reading may judge."""
        words = raw.to_list()
        new = [word for word in words if word not in self.raw_names]
        for word in new:
            plain = _NAME.fullmatch(word)
            self.raw_names[word] = self._name(make_series(word.strip(), {}).name) if plain else None
        self.chars += sum(map(len, new))
        return list(map(self.raw_names.get, words))

    def label_numbers(self, raw: pl.Series) -> list[int | None]:
        """The numbers of the labels that a page writes so, without the opening brace; None as in `name_numbers`."""
        words = raw.to_list()
        found = list(map(self.raw_labels.get, words))
        if None in found:
            new = raw.filter(pl.Series(found, dtype=pl.Int64).is_null())
            self._learn(new, _plain(new))
            found = list(map(self.raw_labels.get, words))
        return found

    @property
    def is_full(self) -> bool:
        """Whether no more words may be remembered."""
        return self.chars > MAX_CHARS or len(self.raw_labels) + len(self.raw_names) > MAX_WORDS

    def _learn(self, raw: pl.Series, is_plain: pl.Series) -> None:
        """Remember the numbers of labels: plain ones all at once, others with the parser."""
        plain, known = raw.filter(is_plain), self.labels
        self.raw_labels.update(
            zip(plain.to_list(), [known.setdefault(text, len(known)) for text in _canonical(plain)], strict=True)
        )
        self.instances += [""] * (len(known) - len(self.instances))
        self.chars += 2 * int(raw.str.len_bytes().sum())
        for word in raw.filter(~is_plain).to_list():
            labels = parse_labels("{" + word)
            if labels is None or "__name__" in labels:
                self.raw_labels[word] = None
            else:
                series = make_series("x", labels)
                self.raw_labels[word] = self._labels(series.labels, series.instance)

    def _name(self, name: str) -> int:
        number = self.names.setdefault(name, len(self.names))
        if number == len(self.roles):
            self.roles.append(role_of(name))
        return number

    def _labels(self, labels: str, instance: str) -> int:
        number = self.labels.setdefault(labels, len(self.labels))
        if number == len(self.instances):
            self.instances.append(instance or instance_of(labels))
            self.is_placed |= bool(self.instances[-1])
        return number


def _plain(raw: pl.Series) -> pl.Series:
    """Which texts of labels need no parser: plain values under plain keys in canonical order."""
    shapes = raw.str.replace_all('="[^"\\\\=,\\x00-\\x1f]*"', _VALUE)
    plain = [shape for shape in shapes.unique().to_list() if _is_plain(shape)]
    return shapes.is_in(plain) & ~raw.str.contains("\x00", literal=True)


def _canonical(plain: pl.Series) -> list[str]:
    """Plain labels as canonical JSON."""
    inside = plain.str.head(-1).str.replace_all('="', '":"', literal=True).str.replace_all('",', '","', literal=True)
    return ('{"' + inside + "}").to_list()


def _is_plain(shape: str) -> bool:
    """Whether a text of labels without their values is keys in canonical order, none of which means something here."""
    if not _KEYS.fullmatch(shape):
        return False
    keys = shape.removesuffix(_VALUE + "}").split(_VALUE + ",")
    return keys == sorted(set(keys)) and not _PLACES.intersection(keys)


def instance_of(labels: str) -> str:
    """The scrape instance that canonical labels name."""
    if '"instance":' not in labels and '"pod":' not in labels:
        return ""
    return make_series("x", json.loads(labels)).instance
