"""Every hand-checked case: what `facts` says of a small study against the right answer (tests/cases/README.md)."""

import json
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.findings.facts import facts
from analysis.store.load import load

CASES = sorted(p.parent for p in (Path(__file__).parent / "cases").glob("*/expected.json"))
REQUIRED = {
    "boots": "id engine engine_version outcome max_model_len max_num_batched_tokens available_kv_gib kv_needed_gib "
    "token_pool max_concurrency estimated_max_len",
    "metrics": "window prefill_s decode_s requests finish prompt_tokens generation_tokens resets prefix_cache",
    "requests": "completed failed input_tokens output_tokens mean_ttft_ms mean_tpot_ms mean_itl_ms",
}
SILENT = {"case", "why", "tags", "sources", "traps", "notes", "accepted_alternative", "file", "files", "unparsed"}
"""Keys of expected.json that explain, or that are compared elsewhere."""


def read(case: Path, folder: Path) -> dict[str, Any]:
    """The facts of a case, through a real store, as strict JSON."""
    load(case, folder / "case.duckdb")
    with duckdb.connect(str(folder / "case.duckdb"), read_only=True) as connection:
        return json.loads(json.dumps(facts(connection), allow_nan=False))


def differences(want: Any, got: Any, place: str = "") -> Iterator[str]:
    """One sentence a place where `got` disagrees with `want`; a key that is not required may be absent."""
    if isinstance(want, dict):
        if not isinstance(got, dict):
            yield f"{place}: an object was due, not {got!r:.60}"
            return
        required = REQUIRED.get(place.split("[")[0], "").split()
        for key in want.keys() - SILENT:
            if key in got:
                yield from differences(want[key], got[key], f"{place}.{key}" if place else key)
            elif key in required or (not place and key in REQUIRED):
                yield f"{place}.{key} is missing; {want[key]!r:.60} was due"
    elif isinstance(want, list):
        if not isinstance(got, list) or len(want) != len(got):
            yield f"{place}: {want!r:.80} was due, not {got!r:.80}"
            return
        for index, pair in enumerate(zip(want, got, strict=True)):
            yield from differences(*pair, f"{place}[{index}]")
    elif isinstance(want, str | bool) or want is None:
        if want != got or isinstance(got, bool) != isinstance(want, bool):
            yield f"{place}: {want!r} was due, not {got!r:.60}"
    elif (
        not isinstance(got, int | float) or isinstance(got, bool) or not isclose(want, got, rel_tol=1e-6, abs_tol=1e-9)
    ):
        yield f"{place}: {want!r} was due, not {got!r:.60}"


def _path(facts_: Any, path: str) -> Any:
    """The value at a path such as boots[0].token_pool or len(requests.runs); None where there is none."""
    if path.startswith("len("):
        found = _path(facts_, path[4:-1])
        return len(found) if found is not None else None
    for part in path.replace("[", ".[").split("."):
        try:
            facts_ = facts_[int(part[1:-1])] if part.startswith("[") else facts_[part]
        except (KeyError, IndexError, TypeError):
            return None
    return facts_


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_case(case: Path, tmp_path: Path) -> None:
    want = json.loads((case / "expected.json").read_text())
    got = read(case, tmp_path)
    found = list(differences(want, got))
    alternative = (want.get("metrics") or {}).get("accepted_alternative")
    if found and alternative:
        found = list(differences({**want, "metrics": alternative}, got)) and found
    assert found == []
    for trap in want.get("traps", []):
        value = _path(got, trap["path"])
        assert value is None or value != trap["wrong"], f"{trap['path']} is {value!r}: {trap['because']}"


def test_there_are_cases_of_every_kind() -> None:
    kinds = [case.name.split("-")[0] for case in CASES]
    assert len(CASES) >= 65
    assert {"boot", "metrics", "requests", "study"} <= set(kinds)
