"""Boot logs in vLLM's words: the lines whose figures are given, no more.

Nothing was published of the version, the model or of when a line was written, so the logs are silent about them: no
start-up time and no engine build can be read from these files.
"""

from dataclasses import dataclass

_API, _CORE = "(APIServer pid=1)", "(EngineCore pid=74)"


@dataclass(frozen=True, slots=True)
class Boot:
    """What a boot was asked for and what it printed; what is None is not printed."""

    max_model_len: int
    max_num_batched_tokens: int
    available_gib: float | None = None
    pool_tokens: int | None = None
    needed_gib: float | None = None
    longest_tokens: int | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the memory did not do for one longest request."""
        return self.needed_gib is not None


def log(boot: Boot, note: str = "") -> str:
    """The log of one boot, from its arguments to its end."""
    length, batch = boot.max_model_len, boot.max_num_batched_tokens
    asked = f"{{'max_model_len': {length}, 'max_num_batched_tokens': {batch}}}"
    lines = [f"# {note}"] if note else []
    lines += [
        f"{_API} INFO [api_utils.py:273] non-default args: {asked}",
        f"{_API} INFO [model.py:1750] Using max model len {length}",
        f"{_API} INFO [scheduler.py:239] Chunked prefill is enabled with max_num_batched_tokens={batch}.",
    ]
    if boot.available_gib is not None:
        available = round(boot.available_gib, 2)
        lines.append(f"{_CORE} INFO [gpu_worker.py:470] Available KV cache memory: {available} GiB")
    lines += _refusal(boot) if boot.is_refused else _served(boot)
    return "\n".join(lines) + "\n"


def _served(boot: Boot) -> list[str]:
    at, lines = f"{_CORE} INFO [kv_cache_utils.py", []
    if boot.pool_tokens is not None:
        times = boot.pool_tokens / boot.max_model_len
        lines = [
            f"{at}:1755] GPU KV cache size: {boot.pool_tokens:,} tokens",
            f"{at}:1756] Maximum concurrency for {boot.max_model_len:,} tokens per request: {times:.2f}x",
        ]
    return [*lines, f"{_API} INFO:     Application startup complete."]


def _refusal(boot: Boot) -> list[str]:
    at = f"{_CORE} ERROR [core.py:1330]"
    return [
        f"{at} EngineCore failed to start.",
        f"{at} ValueError: To serve at least one request with the model's max seq len ({boot.max_model_len}), "
        f"({round(boot.needed_gib or 0, 2)} GiB KV cache is needed, which is larger than the available KV cache memory "
        f"({round(boot.available_gib or 0, 2)} GiB). Based on the available memory, the estimated maximum model length "
        f"is {boot.longest_tokens}. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when "
        "initializing the engine.",
        f"{_API} RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {{}}",
    ]
