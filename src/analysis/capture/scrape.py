"""One GET of a metric page: bounded in time and size, and refused with a sentence when it is none."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib import error, parse, request

from analysis.capture.folder import CaptureError
from analysis.sources.files import decode
from analysis.sources.prometheus_line import parse_sample
from analysis.sources.prometheus_server import authorisation
from analysis.sources.prometheus_text import recognise

MAX_PAGE_BYTES = 64 << 20
"""Largest page kept; engines' pages have some hundred kilobytes."""
_CHUNK = 1 << 16
_TYPES = ("text/plain", "application/openmetrics-text", "application/json", "")
"""JSON: llama.cpp's server sent its page as one JSON string for a while; what it is, its content must show."""
_COUNTS = re.compile(r"_(total|count)$")


class NoPageError(Exception):
    """What came instead of a page, as a sentence."""


@dataclass(frozen=True, slots=True)
class Target:
    """A page's address, without secrets, and the folder's name that stands for it."""

    url: str
    name: str

    @classmethod
    def of(cls, url: str) -> "Target":
        """From an address as typed; /metrics where it has no path. Raises CaptureError."""
        try:
            parts = parse.urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as fault:
            raise CaptureError(f"URL is not an address ({fault})") from None
        if parts.scheme not in ("http", "https") or not host:
            raise CaptureError("URL begins with http:// or https:// and names a host, as http://127.0.0.1:8000")
        if parts.username is not None or parts.password is not None or parts.query:
            raise CaptureError(
                f"URL of {host} holds a user, a password or a query, which may be secret and would be kept: "
                "set ANALYSIS_CAPTURE_TOKEN, or ANALYSIS_CAPTURE_USER and _PASSWORD, or a netrc entry, and leave it out"
            )
        path = parts.path if parts.path not in ("", "/") else "/metrics"
        place = f"[{host}]" if ":" in host else host
        name = f"{host}-{port}" if port else host
        name += "" if path == "/metrics" else path.replace("/", "-")
        plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:100].strip(".")
        return cls(f"{parts.scheme}://{place}{f':{port}' if port else ''}{path}", plain)


@dataclass(frozen=True, slots=True)
class Scraped:
    """A page as it came, when it began to come, and what shows a restart: process start, and counts by series."""

    data: bytes
    at: datetime
    process_start_s: float | None
    counts: dict[tuple[str, str], float]

    def restarted_since(self, before: "Scraped") -> str | None:
        """What shows that the process is another one than on an earlier page, or None."""
        if self.process_start_s is not None and before.process_start_s is not None:
            if self.process_start_s != before.process_start_s:
                return "the process start changed"
            return None
        fell = [name for (name, labels), value in self.counts.items() if value < before.counts.get((name, labels), 0.0)]
        return f"{len(fell)} counters fell, as {fell[0]}" if fell else None


class _NoRedirect(request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        raise NoPageError(f"it redirects (HTTP {code}); give the address that it leads to")


_OPENER = request.build_opener(_NoRedirect)


def scrape(target: Target, timeout_s: float, stopped: Callable[[], bool] = lambda: False) -> Scraped:
    """Fetch the page now. Raises NoPageError for everything that is no whole metric page within the time."""
    until = time.monotonic() + timeout_s
    headers = {"Accept": "text/plain;version=0.0.4, */*;q=0.1", "User-Agent": "analysis-capture"}
    headers |= authorisation(target.url, "ANALYSIS_CAPTURE")
    try:
        with _OPENER.open(request.Request(target.url, headers=headers), timeout=timeout_s) as answer:
            at = datetime.now(UTC)
            kind = (answer.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
            if kind not in _TYPES:
                raise NoPageError(f"it is {kind[:60]}, not a metric page; does the address end in /metrics?")
            data = _body(answer, until, timeout_s, stopped)
            expected = answer.headers.get("Content-Length")
    except error.HTTPError as refusal:
        with refusal:
            raise NoPageError(f"HTTP {refusal.code} ({refusal.reason})") from None
    except TimeoutError:
        raise NoPageError(f"no whole page within {timeout_s:g} s") from None
    except (error.URLError, OSError, ValueError) as fault:
        reason = getattr(fault, "reason", None) or fault
        slow = isinstance(reason, TimeoutError)
        raise NoPageError(f"no whole page within {timeout_s:g} s" if slow else f"no answer ({reason})") from None
    except NoPageError:
        raise
    except Exception as fault:  # http.client's own: a connection that ends within an answer
        raise NoPageError(f"an answer that broke off ({type(fault).__name__})") from None
    if expected and expected.isdecimal() and len(data) < int(expected):
        raise NoPageError(f"an answer that broke off after {len(data):,} of {int(expected):,} bytes")
    return _checked(data, at)


def _body(answer: Any, until: float, timeout_s: float, stopped: Callable[[], bool]) -> bytes:
    parts, size = list[bytes](), 0
    while part := answer.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > MAX_PAGE_BYTES:
            raise NoPageError(f"more than {MAX_PAGE_BYTES >> 20} MiB; this is no metric page of one engine")
        if time.monotonic() > until:
            raise NoPageError(f"no whole page within {timeout_s:g} s")
        if stopped():
            raise NoPageError("the capture was stopped while the page came")
    return b"".join(parts)


def _checked(data: bytes, at: datetime) -> Scraped:
    text = decode(data)
    if not text.strip():
        raise NoPageError("an empty page")
    if not recognise(text[: 1 << 16], ""):
        raise NoPageError("its content is no metric page (an error text, or another format?)")
    start, counts = None, {}
    for line in text.splitlines():
        sample = None if line.startswith("#") else parse_sample(line)
        if sample is None:
            continue
        if sample.series.name == "process_start_time_seconds":
            start = sample.value
        elif _COUNTS.search(sample.series.name):
            counts[sample.series.name, sample.series.labels] = sample.value
    return Scraped(data, at, start, counts)
