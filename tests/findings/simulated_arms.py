"""Whole study directories with known truth: boots with logs, requests and pages, for arms of known speed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOG = """\
(APIServer pid=1) INFO 11-03 10:00:01 [api_utils.py:339]   ▄▄ ▄█ █     █     █ ▀▄▀ █  version {version}
(APIServer pid=1) INFO 11-03 10:00:01 [api_utils.py:273] non-default args: {{'model': 'org/model', {args}}}
(EngineCore pid=7) INFO 11-03 10:00:11 [core.py:107] Initializing a V1 LLM engine (v{version}) with config: model='org/model', max_seq_len={length}, enable_prefix_caching=True
(EngineCore pid=7) INFO 11-03 10:00:21 [gpu_model_runner.py:5182] Model loading took 15.27 GiB memory and 9.153313 seconds
(EngineCore pid=7) INFO 11-03 10:00:31 [gpu_worker.py:470] Available KV cache memory: {gib} GiB
(EngineCore pid=7) INFO 11-03 10:00:31 [kv_cache_utils.py:1755] GPU KV cache size: 412,800 tokens
(EngineCore pid=7) INFO 11-03 10:00:41 [core.py:283] init engine (profile, create kv cache, warmup model) took 9.61 seconds
(APIServer pid=1) INFO 11-03 10:01:{ready:02d} [api_server.py:9] Starting vLLM server on http://127.0.0.1:8000
(APIServer pid=1) INFO:     Application startup complete.
"""  # noqa: E501
START = 1_795_000_000.0


@dataclass
class Boot:
    """One simulated boot: closed loop of one client, each request `seconds` long, `tokens` answered."""

    name: str
    arm: str
    seconds: float
    requests: int = 30
    tokens: int = 50
    valid: float = 1.0
    warmup: int = 2
    failed: int = 0
    args: dict[str, Any] = field(default_factory=dict)
    version: str = "0.25.1"
    session: str | None = None
    start: float = START
    ready: int = 1
    gib: float = 18.55
    text: Callable[[int], str] = "answer {}".format
    prompt: int = 100
    pages: Sequence[str] = ()


def write(folder: Path, boots: Sequence[Boot], extra: str = "") -> Path:
    """The study directory of these boots; `extra` comes first in study.toml."""
    lines = [extra]
    folder.mkdir(parents=True)
    for i, boot in enumerate(boots):  # a port of its own: byte copies of a log count once
        args = {"max_model_len": 32768, "max_num_batched_tokens": 8192, "port": 8000 + i, **boot.args}
        said = ", ".join(f"'{key}': {value!r}" for key, value in args.items())
        log = folder / "boots" / f"{boot.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(
            LOG.format(version=boot.version, args=said, length=args["max_model_len"], gib=boot.gib, ready=boot.ready)
        )
        trace = folder / "requests" / boot.name / "trace.jsonl"
        trace.parent.mkdir(parents=True, exist_ok=True)
        trace.write_text("".join(json.dumps(row) + "\n" for row in _requests(boot)))
        for k, page in enumerate(boot.pages):
            place = folder / "metrics" / boot.name / f"{k}.prom"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(page)
        lines.append(f'[[boots]]\nid = "{boot.name}"\narm = "{boot.arm}"\nstart = {boot.start}\n')
        lines.append(f"stop = {boot.start + 600}\n" + (f'session = "{boot.session}"\n' if boot.session else ""))
    (folder / "study.toml").write_text("\n".join(lines))
    return folder


def _requests(boot: Boot) -> list[dict[str, Any]]:
    rows = []
    for i in range(boot.warmup + boot.requests + boot.failed):
        sent = boot.start + 60 + i * boot.seconds
        phase = "warmup" if i < boot.warmup else "mixed"
        failed = i >= boot.warmup + boot.requests
        ends = [sent + boot.seconds * (0.2 + 0.8 * k / (boot.tokens - 1)) for k in range(boot.tokens)]
        rows.append({
            "request_id": f"{boot.name}-q{i}", "class": "chat", "phase": phase, "run_id": boot.name, "sent_at": sent,
            "first_token_at": None if failed else ends[0], "token_at": [] if failed else ends,
            "tokens_cum": [] if failed else list(range(1, boot.tokens + 1)), "finished_at": sent + boot.seconds,
            "prompt_tokens": boot.prompt + i, "output_tokens": 0 if failed else boot.tokens,
            "finish_reason": None if failed else "stop", "http_status": 500 if failed else 200,
            "status": "error" if failed else "ok", "valid": not failed and (i % 20) < 20 * boot.valid,
            "error": "refused" if failed else None, "output_text": "" if failed else boot.text(i),
        })  # fmt: skip
    return rows


def cache_page(queries: int, hits: int) -> str:
    """A metric page with the counters of the prefix cache."""
    return (
        "# TYPE vllm:prefix_cache_queries_total counter\n"
        f'vllm:prefix_cache_queries_total{{engine="0",model_name="m"}} {queries}.0\n'
        "# TYPE vllm:prefix_cache_hits_total counter\n"
        f'vllm:prefix_cache_hits_total{{engine="0",model_name="m"}} {hits}.0\n'
    )
