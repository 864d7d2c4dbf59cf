"""One boot's log in the shapes that a real engine prints."""


def boot_log(
    length: int,
    batch: int | None,
    gib: str | None = None,
    pool: int | None = None,
    refused: tuple[str, str, int | None] | None = None,
    *,
    day: int = 1,
    extra: tuple[str, ...] = (),
    args: str = "",
) -> str:
    """One boot of vLLM 0.24 as its log has it; `refused` is needed and available GiB and the estimated length."""
    stamp = f"INFO 06-{day:02d} 10:00"
    said = f", 'max_num_batched_tokens': {batch}" if batch else ""
    lines = [
        f"(APIServer pid=1) {stamp}:01 [api_utils.py:339]   ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.24.0",
        f"(APIServer pid=1) {stamp}:01 [api_utils.py:273] non-default args: {{'model_tag': 'org/m', 'model': 'org/m', "
        f"'max_model_len': {length}{said}{args}}}",
        f"(APIServer pid=1) {stamp}:09 [model.py:1750] Using max model len {length}",
        f"(EngineCore pid=7) {stamp}:15 [core.py:107] Initializing a V1 LLM engine (v0.24.0) with config: "
        "model='org/m'",
        *extra,
    ]
    if gib is not None:
        lines.append(f"(EngineCore pid=7) {stamp}:31 [gpu_worker.py:470] Available KV cache memory: {gib} GiB")
    if pool is not None:
        lines += [
            f"(EngineCore pid=7) {stamp}:31 [kv_cache_utils.py:1755] GPU KV cache size: {pool:,} tokens",
            f"(EngineCore pid=7) {stamp}:31 [kv_cache_utils.py:1756] Maximum concurrency for {length:,} tokens per "
            f"request: {pool / length:.2f}x",
        ]
    if refused is not None:
        needed, left, longest = refused
        estimate = (
            f" Based on the available memory, the estimated maximum model length is {longest}." if longest else ""
        )
        lines.append(
            f"(EngineCore pid=7) ValueError: To serve at least one request with the model's max seq len ({length}), "
            f"({needed} GiB KV cache is needed, which is larger than the available KV cache memory ({left} GiB)."
            f"{estimate} Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the "
            "engine."
        )
    elif gib is not None or pool is not None:
        lines.append("(APIServer pid=1) INFO:     Application startup complete.")
    return "\n".join(lines) + "\n"
