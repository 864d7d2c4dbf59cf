"""Boot logs in vLLM's words: the lines whose figures are given, no more."""

from dataclasses import dataclass

VERSION = "0.25.1"
MODEL = "model"
_API, _CORE = "(APIServer pid=1)", "(EngineCore pid=74)"


@dataclass(frozen=True, slots=True)
class Boot:
    """What a boot was asked for and what it printed; what is None is not printed.

    Without a `day` the log says nothing of when a line was written, of the version or of the model: no start-up time
    and no engine build can be read from it.
    """

    max_model_len: int
    max_num_batched_tokens: int
    available_gib: float | None = None
    pool_tokens: int | None = None
    needed_gib: float | None = None
    longest_tokens: int | None = None
    day: str | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the memory did not do for one longest request."""
        return self.needed_gib is not None


def log(boot: Boot, note: str = "") -> str:
    """The log of one boot, from its arguments to its end."""
    length, batch = boot.max_model_len, boot.max_num_batched_tokens
    asked = f"'max_model_len': {length}, 'max_num_batched_tokens': {batch}"
    lines = [f"# {note}"] if note else []
    if boot.day is not None:
        asked = f"'model': '{MODEL}', {asked}"
        started = _at(boot, _API, "INFO", "10:00:01", "api_utils.py:273")
        lines.append(f"{started} vLLM server version {VERSION}, serving model {MODEL}")
    lines += [
        f"{_at(boot, _API, 'INFO', '10:00:01', 'api_utils.py:273')} non-default args: {{{asked}}}",
        f"{_at(boot, _API, 'INFO', '10:00:09', 'model.py:1750')} Using max model len {length}",
        f"{_at(boot, _API, 'INFO', '10:00:09', 'scheduler.py:239')} "
        f"Chunked prefill is enabled with max_num_batched_tokens={batch}.",
    ]
    if boot.day is not None:
        lines.append(
            f"{_at(boot, _CORE, 'INFO', '10:00:15', 'core.py:107')} Initializing a V1 LLM engine (v{VERSION}) with "
            f"config: model='{MODEL}', max_seq_len={length}, enable_chunked_prefill=True"
        )
    if boot.available_gib is not None:
        at = _at(boot, _CORE, "INFO", "10:01:02", "gpu_worker.py:470")
        lines.append(f"{at} Available KV cache memory: {round(boot.available_gib, 2)} GiB")
    lines += _refusal(boot) if boot.is_refused else _served(boot)
    return "\n".join(lines) + "\n"


def _at(boot: Boot, process: str, level: str, clock: str, place: str) -> str:
    """How a line begins: the time only where the day is given."""
    stamp = "" if boot.day is None else f" {boot.day} {clock}"
    return f"{process} {level}{stamp} [{place}]"


def _served(boot: Boot) -> list[str]:
    lines = []
    if boot.pool_tokens is not None:
        times = boot.pool_tokens / boot.max_model_len
        lines = [
            f"{_at(boot, _CORE, 'INFO', '10:01:02', 'kv_cache_utils.py:1755')} "
            f"GPU KV cache size: {boot.pool_tokens:,} tokens",
            f"{_at(boot, _CORE, 'INFO', '10:01:02', 'kv_cache_utils.py:1756')} "
            f"Maximum concurrency for {boot.max_model_len:,} tokens per request: {times:.2f}x",
        ]
    return [*lines, f"{_API} INFO:     Application startup complete."]


def _refusal(boot: Boot) -> list[str]:
    at = _at(boot, _CORE, "ERROR", "10:01:03", "core.py:1330")
    return [
        f"{at} EngineCore failed to start.",
        f"{at} ValueError: To serve at least one request with the model's max seq len ({boot.max_model_len}), "
        f"({round(boot.needed_gib or 0, 2)} GiB KV cache is needed, which is larger than the available KV cache memory "
        f"({round(boot.available_gib or 0, 2)} GiB). Based on the available memory, the estimated maximum model length "
        f"is {boot.longest_tokens}. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when "
        "initializing the engine.",
        f"{_API} RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {{}}",
    ]
