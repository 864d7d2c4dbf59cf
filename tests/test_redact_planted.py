"""Redaction against what is known to be secret: in every line, every kind of quoting, and beside anything else."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.redact import cut, redact
from tests.planted import ALL, PEM, Planted

IDS = [p.what for p in ALL]


def _label(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'vllm:x{{note="{escaped}"}} 1'


QUOTINGS = {
    "bare": str,
    "JSON": json.dumps,
    "in a list": lambda t: json.dumps([t, 1]),
    "in an object": lambda t: json.dumps({"note": t}),
    "label": _label,
    "in brackets": lambda t: f"({t})",
    "sentence": lambda t: f"It was {t}.",
    "log": lambda t: f"INFO 11-29 13:05:31 [a.py:1] {t}",
    "printed": lambda t: repr({"note": t}),
    "lines": lambda t: f"a\n{t}\nb",
}


@pytest.mark.parametrize("quoting", QUOTINGS)
@pytest.mark.parametrize("planted", ALL, ids=IDS)
def test_it_is_not_shown_however_it_is_quoted(planted: Planted, quoting: str) -> None:
    assert planted.needle.lower() not in redact(QUOTINGS[quoting](planted.line)).text.lower()


def test_a_key_of_several_lines() -> None:
    assert redact(f"a\n{PEM}\nb").text == "a\n[secret]\nb"
    assert "Planted99" not in redact(json.dumps({"private_key": PEM})).text


PLAIN = st.characters(codec="ascii", exclude_characters="'\"\\[]{}()")
AROUND = st.one_of(st.sampled_from([p.line for p in ALL]), st.text(PLAIN, max_size=12))
CLOSED = [p for p in ALL if p.what not in ("not closed", "escaped quote", "private key, cut", "several keys")]


@given(st.sampled_from(CLOSED), AROUND, AROUND)
@settings(max_examples=300, deadline=None)
def test_nor_beside_anything_else(planted: Planted, before: str, after: str) -> None:
    text = f"{before} {planted.line} {after}"
    assert planted.needle.lower() not in redact(text).text.lower()


KEYS = st.sampled_from(
    ["api_key", "API_KEY", "password", "clientSecret", "hf_token", "AWS_SECRET_ACCESS_KEY", "x-api-key", "auth_token",
     "account_key", "private_key_id", "X_TOKEN", "db.password", "credentials"]
)  # fmt: skip
VALUES = st.text("abcdefgXYZ0123456789+/_-=", min_size=6, max_size=40).filter(lambda v: v[0].isalpha())


@given(KEYS, st.sampled_from(["=", ": ", " = ", ":"]), st.sampled_from(["", "'", '"']), VALUES)
@settings(max_examples=300, deadline=None)
def test_whatever_the_value_of_a_key_is(key: str, is_: str, quote: str, value: str) -> None:
    assert redact(f"n=1 {key}{is_}{quote}{value}{quote}, m=2").text == f"n=1 {key}{is_}{quote}[secret]{quote}, m=2"


@given(st.sampled_from(CLOSED), st.text("ab c", max_size=80), st.integers(20, 120))
@settings(max_examples=200, deadline=None)
def test_a_cut_leaves_no_half_of_it(planted: Planted, before: str, most: int) -> None:
    shown = redact(cut(f"{before} {planted.line} and so on, and so on", most)).text
    assert planted.needle.lower() not in shown.lower()


FACTS = [
    "GPU KV cache size: 1,110,893 tokens",
    "Maximum concurrency for 8,192 tokens per request: 135.61x",
    "Available KV cache memory: 3.94 GiB",
    "vLLM API server version 0.32.0",
    "model google/gemma-3-270m",
    "non-default args: {'model': 'Qwen/Qwen2.5-0.5B', 'max_num_batched_tokens': 8192, 'gpu_memory_utilization': 0.9}",
    "Route: /v1/chat/completions, Methods: POST",
    "GET /metrics HTTP/1.1 200 OK",
    "user=1.2s sys=0.4s",
    "torch==2.9.1+cpu",
    "eos_token='</s>', bos_token_id=1, MAX_TOKEN=128",
    "prompt: 512 tokens, output: 64 tokens",
    "pass=3, two_pass=True",
    "input=128 output=32 text=3",
    "Iteration(7): 1 context requests, 512 context tokens, iteration elapsed time: 3.1 ms",
    "`steps`/`step_tokens`/`tokens_per_step`",
    "tokens/s and 1/2",
    "2026-11-29T13:05:31.123456Z",
    "namespace=None, user: null",
]


@pytest.mark.parametrize("fact", FACTS)
def test_facts_of_the_engine_stay(fact: str) -> None:
    assert redact(fact).text == fact
