"""The difference of configurations of every pair of recorded arms, written down by hand from their command lines."""

from itertools import combinations

import pytest

from analysis.findings import arm_knobs, arms
from analysis.study import Study

LEN, BATCH, UTIL = "max_model_len", "max_num_batched_tokens", "gpu_memory_utilization"
BYTES, SPACE = "kv_cache_memory_bytes", "VLLM_CPU_KVCACHE_SPACE"
# A: len 8192, batch 2048, util .25; B: batch 8192; C: len 2048; D: len 32768; F: no util, the environment variable;
# R: len 32768, no util, bytes; X: as A, but one of its two boots has util .3.
VLLM_CPU = {
    "XA": [UTIL], "XB": [UTIL, BATCH], "XC": [UTIL, LEN], "XD": [UTIL, LEN], "XF": [SPACE, UTIL],
    "XR": [UTIL, BYTES, LEN],
    "AB": [BATCH], "AC": [LEN], "AD": [LEN], "AF": [SPACE, UTIL], "AR": [UTIL, BYTES, LEN],
    "BC": [LEN, BATCH], "BD": [LEN, BATCH], "BF": [SPACE, UTIL, BATCH], "BR": [UTIL, BYTES, LEN, BATCH],
    "CD": [LEN], "CF": [SPACE, UTIL, LEN], "CR": [UTIL, BYTES, LEN],
    "DF": [SPACE, UTIL, LEN], "DR": [UTIL, BYTES],
    "FR": [SPACE, BYTES, LEN],
}  # fmt: skip
OTHERS = {
    "vllm-cpu-mixed": {("mnbt512", "mnbt8192"): [BATCH]},
    "vllm-cpu-iterations": {("mnbt512", "mnbt8192"): [BATCH]},
    # llama.cpp prints no arguments: they are those of study.toml. Of the boot that crashed nothing is known.
    "llamacpp": {
        ("len ?, batch ?", "ub512"): [], ("len ?, batch ?", "ctx8k"): [], ("ub512", "ctx8k"): ["c"],
    },
}  # fmt: skip
WANTED = {"vllm-cpu": {(pair[0], pair[1]): knobs for pair, knobs in VLLM_CPU.items()}, **OTHERS}


@pytest.mark.parametrize("study", WANTED)
def test_every_pair_of_recorded_arms(study: str) -> None:
    of = arms.of(Study(study).connection)
    found = {(a, b): arm_knobs.differing(of.knobs, of.of_arm(a), of.of_arm(b)) for a, b in combinations(of.names, 2)}
    assert found == {pair: sorted(knobs) for pair, knobs in WANTED[study].items()}


def test_the_values_are_those_of_the_command_lines() -> None:
    of = arms.of(Study("vllm-cpu").connection)
    shown = {arm: arm_knobs.by_arm(of.knobs, of.of_arm(arm)) for arm in of.names}
    assert {arm: shown[arm][LEN] for arm in "ABCDFR"} == {
        "A": "8192", "B": "8192", "C": "2048", "D": "32768", "F": "8192", "R": "32768"
    }  # fmt: skip
    assert {arm: shown[arm].get(UTIL, "not set") for arm in "XAFR"} == {
        "X": "0.25 | 0.3", "A": "0.25", "F": "not set", "R": "not set",
    }  # fmt: skip
    assert (shown["R"][BYTES], shown["F"][SPACE]) == ("64000000", "2")
    assert arm_knobs.within(of.knobs, of.of_arm("X")) == [UTIL]
    assert [arm for arm in "ABCDFR" if arm_knobs.within(of.knobs, of.of_arm(arm))] == []
    assert arms.base(of) == "A"
    # Whether memory is pinned follows from the knobs: it is shown, and counts where no knob explains it only.
    assert (shown["A"]["kv_budget"], shown["F"]["kv_budget"]) == ("profiled", "kv_cache_memory_bytes")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("--max-model-len 8192 --enforce-eager", {"max_model_len": "8192", "enforce_eager": "True"}),
        ("-c 32768 -np 4 --dtype=bfloat16", {"c": "32768", "np": "4", "dtype": "bfloat16"}),
        ("--override '{\"a\": 1}' --lora a b", {"override": '{"a": 1}', "lora": "a b"}),
        ("--temperature -1 --name 'unbalanced", {"temperature": "-1", "name": "'unbalanced"}),
        ("serve model", {}),
        ("", {}),
    ],
)
def test_options_of_a_command_line(line: str, wanted: dict[str, str]) -> None:
    assert arm_knobs.arguments(line) == wanted


def test_start_up_phases_of_a_recorded_boot() -> None:
    """A2.log: 13:10:52 first line, 13:11:22 configuration, :37 weights, :40 pool, :43 engine, :59 server."""
    of = arms.of(Study("vllm-cpu").connection)
    phases = of.phases.filter(boot="A2").select("phase", "start_s", "end_s").rows()
    assert phases == [
        ("configuration", 0.0, 30.0), ("weights", 30.0, 45.0), ("memory and pool", 45.0, 48.0),
        ("warm-up", 48.0, 51.0), ("server", 51.0, 67.0),
    ]  # fmt: skip
