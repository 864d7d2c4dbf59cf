"""What must be alike in arms that are compared, and is it: model, input, sampling, caches, failures, duration."""

import polars as pl

from analysis.findings.arms import Arms, Pair, Stated

HOST_LOAD, HOST_CPUS, HOST_MEMORY = "host load at the first sample (per CPU)", "host CPUs", "host memory (GiB)"
"""Of boots that have host samples. One task a CPU or fewer counts as one, so that idle machines are alike."""
HOST = frozenset({HOST_LOAD, HOST_CPUS, HOST_MEMORY})
ORDER = (
    "model", "model revision", "tokenizer", "tokenizer revision", "prompt template", "engine build", "sampling",
    "input set", "mean prompt tokens", "phases of the load", "share of requests by phase", "concurrency",
    "prefix cache", "prefix cache before the load", "prefix hit rate", "compile cache", "warm-up requests left out",
    "failed requests", "aborted or cut off", "duration of the load (s)", HOST_LOAD, HOST_CPUS, HOST_MEMORY,
    "decode-only step time",
)  # fmt: skip
OF_START_UP = frozenset({"model", "model revision", "engine build", "compile cache"}) | HOST
OF_BOOT = OF_START_UP - {"compile cache", HOST_LOAD}
"""Conditions that a start-up time, and that a pool or memory, depend on."""
DEPENDS_ON = dict.fromkeys(("start_up", "process_start_up"), OF_START_UP)
DEPENDS_ON |= dict.fromkeys(("pool", "available", "engine_memory"), OF_BOOT)
"""The conditions of each measure; one that is not listed depends on all."""
STEP_TIME = "decode-only step time"
"""Where steps are logged: the same work at the same number of requests. It shows a machine that was not the same."""
SHARES = "share of requests by phase"
"""Where a class was sent in several phases: its figures are over all of them."""
SEVERAL = frozenset({STEP_TIME, SHARES})
"""Conditions that few studies have, with many values where they do; named once where they are not alike."""
RELATIVE = {
    "mean prompt tokens": 0.05, "duration of the load (s)": 0.10, STEP_TIME: 0.20, HOST_LOAD: 0.20, HOST_MEMORY: 0.01,
}  # fmt: skip
"""Numbers that are alike when they differ by no more than this share of the larger one."""
ABSOLUTE = {
    SHARES: 0.05, "prefix hit rate": 0.02, "failed requests": 0.0, "aborted or cut off": 0.0, HOST_CPUS: 0.0,
}  # fmt: skip
"""Numbers that are alike when they differ by no more than this."""
NOT_STATED = "not stated"
ONE_ARM = "one arm only"


def table(arms: Arms) -> pl.DataFrame:
    """One row a condition (and class): its value in each arm, several where its boots differ; whether all are alike.

    `alike` is yes, no, not stated where an arm with a load (or, of a boot's conditions, any arm) does not say, or one
    arm only. What is not alike comes first.
    """
    names = arms.names
    rows = []
    for condition, name in _keys(arms):
        values = {arm: _texts(arms, arm, condition, name) for arm in names}
        shown = {arm: " | ".join(texts) if texts else "—" for arm, texts in values.items()}
        label = f"{condition} ({name})" if name else condition
        rows.append({"condition": label, "alike": _alike(arms, names, condition, name), **shown})
    schema = dict.fromkeys(("condition", "alike", *names), pl.String)
    frame = pl.DataFrame(rows, schema=schema)
    order = pl.col("alike").replace_strict({"no": 0, NOT_STATED: 1, ONE_ARM: 2, "yes": 3}, return_dtype=pl.Int8)
    return frame.sort(order, maintain_order=True)


def mismatches(arms: Arms, pair: Pair, measure: str) -> list[str]:
    """The conditions in which two arms are not alike, of those that the measure depends on."""
    matter = DEPENDS_ON.get(measure)
    found = [
        f"{condition} ({name})" if name and condition not in SEVERAL else condition
        for condition, name in _keys(arms)
        if (matter is None or condition in matter) and _alike(arms, list(pair), condition, name) == "no"
    ]
    return list(dict.fromkeys(found))


def _keys(arms: Arms) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for condition in ORDER:
        names = sorted((name for stated, name in arms.stated if stated == condition), key=str)
        always = [(condition, None)] if condition not in SEVERAL | HOST else []
        found += [(condition, name) for name in names] or always
    return found


def _part(arms: Arms, names: list[str], condition: str, name: str | None) -> list[Stated]:
    boots = {boot for arm in names for boot in arms.of_arm(arm)}
    return [stated for stated in arms.stated.get((condition, name), ()) if stated.boot in boots]


def _texts(arms: Arms, arm: str, condition: str, name: str | None) -> list[str]:
    part = _part(arms, [arm], condition, name)
    numbers_last = sorted(part, key=lambda s: (s.number is not None, s.number or 0.0, s.value))
    return list(dict.fromkeys(stated.value for stated in numbers_last))


def _alike(arms: Arms, names: list[str], condition: str, name: str | None) -> str:
    """Whether all boots of these arms have it alike; an arm that carried no load has no conditions of a load."""
    part = _part(arms, names, condition, name)
    saying = {stated.boot for stated in part}
    needed = [arm for arm in names if condition in OF_START_UP - HOST or _is_loaded(arms, arm)]
    silent = [arm for arm in needed if not saying & set(arms.of_arm(arm))] if condition not in SEVERAL else []
    unknown = condition in RELATIVE | ABSOLUTE and any(stated.number is None for stated in part)
    if not part or unknown or (silent and name is None):
        return NOT_STATED
    if len([arm for arm in names if saying & set(arms.of_arm(arm))]) < 2:
        return ONE_ARM
    if numbers := [stated.number for stated in part if stated.number is not None]:
        least, most = min(numbers), max(numbers)
        if condition == "warm-up requests left out":  # how many does not matter, none does
            return "yes" if least > 0 or most == 0 else "no"
        limit = RELATIVE[condition] * most if condition in RELATIVE else ABSOLUTE[condition]
        return "yes" if most - least <= limit and not (silent and name) else "no"
    return "yes" if len({stated.value for stated in part}) == 1 else "no"


def _is_loaded(arms: Arms, arm: str) -> bool:
    """Whether a boot of the arm answered requests enough to have a duration."""
    return bool(_part(arms, [arm], "failed requests", None))
