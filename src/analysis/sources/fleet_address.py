"""DATA=prometheus+http://host:9090/?match=...&start=...&end=...: what a fleet's address asks for."""

import re
import time
from dataclasses import dataclass
from datetime import datetime
from urllib import parse

from analysis.sources.prometheus_server import PASSWORD, TOKEN, USER, ServerError

SCHEMES = ("prometheus+http://", "prometheus+https://")
KEYS = ("match", "start", "end", "window", "by", "replica", "resolution", "lookback")
MOST_WINDOWS = 100_000
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(\d{1,9})([smhdw])")
_VALUE = r'"(?:[^"\\]|\\.)*"'
_MATCHER = rf"\s*[a-zA-Z_]\w*\s*(?:=~|!~|!=|=)\s*{_VALUE}\s*"
_MATCH = re.compile(rf"{_MATCHER}(?:,{_MATCHER})*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class Address:
    """A server, a selection of series, a period and how it is cut.

    `base` is the server's address; `match` are label matchers without braces; `start` and `end` are unix seconds.
    `window` is the length of one interval in seconds, None to choose; `by` the labels by which runs are told apart,
    None to choose; `replica` the labels that name a replica; `resolution` (None: half a scrape interval) is how finely
    restarts are looked for; `lookback` how long a series may be silent within a replica's life.
    """

    base: str
    match: str
    start: float
    end: float
    window: int | None
    by: tuple[str, ...] | None
    replica: tuple[str, ...]
    resolution: int | None
    lookback: int
    moves: bool
    """Whether start or end were given relative to now."""

    @property
    def canonical(self) -> str:
        """The address as it is kept: times absolute, no secrets (there are none), options in a fixed order."""
        pairs = [("match", self.match), ("start", f"{self.start:.0f}"), ("end", f"{self.end:.0f}"),
                 ("window", _text(self.window)), ("by", ",".join(self.by) or "none" if self.by is not None else ""),
                 ("replica", ",".join(self.replica)), ("resolution", _text(self.resolution)),
                 ("lookback", _text(self.lookback))]  # fmt: skip
        return f"prometheus+{self.base}?{parse.urlencode([pair for pair in pairs if pair[1]])}"


def is_address(data: str) -> bool:
    """Whether DATA is a server's address rather than a folder."""
    return data.startswith("prometheus+")


def parse_address(data: str, now: float | None = None) -> Address:
    """The address in parts. Raises ServerError with one sentence for what is missing or not understood."""
    if not data.startswith(SCHEMES):
        raise ServerError(f"DATA={_bare(data)}: begin with {' or '.join(SCHEMES)}")
    try:
        url = parse.urlsplit(data.removeprefix("prometheus+"))
        port = f":{url.port}" if url.port else ""
    except ValueError as fault:
        raise ServerError(f"DATA={_bare(data)}: not an address ({fault})") from None
    if url.username is not None or url.password is not None:
        raise ServerError(
            f"DATA holds a user or a password, which would be kept with the study: set {USER} and {PASSWORD}, "
            f"or {TOKEN}, or a netrc entry, and leave it out"
        )
    if not url.hostname:
        raise ServerError(f"DATA={_bare(data)}: no host in it")
    given = parse.parse_qs(url.query, keep_blank_values=True)
    if unknown := sorted(set(given) - set(KEYS)):
        raise ServerError(f"DATA has {', '.join(unknown)}=, which is not known; known are {', '.join(KEYS)}")
    if repeated := sorted(key for key, values in given.items() if len(values) > 1):
        raise ServerError(f"DATA has {', '.join(repeated)}= more than once")
    return _checked(
        f"{url.scheme}://{_host(url.hostname)}{port}{url.path or '/'}",
        {key: values[0].strip() for key, values in given.items()},
        time.time() if now is None else now,
    )


def _checked(base: str, given: dict[str, str], now: float) -> Address:
    for key in ("match", "start", "end"):
        if not given.get(key):
            raise ServerError(f'DATA lacks {key}=: prometheus+http://host:9090/?match=job="vllm"&start=...&end=...')
    match = given["match"].removeprefix("{").removesuffix("}").strip().rstrip(",")
    if not _MATCH.fullmatch(match):
        raise ServerError(f'match={match[:200]}: give label matchers, as job="vllm",cluster=~"eu-.*"')
    start, end = (_time(given[key], key, now) for key in ("start", "end"))
    if not start < end:
        raise ServerError("start= is not before end=")
    window = _duration(given["window"], "window") if given.get("window") else None
    if window and (end - start) / window > MOST_WINDOWS:
        raise ServerError(f"more than {MOST_WINDOWS:,} windows: give a longer window= or a shorter period")
    by = given.get("by")
    return Address(
        base, match, start, end, window, None if not by else () if by == "none" else _labels(by, "by"),
        _labels(given.get("replica") or "instance", "replica"),
        _duration(given["resolution"], "resolution") if given.get("resolution") else None,
        _duration(given.get("lookback") or "5m", "lookback"), any("now" in given[key] for key in ("start", "end")),
    )  # fmt: skip


def _text(seconds: int | None) -> str:
    return f"{seconds}s" if seconds else ""


def _bare(data: str) -> str:
    """The address without what may be secret in it."""
    return re.sub(r"//[^/@]*@", "//", data.partition("?")[0])[:200]


def _host(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _labels(text: str, key: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if wrong := [name for name in names if not _LABEL.fullmatch(name)]:
        raise ServerError(f"{key}={text[:100]}: {wrong[0]!r} is not the name of a label")
    return names


def _duration(text: str, key: str) -> int:
    match = _DURATION.fullmatch(text)
    if not match or not int(match[1]):
        raise ServerError(f"{key}={text[:40]}: give a duration as 30s, 5m, 1h or 1d")
    return int(match[1]) * _UNITS[match[2]]


def _time(text: str, key: str, now: float) -> float:
    """Unix seconds of unix seconds, an ISO time with its zone, now, or now-1h."""
    if text == "now":
        return now
    if text.startswith("now-"):
        return now - _duration(text.removeprefix("now-"), key)
    if re.fullmatch(r"\d{9,10}(\.\d{1,3})?", text):
        return float(text)
    try:
        # A plus in an address is a blank once it is decoded.
        moment = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ServerError(
            f"{key}={text[:40]}: give unix seconds, an ISO time with its zone (2026-11-29T13:00:00Z) or now-1h"
        )
    return moment.timestamp()
