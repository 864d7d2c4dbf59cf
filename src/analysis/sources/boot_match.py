"""One log text against the tables of `engines`: what it states, and what it seems to state but cannot be read as."""

from dataclasses import dataclass
from functools import cache

from analysis.engines.boot_lines import BootLine, load
from analysis.sources.log_origin import Origin, origin
from analysis.sources.log_settings import settings
from analysis.sources.reading import cut

_BARE_WORDS = frozenset(("GPU", "CPU", "XPU", "TPU", "HPU", "NPU", "vllm", "srv", "slot", "main"))


@dataclass(frozen=True, slots=True)
class Fact:
    """One named value of one line. `value` is the number in `unit`, None when it is text."""

    name: str
    text: str | None
    value: float | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A line of a known shape: which, where, from whom, and its facts. `before` is the text in front."""

    shape: BootLine
    number: int
    origin: Origin
    facts: tuple[Fact, ...]
    text: str
    before: str

    @property
    def quote(self) -> str:
        """The line as evidence, cut."""
        return cut(self.text)

    @property
    def bare(self) -> bool:
        """Whether nothing but words like `ValueError:` and device names stands before the known text."""
        words = self.before.split() if len(self.before) <= 80 else ["", "long"]
        return all(word.endswith((":", "]")) or word in _BARE_WORDS for word in words)


def match(number: int, text: str, complete: bool = True) -> tuple[list[Match], str | None]:
    """The shapes that `text` has, and the id of a shape whose key it has without going on as that shape does.

    A line that is not complete and ends inside a number has no readable number there.
    """
    found: list[Match] = []
    missed: dict[str, str] = {}
    for shape in _candidates(text):
        hit = _hit(shape, number, text, complete)
        if hit:
            found.append(hit)
        elif not shape.optional:
            missed[_key_in(shape, text)] = shape.id
    read = {_key_in(hit.shape, text) for hit in found}
    unread = next((name for key, name in missed.items() if key not in read), None)
    return found, unread


@cache
def literals() -> tuple[str, ...]:
    """Text of which one is in every line that has a known shape."""
    return tuple(sorted({literal for line in load().lines for literal in line.literals}))


@cache
def repeated() -> tuple[str, ...]:
    """Literals of lines that a working engine prints endlessly: one is enough, or they make a table."""
    return tuple(literal for line in load().lines if line.once or line.purpose == "step" for literal in line.literals)


@cache
def step_shape() -> BootLine:
    """The shape of a line that tells one engine step."""
    (shape,) = (line for line in load().lines if line.purpose == "step")
    return shape


def _candidates(text: str) -> list[BootLine]:
    """Shapes of which a key is in the text, in the order of the tables."""
    places = {place for literal, of in _places().items() if literal in text for place in of}
    lines = (load().lines[place] for place in sorted(places))
    return [line for line in lines if line.needs is None or any(key in text for key in line.keys)]


@cache
def _places() -> dict[str, list[int]]:
    """For each literal where in the tables the shapes are that have it."""
    return {
        literal: [place for place, line in enumerate(load().lines) if literal in line.literals]
        for literal in literals()
    }


def _key_in(shape: BootLine, text: str) -> str:
    return next(key for key in shape.keys if key in text)


def _hit(shape: BootLine, number: int, text: str, complete: bool) -> Match | None:
    key = _key_in(shape, text)
    # The first and the last place of the key: a record may quote itself, and lines get glued to one another.
    for start in dict.fromkeys((text.find(key), text.rfind(key))):
        end = start + len(key)
        rest = shape.rest.match(text, end)
        if rest is None or (not complete and rest.end() == len(text) and rest.end() > end and rest.lastgroup):
            continue
        facts = tuple(_facts(shape, rest.groupdict(), text[rest.end() :], complete))
        before = text[:start]
        return Match(shape, number, origin(before), facts, text, before)
    return None


def _facts(shape: BootLine, groups: dict[str, str | None], after: str, complete: bool) -> list[Fact]:
    facts = []
    for name, raw in groups.items():
        if raw is None:
            continue
        unit = shape.units.get(name)
        facts.append(Fact(name, raw, float(raw.replace(",", "")), unit) if unit else Fact(name, raw.strip()))
    if shape.settings:
        facts += [Fact(f"{shape.settings}.{name}", text, value) for name, text, value in settings(after, complete)]
    return facts
