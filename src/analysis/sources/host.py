"""Host counters: JSON Lines, one sample of the machine a line, `t` in unix seconds.

Numbers are kept under their own names; those inside lists (processes, GPUs) as `procs/<name>/<pid>/rss`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from analysis.sources.files import SourceFile
from analysis.sources.json_text import MAX_DEPTH, Fields, clean, keep_unparsed, objects
from analysis.sources.reading import Reading

FORMAT = "host-counters"
_TIME = re.compile(r'\s*\{[^\n]{0,400}?"t"\s*:\s*[\d.]')
_COUNTER = re.compile(
    r'"(?:mem_total|mem_available|mem_used|swap_used|cpu_pct|load1|engine_rss|gpu_\w+|power_w|gpus|procs)"\s*:'
)
UNITS = (
    (re.compile(r"(^|_)(pct|percent)$"), "%"),
    (re.compile(r"(^|/)(mem|swap)_|(^|_|/)(rss|vms|bytes)$"), "bytes"),
    (re.compile(r"_(kib|kb)$"), "KiB"),
    (re.compile(r"_(mib|mb)$"), "MiB"),
    (re.compile(r"_(gib|gb)$"), "GiB"),
    (re.compile(r"_(s|seconds)$"), "s"),
    (re.compile(r"_(w|watts)$"), "W"),
    (re.compile(r"_(j|joules)$"), "J"),
    (re.compile(r"_(c|celsius)$"), "Cel"),
    (re.compile(r"_mhz$"), "MHz"),
)
NAMES = ("name", "pid", "index", "uuid", "id", "device")
MAX_COUNTERS = 2000
"""Most numbers taken of one line."""


def recognise(head: str, name: str) -> bool:
    """Whether the first line is an object with `t` and a counter of a machine."""
    first = head.removeprefix("\ufeff").lstrip().partition("\n")[0]
    return bool(_TIME.match(first) and _COUNTER.search(first))


def read(file: SourceFile) -> Reading:
    """One row per number and line."""
    reading = Reading("host", FORMAT)
    for line, values in objects(file, reading):
        fields = Fields(values, "host sample", line, reading)
        at, run = fields.number("t"), fields.text("run_id")
        if at is None:
            keep_unparsed(reading, line, "host sample without t", values)
            continue
        for count, (counter, value) in enumerate(_numbers(values)):
            if counter == "t":
                continue
            if count > MAX_COUNTERS:
                reading.message = f"{file.path}: more than {MAX_COUNTERS} numbers a line; the rest was left"
                break
            reading.add("host_counters", line=line, run=run, at_s=at, counter=counter, value=value, unit=unit(counter))
    return reading


@lru_cache(maxsize=4096)
def unit(counter: str) -> str | None:
    """The unit that a counter's name states: cpu_pct is %, mem_total and rss are bytes by this format's definition."""
    return next((u for pattern, u in UNITS if pattern.search(counter)), None)


def _numbers(value: dict[str, Any], path: str = "") -> Iterator[tuple[str, float]]:
    if path.count("/") > MAX_DEPTH:
        return
    for key, inner in value.items():
        name = clean(f"{path}{key}")
        if isinstance(inner, dict):
            yield from _numbers(inner, f"{name}/")
        elif isinstance(inner, list):
            for index, entry in enumerate(inner):
                if isinstance(entry, dict):
                    named = {k: v for k, v in entry.items() if k in NAMES and not isinstance(v, dict | list)}
                    label = "/".join(str(named[k]) for k in NAMES if k in named) or str(index)
                    yield from _numbers({k: v for k, v in entry.items() if k not in named}, f"{name}/{label}/")
        elif (
            isinstance(inner, int | float) and not isinstance(inner, bool) and abs(inner) < 1e300
        ):  # not NaN, not infinite
            yield name, float(inner)
