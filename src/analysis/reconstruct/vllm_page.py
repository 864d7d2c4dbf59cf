"""Metric pages as vLLM writes them (0.25, one engine): the families that are given, no more."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

LATENCY_EDGES = (
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0,
    1920.0, 7680.0,
)  # fmt: skip
"""Upper edges (s) of the request time histograms since 0.8.4."""
STEP_EDGES = (1.0, 8.0, *(float(2**power) for power in range(4, 15)))
"""Upper edges (tokens) of iteration_tokens_total since 0.8.5."""
MODEL = "model"


def length_edges(max_model_len: int) -> tuple[float, ...]:
    """Upper edges (tokens) of the length histograms: 1, 2, 5, 10, ... up to the longest request."""
    edges = (float(mantissa * 10**power) for power in range(8) for mantissa in (1, 2, 5))
    return tuple(edge for edge in edges if edge <= max_model_len)


def histogram(name: str, edges: Sequence[float], values: Mapping[float, int], total: float) -> list[str]:
    """Lines of a histogram: `values` maps an observed value to how often it was seen, `total` is their sum."""
    lines = [f"# TYPE vllm:{name} histogram"]
    for edge in (*edges, float("inf")):
        text = "+Inf" if edge == float("inf") else str(edge)
        seen = sum(n for value, n in values.items() if value <= edge)
        lines.append(f'vllm:{name}_bucket{{engine="0",le="{text}",model_name="{MODEL}"}} {float(seen)}')
    lines.append(_sample(f"{name}_count", sum(values.values())))
    lines.append(_sample(f"{name}_sum", total))
    return lines


def counter(name: str, value: float, **labels: str) -> list[str]:
    """Lines of one counter; its name as exported, with `_total`."""
    return [f"# TYPE vllm:{name} counter", _sample(name, value, **labels)]


def counters(name: str, label: str, values: Mapping[str, float]) -> list[str]:
    """Lines of a counter with one more label."""
    return [f"# TYPE vllm:{name} counter", *(_sample(name, v, **{label: key}) for key, v in values.items())]


def gauge(name: str, value: float) -> list[str]:
    """Lines of one gauge."""
    return [f"# TYPE vllm:{name} gauge", _sample(name, value)]


def page(families: Iterable[list[str]], started_s: float, note: str = "") -> str:
    """A whole page: its families in order, the start of the process first; `note` becomes a comment on top."""
    head = [f"# {note}"] if note else []
    head += ["# TYPE process_start_time_seconds gauge", f"process_start_time_seconds {float(started_s)}"]
    return "\n".join([*head, *(line for family in families for line in family)]) + "\n"


def file_name(at_s: float) -> str:
    """The name that tells when a page was fetched: 20260801T120000Z.prom."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y%m%dT%H%M%SZ.prom")


def _sample(name: str, value: float, **labels: str) -> str:
    texts = ",".join(f'{key}="{text}"' for key, text in sorted({"engine": "0", "model_name": MODEL, **labels}.items()))
    return f"vllm:{name}{{{texts}}} {float(value)}"
