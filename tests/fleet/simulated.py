"""A fleet of simulated replicas: raw pages, and the same samples as OpenMetrics to back-fill a server with."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

START = 1_795_957_200  # 2026-11-29T13:00:00Z
EDGES = (
    0.3,
    0.5,
    0.8,
    1.0,
    1.5,
    2.0,
    2.5,
    5.0,
    10.0,
    15.0,
    20.0,
    30.0,
    40.0,
    50.0,
    60.0,
    120.0,
    240.0,
    480.0,
    960.0,
    1920.0,
    7680.0,
)
HISTOGRAMS = (
    "request_prefill_time_seconds",
    "request_decode_time_seconds",
    "request_inference_time_seconds",
    "request_queue_time_seconds",
    "e2e_request_latency_seconds",
    "time_to_first_token_seconds",
)
LABELS = '{engine="0",model_name="m"}'
Page = list[tuple[str, str, float]]
"""(name, labels inside the braces, value)."""


def replica(
    seed: int, times: np.ndarray, restart_at: int | None = None, rate: float = 0.2, slow: float = 1.0
) -> list[Page]:
    """The pages of one replica at the times; before page `restart_at` the process starts anew."""
    rng = np.random.default_rng(seed)
    requests = rng.poisson(rate * np.diff(times, prepend=times[0] - 30))
    pages, state, start = [], _State(), float(times[0] - 100)
    for number, n in enumerate(requests):
        if number == restart_at:
            state, start = _State(), float(times[number] - 1)
        state.serve(rng, int(n), slow)
        pages.append(state.page(start, rng))
    return pages


class _State:
    """What one process has counted."""

    def __init__(self) -> None:
        self.values = {name: np.zeros(0) for name in HISTOGRAMS}
        self.prompt = self.generated = 0.0
        self.finished = {"stop": 0, "length": 0}

    def serve(self, rng: np.random.Generator, n: int, slow: float) -> None:
        prefill, decode = rng.lognormal(-0.5, 1, n) * slow, rng.lognormal(1.5, 0.7, n)
        queue = rng.exponential(0.2, n)
        for name, new in zip(
            HISTOGRAMS,
            (prefill, decode, prefill + decode, queue, prefill + decode + queue, prefill + queue),
            strict=True,
        ):
            self.values[name] = np.concatenate([self.values[name], new])
        self.prompt += float(rng.integers(50, 2000, n).sum())
        self.generated += float(rng.integers(5, 500, n).sum())
        stopped = int(rng.binomial(n, 0.8))
        self.finished["stop"] += stopped
        self.finished["length"] += n - stopped

    def page(self, start: float, rng: np.random.Generator) -> Page:
        inside = 'engine="0",model_name="m"'
        page: Page = [("process_start_time_seconds", "", start)]
        for name, values in self.values.items():
            counts = np.searchsorted(np.sort(values), EDGES, side="right")
            for edge, count in zip((*EDGES, np.inf), (*counts, len(values)), strict=True):
                page.append(
                    (f"vllm:{name}_bucket", f'{inside},le="{"+Inf" if edge == np.inf else edge}"', float(count))
                )
            page += [
                (f"vllm:{name}_sum", inside, float(values.sum())),
                (f"vllm:{name}_count", inside, float(len(values))),
            ]
        page += [
            ("vllm:prompt_tokens_total", inside, self.prompt),
            ("vllm:generation_tokens_total", inside, self.generated),
        ]
        for reason, count in self.finished.items():
            if count:  # a reason that did not occur yet has no series
                page.append(("vllm:request_success_total", f'{inside},finished_reason="{reason}"', float(count)))
        page.append(("vllm:num_requests_running", inside, float(rng.integers(0, 4))))
        page.append(
            (
                "vllm:cache_config_info",
                f'{inside},block_size="16",num_gpu_blocks="1000",kv_cache_size_tokens="16000"',
                1.0,
            )
        )
        return page


def write_pages(folder: Path, fleet: dict[str, tuple[np.ndarray, list[Page]]]) -> Path:
    """metrics/<replica>/<time>.prom of every replica."""
    for name, (times, pages) in fleet.items():
        (folder / "metrics" / name).mkdir(parents=True)
        for at, page in zip(times, pages, strict=True):
            stamp = datetime.fromtimestamp(float(at), UTC).strftime("%Y%m%dT%H%M%SZ")
            text = "".join(f"{n}{{{inside}}} {value!r}\n" for n, inside, value in page)
            (folder / "metrics" / name / f"{stamp}.prom").write_text(text)
    return folder


def samples(fleet: dict[str, tuple[np.ndarray, list[Page]]]) -> Iterator[tuple[str, str, float, float]]:
    """(name, labels with job and instance, value, unix seconds)."""
    for replica_name, (times, pages) in fleet.items():
        own = f'instance={json.dumps(replica_name)},job="sim"'
        for at, page in zip(times, pages, strict=True):
            for name, inside, value in page:
                yield name, f"{inside},{own}" if inside else own, value, float(at)


def openmetrics(file: Path, rows: Iterator[tuple[str, str, float, float]]) -> Path:
    """The samples by name and series, as promtool reads them."""
    by_name: dict[str, dict[str, list[str]]] = {}
    for name, inside, value, at in rows:
        by_name.setdefault(name, {}).setdefault(inside, []).append(f"{name}{{{inside}}} {value!r} {at}\n")
    with file.open("w") as stream:
        for name, series in by_name.items():
            stream.write(f"# TYPE {name} unknown\n")
            for lines in series.values():
                stream.writelines(lines)
        stream.write("# EOF\n")
    return file
