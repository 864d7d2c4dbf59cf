"""Take out of a text from a log what is not the reader's business: secrets, people, machines and places.

One table of rules, applied in order, again until nothing changes: taking one thing out can lay the next one bare.
What can be somebody's name for a boot or a folder leaves a pseudonym, so that two of them stay two; a secret does not.
Figures stay: versions, token counts, times, settings such as max_tokens.
"""

import hashlib
import ipaddress
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Replace = Callable[[re.Match[str]], str]

SWITCH, OFF = "ANALYSIS_REDACT", "off"
"""The variable that turns redaction off, for notebooks' kernels too; only --no-redact sets it."""
# Values that say nothing: a setting that is off, an address that every machine has, a site that everyone knows.
_EMPTY = {"none", "null", "true", "false", "auto", "", "''", '""', "[]", "{}", "***", "...", "<redacted>"}
_COMMON_HOSTS = {"localhost", "0.0.0.0", "127.0.0.1", "::1", "::", "huggingface.co", "github.com", "docs.vllm.ai"}
_QUOTE = r"""(?:\\*["'])?"""
"""A quote, also one that stands inside a quoted text: a label's value, a JSON string."""
_VALUE = r"""(\[[^\]\n]*\]|\\+"[^"\n\\]*\\+"|\\+'[^'\n\\]*\\+'|"[^"\n]*"|'[^'\n]*'|[^\s"',;}\])&\[]+)"""
_SECRET_KEY = (
    r"[\w.-]*(?:api[_-]?keys?|secret(?:[_-]?(?:access)?[_-]?key)?|passw(?:or)?d|passphrase|private[_-]?key|credentials?|cookie"
    r"|(?:hf|hub|face|auth|access|api|refresh|session|bearer|github|gitlab|wandb|user|aws|security)[_-]?token)"
)
_TOKENS = (
    r"hf_\w{10,}|sk-[\w-]{16,}|sk_(?:live|test)_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abeoprs]-[\w-]{10,}|A[KS]IA[0-9A-Z]{16}|AIza[\w-]{30,}|nvapi-[\w-]{20,}|r8_\w{30,}|gsk_\w{20,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
)
_PRIVATE_KEY = r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}-----|\Z)"
_FLAG = r"--[\w-]{0,40}(?:api-key|token|password|secret)(?:\s+|=)"
_SUFFIXES = (
    r"(?:local|localdomain|internal|intranet|lan|corp|home|cluster|svc|com|net|org|edu|gov|mil|int|cloud|ai|io|dev|tech"
    r"|de|uk|fr|nl|ch|at|se|no|fi|dk|it|es|pl|cz|eu|us|ca|jp|cn|kr|in|au|br|ru|tw|sg|il|ie|be|pt)"
)
_ROUNDS = 20
_ROOTS = (
    r"(?:app|cache|data|datasets|dev/shm|efs|etc|fsx|ephemeral|gpfs|local|lustre|media|mnt|models?|nfs|nvme\w*|opt|private|"
    r"projects?|repos?|run|scratch|shared|srv|storage|tmp|usr|var|volumes?|work|workdir|workspaces?)"
)
_PATH_PART = r"[^\s\"',:;()<>|\[\]{}/\\=]"
_TAKEN_OUT = re.compile(r"[\"']?\[[a-z -]+(?: [0-9a-f]{4,6})?\][\"']?")
_DIGITS = {"id": 6}
"""Hexadecimal digits of a pseudonym, 4 where not stated; a study may have hundreds of identifiers to be told apart."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text fit to be shown, and how often each kind of thing was taken out of it."""

    text: str
    kinds: Mapping[str, int] = field(default_factory=dict)


def is_off() -> bool:
    """Whether the author asked for texts as they are (`--no-redact`); then every page says so."""
    return os.environ.get(SWITCH) == OFF


def redact(text: str) -> Redacted:
    """Take out secrets, e-mail and network addresses, host names, user and absolute paths, and long identifiers.

    What is taken out leaves its kind in brackets, such as [secret]; a path keeps its last part. What may be a name (an
    address, host, user, path, identifier) leaves a pseudonym with it, as in [ip 3f2a]: the same for the same value,
    everywhere and always. It tells two apart; it does not hide a value that somebody can guess. Idempotent. Where
    redaction is off the text stays as it is.
    """
    if is_off():
        return Redacted(text)
    kinds: Counter[str] = Counter()
    for _ in range(_ROUNDS):
        before, text = text, _pass(text, kinds)
        if text == before:
            break
    return Redacted(text, {kind: n for kind, n in sorted(kinds.items()) if n})


def _pass(text: str, kinds: Counter[str]) -> str:
    for kind, pattern, replace in _RULES:

        def counted(match: re.Match[str], kind: str = kind, replace: Replace = replace) -> str:
            new = replace(match)
            kinds[kind] += new != match[0]
            return new

        text = pattern.sub(counted, text)
    return text


def redacted(value: Any) -> Any:
    """The same value with every text in it redacted: texts, and what lists and mappings hold (their keys stay)."""
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, Mapping):
        return {key: redacted(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(part) for part in value]
    return value


def _named(kind: str, value: str) -> str:
    """The kind with the first digits of the value's SHA-256: no state, so that all pages and processes agree."""
    digest = hashlib.sha256(value.lower().encode("utf-8", "surrogatepass")).hexdigest()
    return f"[{kind} {digest[: _DIGITS.get(kind, 4)]}]"


def _keep_key(placeholder: str) -> Replace:
    """Replace group 2 unless it says nothing; the key, group 1, stays."""

    def replace(match: re.Match[str]) -> str:
        value = match[2].strip("\"'[]").lower()
        if value in _EMPTY or _TAKEN_OUT.fullmatch(match[2]):  # an earlier rule's, or pass's
            return match[0]
        quote = match[2][0] if match[2][0] in "\"'" else ""
        return f"{match[1]}{quote}{placeholder}{quote}"

    return replace


def _host_value(match: re.Match[str]) -> str:
    value = match[2].strip("\"'")
    if not re.search(r"[A-Za-z]", value) or value.startswith("["):
        return match[0]
    host, colon, port = value.partition(":")
    if host.lower() in _COMMON_HOSTS | _EMPTY:
        return match[0]
    quote = match[2][0] if match[2][0] in "\"'" else ""
    return f"{match[1]}{quote}{_named('host', host)}{colon}{port if port.isdecimal() else ''}{quote}"


def _host(match: re.Match[str]) -> str:
    host = match[2].rstrip(".")
    return match[0] if host.lower() in _COMMON_HOSTS else f"{match[1]}{_named('host', host)}"


def _address(match: re.Match[str]) -> str:
    try:
        address = ipaddress.ip_address(match[0])
    except ValueError:
        return match[0]
    # 0.x.x.x is no machine's address: it is the unspecified one, or a version.
    stays = address.is_loopback or address.is_unspecified or match[0].startswith("0.")
    return match[0] if stays else _named("ip", str(address))


def _constant(text: str) -> Replace:
    return lambda match: text


def _pseudonym(kind: str) -> Replace:
    return lambda match: _named(kind, match[0])


def _user(match: re.Match[str]) -> str:
    return _named("user", match[1]) if match[1] else "~"


def _path(match: re.Match[str]) -> str:
    return f"{_named('path', match[0].removesuffix(match[1]))}/{match[1]}"


def _after_key(text: str) -> Replace:
    return lambda match: f"{match[1]}{text}"


def _rule(kind: str, pattern: str, replace: Replace) -> tuple[str, re.Pattern[str], Replace]:
    return kind, re.compile(pattern, (re.I if kind != "token" else 0) | re.S), replace


_RULES = [
    _rule("secret", _PRIVATE_KEY, _constant("[secret]")),
    _rule("secret", r"(\b[a-z][a-z0-9+.-]{0,20}://)[^\s/@\"'<>]{1,200}@", _after_key("[userinfo]@")),
    _rule("secret", r"""(\bauthorization\\*["']?\s*[:=]\s*\\*["']?)"""
          r"""((?:bearer|basic|token|digest)\s+[^\s"',}]+|[^\s"',}]+)""", _keep_key("[secret]")),
    _rule("secret", r"""(\b(?:bearer|basic)\s+)([a-z0-9._~+/=-]{16,})""", _keep_key("[secret]")),
    _rule("token", rf"(?<![A-Za-z0-9])(?:{_TOKENS})", _constant("[token]")),
    _rule("secret", rf"({_FLAG})(?!-){_VALUE}", _keep_key("[secret]")),
    _rule("secret", rf"""((?<![\w.-]){_SECRET_KEY}{_QUOTE}\s{{0,4}}[:=]\s{{0,4}}){_VALUE}""", _keep_key("[secret]")),
    _rule("secret", rf"""((?<![\w.-])(?:token=|\\*["']token\\*["']\s?:\s?)){_VALUE}""", _keep_key("[secret]")),
    _rule("e-mail", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", _pseudonym("e-mail")),
    _rule("ip address", r"(?<![\w.])(?<!==)(?<!version )(?<!version=)(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)", _address),
    _rule("ip address", r"(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])", _address),
    _rule("hardware address", r"(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])", _pseudonym("mac")),
    _rule("host", r"""(://(?:\[userinfo\]@)?)([a-z0-9][a-z0-9.-]{0,253})""", _host),
    _rule("host", rf"""()(?<![\w/.@-])((?:[a-z0-9][a-z0-9-]{{0,62}}\.){{1,8}}{_SUFFIXES})(?![\w-]|\.\w)""", _host),
    _rule("host", r"""((?<![\w.-])(?:host(?:name)?|node(?:_?name)?|pod(?:_?name)?|(?:exported_)?instance|master_addr)"""
          r"""["']?\s?[=:]\s?)("[^"\n]*"|'[^'\n]*'|[^\s"',;}\])&]+)""", _host_value),
    _rule("path", rf"(?<![\w/.~\]-])(?:/(?:home|users)/({_PATH_PART}+)|/root)(?=[/\s\"',:;()<>|]|\Z)", _user),
    _rule("path", rf"(?<![\w])[a-z]:\\{{1,4}}users\\{{1,4}}({_PATH_PART}+)", _user),
    _rule("path", rf"(?<![\w/.~\]-])/{_ROOTS}(?:/{_PATH_PART}+)*/({_PATH_PART}+)", _path),
    _rule("identifier", r"(?<![a-z0-9])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![a-z0-9])", _pseudonym("id")),
    _rule("identifier", r"(?<![a-z0-9])(?:0x)?(?=[0-9]{0,200}[a-f])[0-9a-f]{32,}(?![a-z0-9])", _pseudonym("id")),
]  # fmt: skip
