"""Measure, print, and write docs/benchmarks.md and its history: make bench, or python -m benchmarks.bench --quick."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import log
from pathlib import Path
from statistics import median
from typing import Any

from analysis import paths
from benchmarks.pairs import ANCHOR, QUICK, Pair, Size, cpu_seconds, pairs, scaled
from benchmarks.profiles import hot_spots
from benchmarks.whole import EMPTY, days, growth, reports

PAGE, HISTORY = paths.ROOT / "docs" / "benchmarks.md", paths.ROOT / "docs" / "benchmarks.jsonl"
REPORT_GOAL = 2.5
"""Most times of as many empty notebooks that the first report may take."""
DAY_GOAL_S = 120
"""Longest for the report of 8 replicas, scraped often enough for 30 million samples."""
DAY_SCRAPES = 8_300
ROUNDS = 3
WORSE = 0.8
"""A ratio below this share of the last one is a regression, unless the spread explains it."""


def measure(pair: Pair, repeats: int) -> dict[str, Any]:
    """Ours and the peer in turn, `repeats` times: median rate, and median and range of the ratio."""
    rates, ratios = [], []
    pair.ours()  # imports, caches of the file system
    for _ in range(repeats):
        ours, peer = cpu_seconds(pair.ours), scaled(pair, cpu_seconds(pair.peer))
        rates.append(pair.amount / ours)
        ratios.append(peer / ours)
    return {
        "what": pair.name, "unit": pair.unit, "peer": pair.peer_name, "amount": round(pair.amount),
        "rate": median(rates), "ratio": median(ratios), "low": min(ratios), "high": max(ratios),
        "goal": pair.goal, "rate_goal": pair.rate_goal,
    }  # fmt: skip


def machine() -> dict[str, Any]:
    """Where and when this was measured."""
    model = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.machine()
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=paths.ROOT)
    return {
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "cpu": model, "cores": os.cpu_count(),
        "memory_gib": round(memory, 1), "load": round(os.getloadavg()[0], 1), "python": platform.python_version(),
        "commit": commit.stdout.strip(),
    }  # fmt: skip


def exponent(rows: Sequence[tuple[int, float, float, float]]) -> float:
    """The power of the sample count that CPU seconds grow with, least squares on logarithms; 1 is linear."""
    points = [(log(count), log(seconds)) for count, _, seconds, _ in rows]
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def regressions(now: dict[str, Any], before: dict[str, Any] | None) -> list[str]:
    """The ratios that fell since the last time, beyond their spread."""
    last = {(row["what"], row["peer"]): row for row in (before or {}).get("pairs", [])}
    return [
        f"{row['what']} beside {row['peer']}: {row['ratio']:.2g} times, was {last[key]['ratio']:.2g}"
        for row in now["pairs"]
        if (key := (row["what"], row["peer"])) in last
        and row["ratio"] < WORSE * last[key]["ratio"]
        and row["high"] < last[key]["low"]
    ]


def page(result: dict[str, Any]) -> str:
    """The text of docs/benchmarks.md."""
    where, grown, report = (result[part] for part in ("machine", "growth", "report"))
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`; `docs/benchmarks.jsonl` has every run. Each stands beside a peer or a floor that "
        "was measured on the same bytes in the same run: the ratio carries over to other machines, the rate does not.",
        "",
        f"{where['at']}, commit {where['commit']}: {where['cpu']}, {where['cores']} cores, {where['memory_gib']} GiB, "
        f"Python {where['python']}, load {where['load']} when it began.",
        "",
        f"Goals in units a second were set where prometheus_client reads {ANCHOR:,} samples a CPU second; in this run, "
        f"on the large page, it read {_anchor(result['pairs']):,.0f}.",
        "",
        "| what | rate a CPU second | beside | times as fast (median; range) | goal |",
        "|---|---|---|---|---|",
        *(_row(row) for row in result["pairs"]),
        "",
        "## Where the time goes",
        "",
        "The functions of ours in which most CPU time passed, in them or in the library that they call. "
        "`log_blocks._kinds_of` goes once over every byte: it takes the digits out, so that lines are alike which "
        "differ in numbers, and `log_blocks.interesting` searches only distinct ones, "
        "`boot_processes.Processes._asked` tells who printed them; `log_blocks._lines_of` finds the ends of lines; "
        "`json_columns._array` hands columns to Arrow; `json_columns.Objects.of_text`, "
        "`json_columns.Arrays.of_texts`, `requests_guidellm._in_parts` and `requests_trace._plain` are the JSON "
        "library, `prometheus_plain.read` finds the ends of lines and names, `prometheus_words._plain` takes the "
        "values out of labels by a regular expression, `prometheus_layout.Layout._values` finds the ends of lines of "
        "many pages at once, `rows.Rows._insert` hands columns to DuckDB, `files.SourceFile.held` reads and hashes "
        "each file, a floor that stands above.",
        "",
        "| what | shares |",
        "|---|---|",
        *(
            f"| {what} | {', '.join(f'`{name}` {share:.0%}' for name, share in spots)} |"
            for what, spots in result["profiles"].items()
        ),
        "",
        "## Growth",
        "",
        "Pages into a finished store, views included, in a process of its own.",
        "",
        "| samples | MB of pages | CPU seconds | samples a CPU second | peak memory, MB |",
        "|---|---|---|---|---|",
        *(f"| {n:,} | {mb:,.0f} | {s:,.1f} | {n / s:,.0f} | {m:,.0f} |" for n, mb, s, m in grown),
        "",
        f"CPU seconds grow with the samples to the power of {exponent(grown):.2f} (1 is linear), and between the two "
        f"largest, where what every study costs weighs least, of {exponent(grown[-2:]):.2f}.",
        "",
        "## A report",
        "",
        "data/vllm-cpu, wall seconds, environment present; the empty notebooks run after each round.",
        "",
        "| run | seconds (median; range) | beside as many empty notebooks (median; range) |",
        "|---|---|---|",
        *(
            f"| {name} | {_spread(s)} | {_spread([a / b for a, b in zip(s, report[EMPTY], strict=True)])} |"
            for name, s in report.items()
        ),
        "",
        "Eight replicas, files to report, nothing known before:",
        "",
        "| files | in them | MB | seconds | largest process, MB |",
        "|---|---|---|---|---|",
        *(
            f"| {day['what']} | {', '.join(f'{n:,} {of}' for of, n in day['made'].items())} | {day['mb']:,.0f} | "
            f"{day['seconds']:.0f} | {day['memory']:,.0f} |"
            for day in result["days"]
        ),
        "",
        f"Goals: the first report at most {REPORT_GOAL} times the empty notebooks (papermill and nbconvert, one after "
        f"another), an unchanged one under a second, 30 million samples under {DAY_GOAL_S} s.",
    ]
    return "\n".join(lines) + "\n"


def _anchor(rows: list[dict[str, Any]]) -> float:
    """Samples a CPU second of prometheus_client: how fast the machine was."""
    return next(row["rate"] / row["ratio"] for row in rows if row["peer"] == "prometheus_client")


def _row(row: dict[str, Any]) -> str:
    goals = [f"{row['goal']:g} times"] if row["goal"] else []
    goals += [f"{row['rate_goal']:,.0f} {row['unit']}/s"] if row["rate_goal"] else []
    return (
        f"| {row['what']} | {row['rate']:,.0f} {row['unit']} | {row['peer']} | {row['ratio']:.3g} "
        f"({row['low']:.3g} to {row['high']:.3g}) | {', '.join(goals) or 'floor'} |"
    )


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def _cpuinfo() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text().splitlines() if file.exists() else []


def main() -> int:
    """Measure everything; exit status 1 when something became slower than the last time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs, once; nothing is written")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--samples", type=float, nargs="+", default=[1e5, 1e6, 1e7, 1e8])
    options = parser.parse_args()
    repeats, samples = (1, [5e4, 1e5]) if options.quick else (options.repeats, options.samples)
    result: dict[str, Any] = {"machine": machine(), "pairs": [], "profiles": {}}
    with tempfile.TemporaryDirectory() as folder:
        for pair in pairs(Path(folder) / "pairs", QUICK if options.quick else Size()):
            result["pairs"].append(measure(pair, repeats))
            if pair.name not in result["profiles"]:
                result["profiles"][pair.name] = hot_spots(pair.ours)
            print(_row(result["pairs"][-1]), flush=True)
        result["growth"] = growth(Path(folder) / "growth", samples)
        result["report"] = reports(Path(folder), 1 if options.quick else ROUNDS)
        of_pages, span = (20, timedelta(minutes=9)) if options.quick else (DAY_SCRAPES, timedelta(days=1))
        result["days"] = days(Path(folder), of_pages, span)
    text = page(result)
    print(text)
    if options.quick:
        return 0
    lines = HISTORY.read_text().splitlines() if HISTORY.exists() else []
    worse = regressions(result, json.loads(lines[-1]) if lines else None)
    print(*(f"slower than the last time: {line}" for line in worse), sep="\n", file=sys.stderr)
    PAGE.write_text(text)
    HISTORY.write_text("\n".join([*lines, json.dumps(result)]) + "\n")
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
