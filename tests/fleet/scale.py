"""How work and bytes grow with replicas and time, on pages and on a server: `python -m tests.fleet.scale 1000 60`.

Simulates replicas (vLLM's families, one scrape a minute), back-fills a Prometheus on loopback, and prints what a fetch
and a load of its result cost. With `pages` behind the numbers also what the same scrapes cost as page files, with
`report` a whole report from the server.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from analysis.sources.fleet_address import parse_address
from analysis.sources.fleet_fetch import fetch
from analysis.store.load import load
from tests.fleet.conftest import LocalServer
from tests.fleet.simulated import EDGES, HISTOGRAMS, START

STEP_S = 60


def counted(replica: int, pages: int, rate: float = 0.2) -> dict[str, np.ndarray]:
    """Of each family the cumulative bucket counts (page, edge), its sums (page, 1) last; and the counters."""
    rng = np.random.default_rng(replica)
    page = np.sort(rng.integers(0, pages, rng.poisson(rate * STEP_S * pages)))
    n = len(page)
    prefill, decode, queue = rng.lognormal(-0.5, 1, n), rng.lognormal(1.5, 0.7, n), rng.exponential(0.2, n)
    values = (prefill, decode, prefill + decode, queue, prefill + decode + queue, prefill + queue)
    found = {}
    for name, times in zip(HISTOGRAMS, values, strict=True):
        cells = np.zeros((pages, len(EDGES) + 2))
        np.add.at(cells, (page, np.searchsorted(EDGES, times, side="left")), 1)
        cells[:, :-1] = np.cumsum(cells[:, :-1], axis=1)
        np.add.at(cells, (page, np.full(n, len(EDGES) + 1)), times)
        found[name] = np.cumsum(cells, axis=0)
    for name, tokens in (
        ("prompt_tokens_total", rng.integers(50, 2000, n)),
        ("generation_tokens_total", rng.integers(5, 500, n)),
    ):
        cells = np.zeros((pages, 1))
        np.add.at(cells, (page, 0), tokens)
        found[name] = np.cumsum(cells, axis=0)
    return found


def lines(of_family: np.ndarray, name: str, own: str) -> Iterator[tuple[str, np.ndarray]]:
    """(series, its values by page) of one family of one replica; `own` are its labels."""
    if of_family.shape[1] == 1:
        yield f"vllm:{name}{{{own}}}", of_family[:, 0]
        return
    for index, edge in enumerate((*EDGES, "+Inf")):
        yield f'vllm:{name}_bucket{{{own},le="{edge}"}}', of_family[:, index]
    yield f"vllm:{name}_count{{{own}}}", of_family[:, len(EDGES)]
    yield f"vllm:{name}_sum{{{own}}}", of_family[:, -1]


def back_fill(file: Path, replicas: int, pages: int) -> int:
    """Write the fleet as OpenMetrics; returns the number of samples."""
    at = [START + STEP_S * page for page in range(pages)]
    fleet = [counted(replica, pages) for replica in range(replicas)]
    labels = [f'engine="0",model_name="m",instance="r{replica:04}:8000",job="scale"' for replica in range(replicas)]
    with file.open("w") as stream:
        n = sum(_family(stream, name, fleet, labels, at) for name in fleet[0])
        for name, value in (("process_start_time_seconds", START - 1000.5), ("vllm:num_requests_running", 2.0)):
            stream.write(f"# TYPE {name} unknown\n")
            for own in labels:
                stream.writelines(f"{name}{{{own}}} {value} {when}\n" for when in at)
                n += pages
        stream.write("# EOF\n")
    return n


def _family(stream: TextIO, name: str, fleet: list[dict[str, np.ndarray]], labels: list[str], at: list[int]) -> int:
    """One family of all replicas, part by part: OpenMetrics wants the samples of a name together."""
    parts: dict[str, list[tuple[str, np.ndarray]]] = {}
    for one, own in zip(fleet, labels, strict=True):
        for series, values in lines(one[name], name, own):
            parts.setdefault(series.partition("{")[0], []).append((series, values))
    n = 0
    for part, members in parts.items():
        stream.write(f"# TYPE {part} unknown\n")
        for series, values in members:
            stream.writelines(f"{series} {value!r} {when}\n" for value, when in zip(values.tolist(), at, strict=True))
            n += len(at)
    return n


def as_pages(folder: Path, replicas: int, pages: int) -> int:
    """Write the fleet as page files; returns their bytes."""
    total = 0
    for replica in range(replicas):
        place = folder / f"r{replica:04}"
        place.mkdir(parents=True)
        series = [
            pair
            for name, family in counted(replica, pages).items()
            for pair in lines(family, name, 'engine="0",model_name="m"')
        ]
        for page in range(pages):
            text = "".join(f"{name} {float(values[page])!r}\n" for name, values in series)
            when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(START + STEP_S * page))
            total += (place / f"{when}.prom").write_text(f"process_start_time_seconds {START - 1000.5}\n{text}")
    return total


def report(address: str, out: Path) -> None:
    """Make the report of the address as a user does, and print its seconds and the most memory of any process."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "analysis", "report", address, "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)  # of it and of the processes that it waited for
    cpu_s = used.ru_utime + used.ru_stime
    print(f"report: status {status}, {time.monotonic() - begun:.1f} s ({cpu_s:.1f} s of CPU), "
          f"{used.ru_maxrss >> 10} MiB at most", flush=True)  # fmt: skip


def main(replicas: int, minutes: int, what: list[str]) -> None:
    """Measure one size and print it as a row of a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples = back_fill(folder / "back.om", replicas, minutes + 1)
        server = LocalServer("prometheus", folder / "server", folder / "back.om")
        (folder / "back.om").unlink()
        try:
            begun = time.monotonic()
            address = f'prometheus+{server.base}/?match=job="scale"&start={START}&end={START + 60 * minutes}'
            (folder / "study").mkdir()
            fetch(parse_address(address), folder / "study")
            fetched = time.monotonic()
            load(folder / "study", folder / "study.duckdb")
            loaded = time.monotonic()
            if "report" in what:
                report(address, folder / "report")
            peak = int(Path(f"/proc/{server.process.pid}/status").read_text().split("VmHWM:")[1].split()[0]) >> 10
        finally:
            server.stop()
        record = (folder / "study" / "prometheus.json").read_text()
        received = int(record.split('"received_bytes": ')[1].split(",")[0])
        ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(f"| server | {replicas:,} | {minutes} | {samples:,} | {received / 1e6:.1f} | {fetched - begun:.1f} | "
              f"{loaded - fetched:.1f} | {ours} | {peak} |", flush=True)  # fmt: skip
        if "pages" in what:
            size = as_pages(folder / "pages", replicas, minutes + 1)
            begun = time.monotonic()
            load(folder / "pages", folder / "pages.duckdb")
            print(f"| pages | {replicas:,} | {minutes} | {samples:,} | {size / 1e6:.1f} | | "
                  f"{time.monotonic() - begun:.1f} | "
                  f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} | |", flush=True)  # fmt: skip
        shutil.rmtree(folder / "server", ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
