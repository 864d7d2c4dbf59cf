"""Redaction: what goes, what stays, and that a second pass changes nothing."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.redact import names_secret, pair, redact, redacted
from tests.by_length import reads_by_length

HEX = "0123456789abcdef" * 2
GONE = [
    ("HF_TOKEN=hf_abcdefghijklmnopqrstuv", "HF_TOKEN=[token]", {"token": 1}),
    ("using hf_abcdefghijklmnopqrstuv.", "using [token].", {"token": 1}),
    ("key sk-proj-abcdefghijklmnop1234", "key [token]", {"token": 1}),
    ("AKIAIOSFODNN7EXAMPLE", "[token]", {"token": 1}),
    ("AKIAIOSFODNN7EXAMPLEAKIAIOSFODNN7EXAMPLE", "[token][token]", {"token": 2}),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[token]", {"token": 1}),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_", "[token]", {"token": 1}),
    ("Authorization: Bearer abc.def", "Authorization: [secret]", {"secret": 1}),
    ("{'Authorization': 'Basic dXNlcjpwYXNz'}", "{'Authorization': '[secret]'}", {"secret": 1}),
    ("bearer abcdefghijklmnopqrst", "bearer [secret]", {"secret": 1}),
    ("--api-key hunter2 --port 8000", "--api-key [secret] --port 8000", {"secret": 1}),
    ("--hf-token=abc", "--hf-token=[secret]", {"secret": 1}),
    ("'api_key': ['a', 'b'], 'port': 1", "'api_key': [secret], 'port': 1", {"secret": 1}),
    ('"password": "a b c"', '"password": "[secret]"', {"secret": 1}),
    ("DB_PASSWORD=pw;x", "DB_PASSWORD=[secret];x", {"secret": 1}),
    ("AWS_SECRET_ACCESS_KEY=abc/def", "AWS_SECRET_ACCESS_KEY=[secret]", {"secret": 1}),
    ("redis://user:pw@10.1.2.3:6379/0", "redis://[userinfo]@[ip 8e09]:6379/0", {"secret": 1, "ip address": 1}),
    ("mail alice.b+c@example.co.uk now", "mail [e-mail aa03] now", {"e-mail": 1}),
    ("from 192.168.0.17:4711", "from [ip a5c3]:4711", {"ip address": 1}),
    ("tcp://[fe80::1ff:fe23:4567:890a]:1", "tcp://[[ip 3ac8]]:1", {"ip address": 1}),
    ("2001:db8:0:1:1:1:1:1 up", "[ip 3c2f] up", {"ip address": 1}),
    (
        r'x{note="\"auth_token\": \"a-b c\", \'token\': \'x1y2\'"}',
        r'x{note="\"auth_token\": [secret], \'token\': [secret]"}',
        {"secret": 2},
    ),
    (r"password=\'a b\' z", "password=[secret] z", {"secret": 1}),
    (r'"C:\\Users\\ada\\x"', r'"[user fdee]\\x"', {"path": 1}),
    ("mac 00:1a:2b:3c:4d:5e", "mac [mac 6450]", {"hardware address": 1}),
    ("http://gpu-17:8000/metrics", "http://[host efce]:8000/metrics", {"host": 1}),
    ("on node-3.cluster.local,", "on [host 6d0b],", {"host": 1}),
    ('up{instance="gpu-17:8000"}', 'up{instance="[host efce]:8000"}', {"host": 1}),
    ("hostname=gpu17", "hostname=[host c34f]", {"host": 1}),
    ("/home/alice/models/x.gguf", "[user 2bd8]/models/x.gguf", {"path": 1}),
    ("/Users/bob: no such file", "[user 81b6]: no such file", {"path": 1}),
    ("/home/ada/.cache/huggingface", "[user fdee]/.cache/huggingface", {"path": 1}),
    (r"C:\Users\bob\x", r"[user 81b6]\x", {"path": 1}),
    ("model='/mnt/team-a/models/Qwen2.5'", "model='[path 3356]/Qwen2.5'", {"path": 1}),
    ("OPENAI_KEY=a", "OPENAI_KEY=[secret]", {"secret": 1}),
    ('x{openai_key="a"} 1', 'x{openai_key="[secret]"} 1', {"secret": 1}),
    ("AZURE_OPENAI_KEY=a MISTRAL_KEY=b", "AZURE_OPENAI_KEY=[secret] MISTRAL_KEY=[secret]", {"secret": 2}),
    ("vault_token: x", "vault_token: [secret]", {"secret": 1}),
    ("token: x", "token: [secret]", {"secret": 1}),
    ("INFO [a.py:1] token: x", "INFO [a.py:1] token: [secret]", {"secret": 1}),
    ("its token: ab12cd", "its token: [secret]", {"secret": 1}),
    ("jwt=a, passcode=b", "jwt=[secret], passcode=[secret]", {"secret": 2}),
    ("otp=a pw=b otp=123456", "otp=[secret] pw=[secret] otp=[secret]", {"secret": 3}),
    ("secret_key_base=x", "secret_key_base=[secret]", {"secret": 1}),
    ("access_token%3Dx", "access_token%3D[secret]", {"secret": 1}),
    ("X-Auth: x", "X-Auth: [secret]", {"secret": 1}),
    ("HF_TOKEN x", "HF_TOKEN [secret]", {"secret": 1}),
    ("has HF_TOKEN ab12cd set", "has HF_TOKEN [secret] set", {"secret": 1}),
    ("team-OPENAI_KEY=x", "team-OPENAI_KEY=[secret]", {"secret": 1}),
    ("HTTP_COOKIE=x PGPASS=y", "HTTP_COOKIE=[secret] PGPASS=[secret]", {"secret": 2}),
    ("cuda host 10.0.0.1:8000", "cuda host [ip f504]:8000", {"ip address": 1}),
    ("cuda 10.0.0.1:8000", "cuda [ip f504]:8000", {"ip address": 1}),
    ("driver version: 10.0.0.1:8000", "driver version: [ip f504]:8000", {"ip address": 1}),
    (f"request cmpl-{HEX}", "request cmpl-[id 3eb1bd]", {"identifier": 1}),
    ("GPU-12345678-1234-1234-1234-123456789abc", "GPU-[id ae1908]", {"identifier": 1}),
    ("'api_key': ['k1abc', 'k2 def", "'api_key': [secret]", {"secret": 1}),
    ("api_keys=('a', \"b c", "api_keys=[secret]", {"secret": 1}),
    ('signing_keys: "a b c', 'signing_keys: "[secret]"', {"secret": 1}),
    ('auth_tokens=["abc","xyz"] n=1', "auth_tokens=[secret] n=1", {"secret": 1}),
    ("secrets='a b', passwords: c", "secrets='[secret]', passwords: [secret]", {"secret": 2}),
    ('keys: "abc123def45 xyz987abc12', 'keys: "[secret]"', {"secret": 1}),
    ("keys=['abc123def45','xyz987abc12'] n=2", "keys=[secret] n=2", {"secret": 1}),
    ('prompts=["Tell me', "prompts=[text]", {"text": 1}),
    ("to DE89 3704 0044 0532 0130 00.", "to [account 9cf6].", {"account number": 1}),
    ("iban=GB29NWBK60161331926819", "iban=[account b7bb]", {"account number": 1}),
    ("card 4111 1111 1111 1111", "card [account 9bbe]", {"account number": 1}),
    ("card 4111 1111 1111 1111, ok", "card [account 9bbe], ok", {"account number": 1}),
    ("account number 12345678, ok", "account number [account ef79], ok", {"account number": 1}),
    ("phone 555-123-4567, then", "phone [phone 3c95], then", {"phone number": 1}),
    ("API_KEYS=abc123def456ghi,zzz999yyy888xx", "API_KEYS=[secret]", {"secret": 1}),
    ("--api-key=abc123def456ghi,zzz999yyy888xx --port 1", "--api-key=[secret] --port 1", {"secret": 1}),
    ("api_key=abc123def456ghi, zzz999yyy888xx", "api_key=[secret]", {"secret": 1}),
    ("api_key=abc123def456ghi, temperature=0.5", "api_key=[secret], temperature=0.5", {"secret": 1}),
    ("api_key=abc123def456ghi, seed2 7, vllm-0.32.0", "api_key=[secret], seed2 7, vllm-0.32.0", {"secret": 1}),
    ("account number: 1234567890", "account number: [account c775]", {"account number": 1}),
    ('{"account": "123456789012"}', '{"account": "[account 2a33]"}', {"account number": 1}),
    ("account_id=123456789012", "account_id=[account 2a33]", {"account number": 1}),
    ("phone: 0170-1234567", "phone: [phone eab4]", {"phone number": 1}),
    ("tel:+14155552671", "tel:[phone 758f]", {"phone number": 1}),
    ("call +1 (415) 555-2671 or (415) 555-2671", "call [phone 758f] or [phone e732]", {"phone number": 2}),
    ("a\n-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\nb", "a\n[secret]\nb", {"secret": 1}),
]
STAYS = [
    "vLLM version 0.32.0", "vllm==0.32.0", "0.32.0.1 of it is version 12.4.5.8", "GPU KV cache size: 1,110,893 tokens",
    "INFO 11-29 13:10:52 [core.py:76] Initializing",
    "2026-11-29T13:10:52.123Z", "max_tokens=128, num_prompt_tokens: 5",
    "max_num_batched_tokens=8192, skip_tokenizer_init=False, tokenizer='Qwen/Qwen2.5-0.5B'",
    "api_key=None, hf_token: null",
    "--max-num-batched-tokens 8192 --max-model-len 4096", "eos_token='</s>', pad_token_id=0, time_per_output_token: 3",

    "http://localhost:8000/v1/completions", "127.0.0.1:53122 - GET /metrics 200", "host='0.0.0.0', host=None, ::1",
    "vllm.v1.engine.core gpu_worker.py:123", "metrics/20261129T131052Z.prom.gz",
    "metrics/A2/20261129T131030Z.prom.gz", "boots/X0-sigterm-during-boot.log", "requests/a_b c.json", "study.toml",
    "Qwen/Qwen2.5-0.5B-Instruct", "and/or 3/4",
    'vllm:request_success_total{finished_reason="stop",model_name="a"} 1532.0',
    "std::vector c10::Error", "1.2.3",
    "Available KV cache memory: 3.94 GiB", "node=0 rank 1:2:3", "12345678901234567890123456789012345678",
    "git+gabc1234",
    "https://huggingface.co/Qwen", "per token: generating",
    "kv_cache_dtype=auto, max_tokens=8192, prompt_tokens: 12, num_key_value_heads=8", "key=value", "cache_key=ab12cd",
    "sort_key=3, sort_key=ts1, shard_key=12", "token: 12", "token: 12 ms", "tokenizer=Qwen", "12 tokens/s",
    "eos_token_id=2", "bos_token: <s>", "next_token=a1", "bytes_per_token=12288", "time_to_second_token: 0.1",
    "HF_TOKEN is not set", "set HF_TOKEN or log in", "unexpected token: foo", "PASS=3 pass=2 pw=120W",
    "cuDNN version: 9.1.0.70", "cudnn=9.1.0.70", "cublas 12.4.5.8", "nvidia-cudnn-cu12 9.1.0.70", "cuda 12.4.1.2",
    "+12 345 678 901 tokens", "+10485760000 bytes", "4096 8192 2048 1024", "[2026-11-29 13:10:52 +0100]", "2.9.0+cu128",
    "+10 2026-11-29 13:00", "t=1764500000.123456", "1764500000123456789", "account for 12345678 tokens", "+1 2 33",
    "taking into account 12345678", "account 12345678 requests", "card 0: 81559 MiB", "card 4096 8192 2048 1025",
    "DE88 3704 0044 0532 0130 00", "user_tokens: 12345, session_tokens=12", "phone_tokens: 1234567890",
    "mobile 8192 tokens", "step 415-555-2671", "2048 tokens, +49 170 MiB", "tokens: 128000 256000",
    'keys: "model.layers.0.weight, lm_head"', 'keys=["prompt","text"]', 'Missing keys: ["q_proj1weight23"]',
    "expert routing: 12345678 of 2", "num_keys=12, keys: abc1", 'tokens=["<s>","</s>"]',
    "nvidia-cudnn-cu12==9.1.0.70", "nvidia-cuda-nvrtc-cu12>=12.4.1.2", '{"cudnn": "9.1.0.70"}', "TensorRT: 10.3.0.26.",
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown", "kinds"), GONE, ids=[g[0][:30] for g in GONE])
def test_what_goes(text: str, shown: str, kinds: dict[str, int]) -> None:
    result = redact(text)
    assert (result.text, dict(result.kinds)) == (shown, kinds)


@pytest.mark.parametrize("text", STAYS)
def test_what_stays(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).kinds == {}


@pytest.mark.parametrize("name", ["HTTP_COOKIE", "JWT", "PGPASS", "AWS_ACCESS_KEY_ID", "MY_PASSPHRASE", "jwt", "a.jwt"])
def test_a_value_apart_from_its_name(name: str) -> None:
    """In a table's cells, or a field: judged as one text, the value whole."""
    assert names_secret(name)
    assert pair(name, "a b, c").text == "[secret]"
    assert redacted({"x": {name: "a b", "n": 1}}) == {"x": {name: "[secret]", "n": 1}}


def test_a_value_apart_from_a_name_that_says_nothing() -> None:
    plain = ["max_tokens", "kv_cache_dtype", "value", "text", "file", "class", "cache_key", "eos_token"]
    assert [name for name in plain if names_secret(name)] == []
    assert pair("max_tokens", "8192").text == "8192"
    assert pair("jwt", "None").text == "None"
    assert pair("HOSTNAME", "gpu17").text == "[host c34f]"
    assert redacted({"text": "a b"}) == {"text": "a b"}


def test_two_names_stay_two_and_one_stays_one() -> None:
    """A pseudonym is of the value alone: whatever stands around it, in any process."""
    assert [redact(t).text for t in ("metrics/10.0.0.1", "metrics/10.0.0.2", "http://10.0.0.1:8000/metrics")] == [
        "metrics/[ip f504]", "metrics/[ip cb5f]", "http://[ip f504]:8000/metrics",
    ]  # fmt: skip
    assert redact("0aa1b2c3-1111-4222-8333-444455556666").text == "[id d73040]"
    assert redact("http://GPU-17:8000").text == "http://[host efce]:8000"
    assert redact("/mnt/a/Qwen").text != redact("/mnt/b/Qwen").text


def test_a_secret_leaves_no_trace_of_itself() -> None:
    assert redact("password=a").text == redact("password=b").text == "password=[secret]"
    assert redact("hf_abcdefghijklmnopqrstuv").text == "[token]"


PIECES = [g[0] for g in GONE] + STAYS + [g[1] for g in GONE]
GLUE = st.sampled_from(["", " ", ",", "=", ":", "/", "@", '"', "'", "[", "]", "://", ".", "-", "\n",
                         "token", "host=", "x", "1"])  # fmt: skip


@given(st.lists(st.one_of(st.sampled_from(PIECES), GLUE, st.text(max_size=6)), max_size=8).map("".join))
@settings(max_examples=100, deadline=None)
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = redact(text)
    twice = redact(once.text)
    assert (twice.text, dict(twice.kinds)) == (once.text, {})


HOSTILE = [
    *(("", piece) for piece in "a:/-0\\"),
    *(("", piece) for piece in ("a.", "a@", "a-", "api_key", "/data/", "/a/b", "://", "p='", "['")),
    ('password="', '\\\\"'),
]
"""How a text begins, and what comes in it again and again."""


@pytest.mark.parametrize(("head", "piece"), HOSTILE)
def test_hostile_texts_take_time_by_their_length(head: str, piece: str) -> None:
    assert reads_by_length(redact, lambda length: head + piece * (length // len(piece)), 48_000)


def test_what_goes_over_a_text_again_and_again_is_seen() -> None:
    assert not reads_by_length(re.compile("0+x").search, lambda length: "0" * length, 24_000)


@pytest.mark.parametrize("prefix", ["arg.", "env.", ""])
def test_a_host_is_known_behind_the_place_it_was_set_at(prefix: str) -> None:
    assert redact(f"{prefix}HOSTNAME=planted131 x").text == f"{prefix}HOSTNAME=[host cb2d] x"
