"""A study in which everything was recorded: pages, logs that print every step, and a request trace, for each replica.

The recorded boot whose log has its steps is told again and again, moved on in time each round.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from analysis import paths
from benchmarks import generate

RECORDED = paths.DATA / "vllm-cpu-iterations"
BEGAN = datetime(2026, 11, 29, 13, 54, 31, tzinfo=UTC)
"""The recorded boot."""
ROUND = timedelta(seconds=271)
"""From its first step to beyond its last."""
_TIME = re.compile(r"11-29 \d\d:\d\d:\d\d")
_PROCESS = re.compile(r"\bpid=(\d+)")
_STEP = re.compile(r"Iteration\((\d+)\)")


def study(folder: Path, replicas: int, span: timedelta, scrapes: int) -> dict[str, int]:
    """Write it; how many samples, steps and requests are in it."""
    rounds = max(1, int(span / ROUND))
    made = {"samples": generate.scrapes(folder, replicas, scrapes), "steps": 0, "requests": 0}
    for replica in range(replicas):
        name = f"replica-{replica}"
        log, trace = folder / "boots" / f"{name}.log", folder / "requests" / name / "trace.jsonl"
        for file in (log, trace):
            file.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as file:
            made["steps"] += sum(file.write(line) > 0 and "Iteration(" in line for line in _log(rounds, replica))
        with trace.open("w") as file:
            made["requests"] += sum(file.write(json.dumps(row) + "\n") > 0 for row in _trace(rounds, name))
    return made


def _log(rounds: int, replica: int) -> Iterator[str]:
    text = (RECORDED / "boots" / "T512.log").read_text()
    # Processes of their own: logs that are alike to the letter are copies of one boot.
    lines = _PROCESS.sub(lambda pid: f"pid={int(pid[1]) + 1000 * replica}", text).splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if "Iteration(0)" in line)
    working = [line for line in lines[first:] if "Iteration(" in line or "200 OK" in line or "Avg prompt" in line]
    steps = sum("Iteration(" in line for line in working)
    yield from (_moved(line, 0, 0) for line in lines[:first])
    for number in range(rounds):
        yield from (_moved(line, number, number * steps) for line in working)


def _moved(line: str, number: int, steps: int) -> str:
    def later(found: re.Match[str]) -> str:
        then = datetime.strptime(f"2026-{found[0]}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        return f"{then + _shift(number):%m-%d %H:%M:%S}"

    return _STEP.sub(lambda found: f"Iteration({int(found[1]) + steps})", _TIME.sub(later, line, count=1))


def _shift(number: int) -> timedelta:
    return generate.BEGIN - BEGAN + number * ROUND


def _trace(rounds: int, name: str) -> Iterator[dict[str, Any]]:
    records = [json.loads(line) for line in (RECORDED / "requests" / "T512" / "trace.jsonl").read_text().splitlines()]
    for number in range(rounds):
        moved = _shift(number).total_seconds()
        for record in records:
            ids = {key: f"{name}-{number}-{record[key]}" for key in ("request_id", "server_id")}
            times = {key: _later(value, moved) for key, value in record.items() if key.endswith("_at")}
            yield {**record, **ids, **times, "run_id": name}


def _later(at: Any, moved: float) -> Any:
    if isinstance(at, list):
        return [_later(each, moved) for each in at]
    return at if at is None else round(at + moved, 6)
