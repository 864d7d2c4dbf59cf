"""Many figures named in few words: "spread over the boots, the next boot" for "arms F, R; token pool"."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.estimates.estimate import Estimate
from analysis.report.labels import LABELS, place

_WHAT = ""  # the key, beside the qualifiers, under which a figure's own name stands
_Names = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Group:
    """Figures that differ in their name or in qualifiers only: `what` they are, and `where`, "" for the whole study."""

    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.what} ({self.where})" if self.where else self.what


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning, and the figures among its neighbours that it is about; none where it is about all of them."""

    text: str
    about: tuple[Group, ...] = ()


def groups(estimates: Iterable[Estimate]) -> list[Group]:
    """The figures as few groups, each a full product of names and qualifiers, in the order of their first figures."""
    rows: list[_Names] = [
        {_WHAT: (_name(e),), **{k: (str(v),) for k, v in sorted(e.qualifiers.items())}} for e in estimates
    ]
    for key in sorted({key for row in rows for key in row}, reverse=True):  # names last: boots of one figure first
        rows = _merged(rows, key)
    return [Group(", ".join(row[_WHAT]), _where(row)) for row in rows]


def cautions(estimates: Sequence[Estimate]) -> list[Caution]:
    """Each warning of the figures once, in the order found."""
    texts = list(dict.fromkeys(warning for e in estimates for warning in e.warnings))
    found = []
    for text in texts:
        about = [e for e in estimates if text in e.warnings]
        everywhere = len(about) == len(estimates)
        many = "both" if len(about) == 2 else f"all {len(about)}"
        said = f"for {many} numbers here: {text}" if everywhere and len(about) > 1 else text
        found.append(Caution(said, () if everywhere else tuple(groups(about))))
    return found


def _merged(rows: list[_Names], key: str) -> list[_Names]:
    """The rows with those that differ in the key alone made one."""
    found: dict[tuple[tuple[str, tuple[str, ...]], ...], _Names] = {}
    for row in rows:
        rest = tuple((k, v) for k, v in row.items() if k != key)
        if key not in row:
            found.setdefault(rest, dict(row))
            continue
        same = found.setdefault((*rest, (key, ())), dict(row))
        same[key] = tuple(dict.fromkeys((*same[key], *row[key])))
    return list(found.values())


def _where(row: _Names) -> str:
    return "; ".join(place(key, values) for key, values in row.items() if key != _WHAT)


def _name(estimate: Estimate) -> str:
    return LABELS.get(estimate.id) or estimate.id or estimate.method
