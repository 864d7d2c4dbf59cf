"""What redaction takes out: one table of rules, applied in this order.

Each is a kind, a pattern and what stands there instead. Secrets come before names, since a name may stand inside one.
Sources of the shapes: the issuers' own documentation of their tokens' prefixes.
"""

import hashlib
import ipaddress
import re
from collections.abc import Callable

from analysis.redact_numbers import NUMBERS
from analysis.secret_keys import ASSIGN, COOKIE, FIGURE, LIKELY_KEY, PLURAL_KEY, SECRET_KEY, SHORT_KEY, WORDS_ALONE

Replace = Callable[[re.Match[str]], str]
Rule = tuple[str, re.Pattern[str], Replace]

# Values that say nothing: a setting that is off, an address that every machine has, a site that everyone knows.
_EMPTY = {"none", "null", "true", "false", "auto", "", "''", '""', "[]", "{}", "***", "...", "<redacted>"}
_COMMON_HOSTS = {"localhost", "0.0.0.0", "127.0.0.1", "::1", "::", "huggingface.co", "github.com", "docs.vllm.ai"}
_QUOTE = r"""(?:\\*["'])?"""
"""A quote, also one that stands inside a quoted text: a label's value, a JSON string."""
_PLAIN = r"""Q(?:[^Q\n\\]|(?<=[=\[(])Q(?=\w)|\\[^\n\\]|\\\\(?!Q)|\\\\Q(?![ \t]*(?:[,}\])]|$)))*\\{0,2}(?:Q|$)"""
_ESCAPED = r"""(?<!\\)\\{N}Q(?:[^Q\n\\]|\\+(?![Q\\])|\\{M,}Q)*(?:\\{N}Q|\\*$)"""
_DEEP = "|".join(_ESCAPED.replace("N", str(n)).replace("M", str(n + 1)) for n in (1, 2, 3))
_QUOTED = "|".join(form.replace("Q", quote) for form in (_DEEP, _PLAIN) for quote in "\"'")
"""A quoted text, up to three times escaped, with quotes of the next depth in it; one that is not closed, as in a line
that was cut, goes on to the line's end. A quote between = and a word opens another text."""
_ITEM = r"""(?:"[^"]*"|'[^']*'|["'][^"'\n]*$|[^\E"'])*"""
_LISTED = "|".join(rf"\{left}{_ITEM.replace('E', right)}(?:\{right}|\Z)" for left, right in ("[]", "()"))
"""What stands in brackets; a quote that is not closed, as in a line that was cut, goes on to the line's end."""
_VALUE = rf"""({_LISTED}|{_QUOTED}|[^\s"',;}}\])&\[(]+)"""
_NAME = rf"""({_QUOTED}|[^\s"',;}}\])&{{(\[]+(?:\[[\d,-]*\])?)"""
_RANDOM = r"(?=[a-z0-9]*\d)(?=[0-9]*[a-z])[a-z0-9]{10,}(?![\w.])"
_KEYS_ALONE = rf"""(?<![\w.-])(?:keys|tokens){_QUOTE}\s?[:=]\s?"""
_KEYS_LIST = rf"""(?:[\["'(]{{1,2}})?{_RANDOM}(?:["']?[,;]?[ ]?["']?{_RANDOM})*["')\]]{{0,2}}"""
"""What is called keys and is a list of nothing but mixed letters and digits; names of layers and fields are not."""
_TOKENS = (
    r"hf_\w{10,}|api_org_\w{20,}|sk-[\w-]{16,}|[sr]k_(?:live|test)_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}"
    r"|gl(?:pat|rt|dt|ptt|ft|soat|cbt|imt|agent)-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}"
    r"|A(?:KIA|SIA|ROA|IDA)[0-9A-Z]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|nvapi-[\w-]{20,}|r8_\w{30,}|gsk_\w{20,}"
    r"|xai-\w{20,}|pplx-\w{20,}|tgp_v1_[\w-]{20,}|fw_[A-Za-z0-9]{20,}|lsv2_(?:pt|sk)_\w{16,}|wandb_v\d_\w{16,}"
    r"|npm_\w{30,}|pypi-[\w-]{20,}|dckr_[a-z]{2,4}_[\w-]{16,}|do[opr]_v1_\w{32,}|hv[sbr]\.[\w-]{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|SK[0-9a-f]{32}|AGE-SECRET-KEY-1[0-9A-Z]{20,}|gls?a_\w{20,}|\d{8,10}:AA[\w-]{33}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
)
_WEB_HOOK = r"(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks)/[^\s\"'<>]+"
_PEM = r"-----BEGIN [A-Z0-9 ]{1,40}-----.*?(?:-----END [A-Z0-9 ]{1,40}-----|\Z)"
_SSH_KEY = r"\b(?:ssh-(?:rsa|ed25519|dss)|(?:sk-)?ecdsa-sha2-[\w-]{1,40})\s+AAAA[\w+/=]+(?:[ \t]+[\w.+-]+@[\w.-]+)?"
_FLAG = r"--[\w-]{0,40}(?:api-key|token|password|secret)(?:\s+|=)"
_MORE_KEYS = r"""(?:(?<!=)[ \t]+(?![-\[])[^\s"',;}\])=\[({:]+(?:={1,2}(?=\s|\Z)|(?=[\s"'),;}\]]|\Z)))*"""
"""Further values of a flag, such as several keys of one server; in doubt a word of the command goes with them."""
_MIXED = r"(?=[a-z0-9_-]*\d)(?=[0-9_-]*[a-z])[a-z0-9_-]{8,}(?![\w=:(.])"
_LISTED_KEYS = rf"(?:\s?[,;]\s?{_MIXED})*"
"""Further keys after a comma: nothing but letters and digits mixed, and no name of a setting."""
_NAME_VALUE = (
    rf"""(\bname{_QUOTE}\s?[:=]\s?{_QUOTE}[\w.-]*(?:key|token|secret|passw(?:or)?d|credentials?){_QUOTE},?\s{{0,8}}"""
    rf"""{_QUOTE}value{_QUOTE}\s?[:=]\s?)"""
)
_COOKIE = rf"""({_QUOTED}|[^\s"',;]+(?:;\s{{0,4}}(?:[^\s"',;=-][^\s"',;=]*=[^\s"',;]*|secure|httponly))*)"""
_TEXT_KEY = (
    r"(?:(?:system_|user_)?prompts?|(?:generated|output|prompt|input)_texts?|text|content|messages|completion|inputs?"
    r"|outputs?|response|instructions?)"
)
_TEXTS = rf"""(\[(?=\s*[\["'{{])(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|["'][^"'\n]*$|[^\]"'])*(?:\]|\Z)|{_QUOTED})"""
_REQUEST_LINE = r"""(received request [^\n]{0,200}?\bprompt: )([^\s"'\[][^\n]*?)(?=, (?:params|prompt_token_ids)|$)"""
_TOKEN_IDS = rf"""((?<![\w.-])(?:(?:prompt_|output_)?token_ids|input_ids){_QUOTE}\s?[:=]\s?)(\[[\d\s,…]+(?:\]|\Z))"""
_SUFFIXES = (
    r"(?:local|localdomain|internal|intranet|lan|corp|home|cluster|svc|com|net|org|edu|gov|mil|int|cloud|ai|io|dev|tech"
    r"|de|uk|fr|nl|ch|at|se|no|fi|dk|it|es|pl|cz|eu|us|ca|jp|cn|kr|in|au|br|ru|tw|sg|il|ie|be|pt)"
)
_PREFIXED = r"(?:(?<![\w.-])|(?<=arg\.)|(?<=env\.))(?:[a-z0-9]+_){0,4}"
_HOST_KEY = rf"{_PREFIXED}(?:host(?:_?name)?|node(?:_?(?:name|list))?|pod(?:_?name)?|instance|master_addr|server_?name)"
_USER_KEY = rf"{_PREFIXED}(?:user(?:_?name)?|logname)"
_IDENTIFIER_KEY = rf"{_PREFIXED}(?:(?:client|project|account|tenant|subscription|org(?:anization)?)_?id|account_?name)"
_STORES = r"(?:s3[an]?|gs|gcs|az|abfss?|wasbs?|adl|hdfs|oss|cos|obs|r2|b2|swift|dbfs|nfs|smb)"
_POD_END = "[bcdfghjklmnpqrstvwxz2456789]"
_POD = rf"[a-z0-9][a-z0-9-]{{0,200}}-(?=[a-z]{{0,9}}\d){_POD_END}{{8,10}}-{_POD_END}{{5}}"
"""What Kubernetes calls the pods of a deployment, wherever it stands: its ends are of these letters and digits only."""
_MAC_DASHES = r"(?<![\w-])(?=[0-9-]{0,17}[a-f])(?:[0-9a-f]{2}-){5}[0-9a-f]{2}(?![\w-])"
_MAC_DOTS = r"(?<![\w.])(?=[0-9.]{0,14}[a-f])(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}(?![\w.])"
_LIBRARY = r"(?:cu(?:dnn|blas(?:lt)?|da|fft|rand|sparse|solver|tlass)|nccl|rccl|rocm|tensorrt|driver|version|release)"
_OF = r"(?:[ _-](?:cu\d\d|version|release|library|runtime|toolkit|nvrtc|cupti|frontend|python)){0,3}"
_VERSION = rf"{_LIBRARY}{_OF}{_QUOTE}(?:[<>~=]=|[\s:=(-]{{1,3}})[\"']?(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?!\w|\.\d|:\d)"
"""A version of four parts, which could be an address; after the name of what it is a version of, without a port."""
_ROUTE = r"(?:v\d\w*|api|openai|metrics|health|ready|chat|completions?|models?|generate|embeddings?|query|query_range"
_ROUTES = rf"{_ROUTE}|series|labels?|status|config|prometheus|tokenize|detokenize|ping|version|load|stats|docs"
_ROUTES = rf"{_ROUTES}|oauth2-redirect)"
"""Parts of the paths of servers' own pages, which name nobody's place."""
_PATH_PART = r"[^\s\"'`,:;()<>|\[\]{}/\\=*?&#]"
_HOME = rf"(?:/(?:export/)?(?:home|users)/({_PATH_PART}+)|/root)"
_IS_ROUTE = re.compile(rf"(?:/{_ROUTES})+/?|/(?:inference/)?v\d+/.*", re.I)
_TAKEN_OUT = re.compile(r"[\"']?\[[a-z -]+(?: [0-9a-f]{4,6})?\][\"']?[)\].,;:!}>]*")
_DIGITS = {"id": 6}
"""Hexadecimal digits of a pseudonym, 4 where not stated; a study may have hundreds of identifiers to be told apart."""


def _named(kind: str, value: str) -> str:
    """The kind with the first digits of the value's SHA-256: no state, so that all pages and processes agree."""
    digest = hashlib.sha256(value.lower().encode("utf-8", "surrogatepass")).hexdigest()
    return f"[{kind} {digest[: _DIGITS.get(kind, 4)]}]"


def _says_nothing(value: str) -> bool:
    """Whether a value is a setting that is off, or what an earlier rule or pass left."""
    return value.strip("\\\"'[]()").lower() in _EMPTY or _TAKEN_OUT.fullmatch(value) is not None


def _keep_key(placeholder: str) -> Replace:
    """Replace group 2 unless it says nothing; the key, group 1, stays."""

    def replace(match: re.Match[str]) -> str:
        if _says_nothing(match[2]):
            return match[0]
        quote = match[2][0] if match[2][0] in "\"'" else ""
        return f"{match[1]}{quote}{placeholder}{quote}"

    return replace


def _value_named(kind: str) -> Replace:
    """Replace group 2, the value of a key that holds a name, by its pseudonym; numbers and empty values stay."""

    def replace(match: re.Match[str]) -> str:
        value = match[2].strip("\\\"'")
        if not re.search(r"[A-Za-z]", value) or value.startswith("[") or re.fullmatch(r"[\d.]+ ?[a-z%]{1,2}", value):
            return match[0]
        name, colon, port = value.partition(":")
        if name.lower() in _COMMON_HOSTS | _EMPTY:
            return match[0]
        quote = match[2][0] if match[2][0] in "\"'" else ""
        return f"{match[1]}{quote}{_named(kind, name)}{colon}{port if port.isdecimal() else ''}{quote}"

    return replace


def _host(match: re.Match[str]) -> str:
    host = match[2].rstrip(".")
    return match[0] if host.lower() in _COMMON_HOSTS else f"{match[1]}{_named('host', host)}"


def _address(match: re.Match[str]) -> str:
    """An address; a version, which matches with the word before it, is none."""
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


def _number_named(kind: str, holds: Callable[[str], bool]) -> Replace:
    """Replace group 2, a number with or without blanks and dashes in it, where it is what it seems to be."""

    def replace(match: re.Match[str]) -> str:
        text = re.sub(r"[^0-9a-z]", "", match[2].lower())
        return f"{match[1]}{_named(kind, text)}" if holds(text) else match[0]

    return replace


def _user(match: re.Match[str]) -> str:
    return _named("user", match[1]) if match[1] else "~"


def _path(match: re.Match[str]) -> str:
    """A path keeps its last part; the path of a server's own page stays, and so does what is left of the host."""
    whole = match[2]
    if _IS_ROUTE.fullmatch(whole):
        return match[0]
    last = re.split(r"[/\\]+", whole)[-1]
    return f"{match[1]}{_named('path', whole.removesuffix(last))}/{last}"


def _after_key(text: str) -> Replace:
    return lambda match: f"{match[1]}{text}"


def _rule(kind: str, pattern: str, replace: Replace) -> Rule:
    return kind, re.compile(pattern, (re.I if kind != "token" else 0) | re.S | re.M), replace


RULES: list[Rule] = [
    _rule("secret", _PEM, _constant("[secret]")),
    _rule("secret", _SSH_KEY, _constant("[secret]")),
    _rule("token", _WEB_HOOK, _constant("[token]")),
    _rule("text", r"data:[\w/+.-]{1,80};base64,[\w+/=-]+", _constant("[text]")),
    _rule("text", rf"""((?<![\w.-]){_TEXT_KEY}{_QUOTE}\s?[:=]\s?){_TEXTS}""", _keep_key("[text]")),
    _rule("text", _REQUEST_LINE, _keep_key("[text]")),
    _rule("text", _TOKEN_IDS, _keep_key("[text]")),
    _rule("secret", r"(\b[a-z][a-z0-9+.-]{0,20}://)[^\s/\"'<>]{1,200}@", _after_key("[userinfo]@")),
    _rule("secret", rf"""(\bauthorization{_QUOTE}\s*[:=]\s*)"""
          rf"""({_QUOTED}|(?:bearer|basic|token|digest)\s+[^\s"',}}\\]+|[^\s"',}}\\]+)""", _keep_key("[secret]")),
    _rule("secret", r"""(\b(?:bearer|basic)\s+)([a-z0-9._~+/=-]{16,})""", _keep_key("[secret]")),
    _rule("secret", r"""(\bbearer\s+)((?=[^\s\d]*\d)[a-z0-9._~+/=-]{6,})""", _keep_key("[secret]")),
    _rule("token", rf"(?<![A-Za-z0-9])(?:{_TOKENS})", _constant("[token]")),
    _rule("secret", rf"""({COOKIE}{_QUOTE}\s?[:=]\s?){_COOKIE}""", _keep_key("[secret]")),
    _rule("secret", rf"{_NAME_VALUE}{_VALUE}", _keep_key("[secret]")),
    _rule("secret", rf"({_FLAG})(?!-){_VALUE}{_LISTED_KEYS}{_MORE_KEYS}", _keep_key("[secret]")),
    _rule("secret", rf"""((?<![\w.-]){SECRET_KEY}{_QUOTE}\s{{0,4}}{ASSIGN}\s{{0,4}}){_VALUE}{_LISTED_KEYS}""",
          _keep_key("[secret]")),
    _rule("secret", rf"""({LIKELY_KEY}{_QUOTE}\s?{ASSIGN}\s?)(?!{FIGURE}|\\*["']?<|{{){_VALUE}{_LISTED_KEYS}""",
          _keep_key("[secret]")),
    _rule("secret", rf"""({WORDS_ALONE}[ \t]+)((?=[^\s\d]*\d)(?=[\d_]*[a-z])[\w.~+/=-]{{5,}})""",
          _keep_key("[secret]")),
    _rule("secret", rf"""(^[ \t]*{WORDS_ALONE}[ \t]+)([\w.~+/=-]+)(?=[ \t]*$)""", _keep_key("[secret]")),
    _rule("secret", rf"""((?:^|[^\w\s]\s{{0,4}})token:\s?)(?!{FIGURE}|\\*["']?<){_VALUE}""", _keep_key("[secret]")),
    _rule("secret", rf"""((?<![\w.-])token:\s?)(?!{FIGURE})((?=[^\s\d]*\d)(?=[\d_]*[a-z])[\w.~+/=-]{{5,}})""",
          _keep_key("[secret]")),
    _rule("secret", rf"""((?<![\w.-])(?:token=|["'](?:token|auth)\\*["']\s?:\s?)){_VALUE}""", _keep_key("[secret]")),
    _rule("secret", r"""([?&][\w.-]{0,40}(?:key|sig|token|auth|code|credential|signature)=)([^\s"'&<>]+)""",
          _keep_key("[secret]")),
    _rule("secret", rf"""({SHORT_KEY}(?:=|\\*["']\s?[:=]\s?))(?!{FIGURE}|/){_VALUE}""", _keep_key("[secret]")),
    _rule("secret", r"""((?<![a-z0-9])otp=)(\d{4,})""", _keep_key("[secret]")),
    _rule("secret", r"""((?:\s|^)(?:-u|--user|--proxy-user)[ \t=]+)([^\s"':]+:[^\s"']+)""", _keep_key("[secret]")),
    _rule("secret", r"""(\b(?:sshpass\s+-p\s*|mysql\w*\s[^\n|;&]{0,200}?\s-p))([^\s"']+)""", _keep_key("[secret]")),
    _rule("secret", rf"""({PLURAL_KEY}{_QUOTE}\s{{0,4}}{ASSIGN}\s{{0,4}})(?!{FIGURE}){_VALUE}""",
          _keep_key("[secret]")),
    _rule("secret", rf"({_KEYS_ALONE})({_KEYS_LIST})", _keep_key("[secret]")),
    *(_rule(f"{kind} number", pattern, _number_named(kind, holds)) for kind, pattern, holds in NUMBERS),
    _rule("e-mail", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", _pseudonym("e-mail")),
    _rule("user", r"(?<![\w.@/-])[\w.-]{1,64}@[\w-]{1,63}(?=:[~/])", _pseudonym("user")),
    _rule("ip address", rf"{_VERSION}|(?<![\w.])(?<!==)(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?!\w|\.\d)", _address),
    _rule("ip address", r"(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])", _address),
    _rule("hardware address", r"(?<![\w:])(?:[0-9a-f]{2}:){5,15}[0-9a-f]{2}(?![\w:])", _pseudonym("mac")),
    _rule("hardware address", rf"{_MAC_DASHES}|{_MAC_DOTS}", _pseudonym("mac")),
    _rule("identifier", r"\barn:aws[\w-]{0,20}:[^\s\"',;]+", _pseudonym("id")),
    _rule("identifier", r"\bSHA256:[\w+/]{40,}=?", _pseudonym("id")),
    _rule("path", rf"""(\b{_STORES}://)([^\s"'<>,;\[\]]+)""", _path),
    _rule("host", r"""(://(?:\[userinfo\]@)?)([a-z0-9][a-z0-9.-]{0,253})""", _host),
    _rule("path", rf"""(\[(?:host|ip) [0-9a-f]{{4}}\](?::\d{{1,5}})?)((?:/{_PATH_PART}+){{2,}})""", _path),
    _rule("host", rf"""()(?<![\w/.@-])((?:[a-z0-9][a-z0-9-]{{0,62}}\.){{1,8}}{_SUFFIXES})(?![\w-]|\.\w)""", _host),
    _rule("host", r"()(?<![\w.-])(ip-\d{1,3}(?:-\d{1,3}){3})(?![\w-])", _host),
    _rule("host", rf"()(?<![\w.-])({_POD})(?![\w-])", _host),
    _rule("host", rf"""({_HOST_KEY}{_QUOTE}\s?[=:]\s?){_NAME}""", _value_named("host")),
    _rule("namespace", rf"""({_PREFIXED}namespace{_QUOTE}\s?[=:]\s?){_NAME}""", _value_named("namespace")),
    _rule("user", rf"""({_USER_KEY}{_QUOTE}\s?[=:]\s?){_NAME}""", _value_named("user")),
    _rule("identifier", rf"""({_IDENTIFIER_KEY}{_QUOTE}\s?[=:]\s?){_NAME}""", _value_named("id")),
    _rule("path", rf"(?<![\w])[a-z]:(?:\\{{1,4}}|/)users(?:\\{{1,4}}|/)({_PATH_PART}+)", _user),
    _rule("path", rf"(?<![\w.~\]-])(?<!\w/){_HOME}(?=[/\s\"',:;()<>|]|\Z)", _user),
    _rule("path", r"(?<![\w/.~-])~([a-z_][\w-]{0,31})(?=/)", _user),
    _rule("path", rf"()(?<![\w/.~\]\\)}}-])((?:/{_PATH_PART}+){{2,}})", _path),
    _rule("path", rf"()(?<!\w)([a-z]:\\{{1,4}}(?:{_PATH_PART}+\\{{1,4}})+{_PATH_PART}+)", _path),
    _rule("path", rf"""((?:^|[\s"'=]))(\\\\\\{{0,2}}[\w.-]{{2,}}(?:\\{{1,2}}{_PATH_PART}+)+)""", _path),
    _rule("identifier", r"(?<![a-z0-9])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![a-z0-9])", _pseudonym("id")),
    _rule("identifier", r"(?<![a-z0-9])(?:0x)?(?=[0-9]{0,200}[a-f])[0-9a-f]{32,}(?![a-z0-9])", _pseudonym("id")),
]  # fmt: skip
