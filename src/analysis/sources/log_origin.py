"""Which process of an engine wrote a log line, and when: what stands before the message."""

import re
from dataclasses import dataclass

_PROCESS = re.compile(
    r"\((?P<name>[A-Za-z][\w\-:]{0,80})(?: rank=(?P<rank>\d{1,6}))? pid=(?P<pid>\d{1,10})(?:, ip=[^)\s]{1,60})?\)",
    re.ASCII,
)
_BRACKET = re.compile(r"\[(?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?P<ranks>(?: [A-Z]{2,4}\d{1,6}){0,6})\]", re.A)
_STAMP = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<stamp>\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?) ", re.A)
_RELATIVE = re.compile(r"(?P<stamp>\d{1,6}\.\d\d\.\d{3}\.\d{3}) [A-Z] ", re.A)
_LEVEL = re.compile(r"(?:^|[ )])(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)\b:? ")
_RANK = {axis: re.compile(rf"(?<![A-Z]){axis}(\d{{1,6}})", re.A) for axis in ("DP", "PP", "TP")}
_ENGINE_NUMBER = re.compile(r"EngineCore_(\d{1,6})\b", re.A)
_WORKER_NUMBER = re.compile(r"VllmWorker-(\d{1,6})\b", re.A)
_ENGINE_LABEL = re.compile(r"\bEngine (\d{3}): ", re.A)
_UNNUMBERED = frozenset(("VllmWorkerProcess", "RayWorkerWrapper", "RayWorkerVllm"))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a line came from.

    `engine` is the data-parallel index, `pipeline` and `tensor` the ranks inside one engine, each None where not said.
    `worker` tells workers apart that print a process id and no rank. `stamp` is the time as printed.
    """

    process: str = ""
    engine: int | None = None
    pipeline: int | None = None
    tensor: int | None = None
    worker: str = ""
    stamp: str | None = None
    is_log: bool = False

    @property
    def place(self) -> tuple[int, int, int, str]:
        """Sorts lines in rank order: data-parallel engine, pipeline stage, tensor rank, unnumbered worker."""
        return (self.engine or 0, self.pipeline or 0, self.tensor or 0, self.worker)


def origin(before: str) -> Origin:
    """Read the origin from the text `before` the known part of a line."""
    before = before[-600:]
    process, pid, numbered = "", "", None
    ranks = ""
    for match in _PROCESS.finditer(before):
        process, pid, numbered = match["name"], match["pid"], match["rank"] or numbered
        ranks += f" {process}"
    stamp = None
    for pattern in (_STAMP, _BRACKET, _RELATIVE):
        for match in pattern.finditer(before):
            stamp = match["stamp"]
            ranks += match["ranks"] if pattern is _BRACKET else ""
    found = {axis: _last(pattern, ranks) for axis, pattern in _RANK.items()}
    tensor = found["TP"] if found["TP"] is not None else _last(_WORKER_NUMBER, ranks)
    engine = found["DP"] if found["DP"] is not None else _last(_ENGINE_NUMBER, ranks)
    return Origin(
        process=process,
        engine=engine if engine is not None else _last(_ENGINE_LABEL, before),
        pipeline=found["PP"],
        tensor=int(numbered) if tensor is None and numbered is not None else tensor,
        worker=pid if process in _UNNUMBERED else "",
        stamp=stamp,
        is_log=bool(process or stamp or _LEVEL.search(before)),
    )


def _last(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.findall(text)
    return int(found[-1]) if found else None


def seconds_between(first: str | None, last: str | None) -> float | None:
    """Seconds from one printed time to a later one of the same form; None when they do not compare.

    Times without a year may cross New Year once; a negative difference otherwise means clocks that do not compare.
    """
    a, b = _seconds(first), _seconds(last)
    if a is None or b is None or a[0] != b[0]:
        return None
    difference = b[1] - a[1]
    if difference < 0 and a[0] == "month" and difference < -300 * 86400:
        difference += 366 * 86400
    return difference if difference >= 0 else None


def _seconds(stamp: str | None) -> tuple[str, float] | None:
    """Kind of a time and its seconds: of the year, since 0000, or since the process started."""
    if stamp and stamp[2:3] == "-":  # a second may have a fraction
        month, day, hour, minute, second = (float(part) for part in re.split(r"[- :]", stamp))
        return "month", _day_of_year(int(month), day) * 86400 + hour * 3600 + minute * 60 + second
    numbers = [float(part) for part in re.split(r"[- :.]", stamp or "") if part]
    if len(numbers) == 6:
        year, month, day, hour, minute, second = numbers
        days = year * 366 + _day_of_year(int(month), day)
        return "year", days * 86400 + hour * 3600 + minute * 60 + second
    if len(numbers) == 4:
        return "relative", numbers[0] * 60 + numbers[1] + numbers[2] / 1e3 + numbers[3] / 1e6
    return None


def _day_of_year(month: int, day: float) -> float:
    return sum((31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[: month - 1]) + day
