"""Whole studies of a known truth, as raw files: boots, metric pages and a trace in the engine's real shapes.

    study = Truth(prefill_s=2.0, decode_s=8.0).write(tmp_path / "study")

Everything is seeded; two truths that differ in one thing give studies that differ in that thing.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.reconstruct import vllm_page as pages
from analysis.reconstruct.vllm_log import Boot, log

STARTED_S = 1_785_578_400.0
BATCH, LENGTH = 8192, 32768


@dataclass(frozen=True)
class Truth:
    """What is true of a simulated study: one run of `requests` requests over `scrapes` intervals, and boots.

    `prefill_s` and `decode_s` are the means of a request's phases, each with the coefficient of variation `cv`. Every
    boot but those `refused` has a pool of about `pool_tokens` with a relative spread of `pool_spread`. `unmatched`
    finish reasons are in no time histogram. `traced` requests are in a trace, one after another.
    """

    prefill_s: float = 1.0
    decode_s: float = 9.0
    cv: float = 0.5
    requests: int = 200
    scrapes: int = 20
    scrape_s: float = 60.0
    boots: int = 3
    refused: int = 0
    pool_tokens: float = 500_000
    pool_spread: float = 0.01
    unmatched: int = 0
    traced: int = 0
    seed: int = 1

    def write(self, folder: Path) -> Path:
        """Write the study and return its folder: boots b1, b2, ...; pages and the trace belong to b1."""
        dice = np.random.default_rng(self.seed)
        for name, boot in self._boots(dice).items():
            _put(folder / "boots" / f"{name}.log", log(boot))
        for name, text in self._pages(dice).items():
            _put(folder / "metrics" / "b1" / name, text)
        if self.traced:
            _put(folder / "requests" / "b1" / "trace.jsonl", self._trace(dice))
        return folder

    def _boots(self, dice: np.random.Generator) -> dict[str, Boot]:
        gib = dice.normal(1, self.pool_spread, self.boots + self.refused) * 20
        per_gib = self.pool_tokens / 20
        found = {}
        for n, memory in enumerate(gib.round(2), start=1):
            if n <= self.boots:
                found[f"b{n}"] = Boot(LENGTH, BATCH, float(memory), round(float(memory) * per_gib), day=f"08-{n:02d}")
            else:
                found[f"b{n}"] = Boot(LENGTH, BATCH, 0.5, None, 1.3, LENGTH // 3, day=f"08-{n:02d}")
        return found

    def _pages(self, dice: np.random.Generator) -> dict[str, str]:
        prefill, decode = (self._times(dice, mean) for mean in (self.prefill_s, self.decode_s))
        window = np.arange(self.requests) * self.scrapes // self.requests
        found = {}
        for scrape in range(self.scrapes + 1):
            done = window < scrape
            x, y, n = prefill[done], decode[done], int(done.sum())
            extra = self.unmatched if scrape == self.scrapes else 0
            families = [
                *(
                    pages.histogram(f"request_{phase}_time_seconds", pages.LATENCY_EDGES, Counter(t.tolist()), t.sum())
                    for phase, t in (("prefill", x), ("decode", y), ("inference", (x + y).round(3)))
                ),
                pages.counters("request_success_total", "finished_reason", {"stop": n + extra, "length": 0.0}),
                pages.counter("prompt_tokens_total", 1000 * n),
                pages.gauge("num_requests_running", float(0 < scrape < self.scrapes)),
            ]
            at_s = STARTED_S + scrape * self.scrape_s
            found[pages.file_name(at_s)] = pages.page(families, STARTED_S - 60)
        return found

    def _times(self, dice: np.random.Generator, mean: float) -> np.ndarray:
        """Seconds of a phase, in whole milliseconds, with the mean exactly as given."""
        sigma = np.sqrt(np.log1p(self.cv**2))
        raw = dice.lognormal(0, sigma, self.requests)
        return (raw / raw.mean() * mean).round(3)

    def _trace(self, dice: np.random.Generator) -> str:
        lines, at = [], STARTED_S
        for n, (x, y) in enumerate(
            zip(self._times(dice, self.prefill_s), self._times(dice, self.decode_s), strict=True)
        ):
            if n < self.traced:
                row = {"request_id": f"r{n}", "sent_at": at, "first_token_at": at + x, "finished_at": at + x + y,
                       "prompt_tokens": 1000, "output_tokens": 10, "status": "ok"}  # fmt: skip
                lines.append(json.dumps(row))
                at += x + y + 0.5
        return "\n".join(lines) + "\n"


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
