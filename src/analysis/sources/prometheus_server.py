"""Questions to a server with Prometheus' HTTP API (Prometheus, Thanos, Mimir, VictoriaMetrics), asked with care.

Answers are bounded in time and size, asked again after a passing fault, cut into smaller ranges where the server finds
them too large, and what a server says of partial data is kept. Secrets come from the environment or netrc, never from
an address.
"""

import base64
import json
import netrc
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any
from urllib import error, parse, request

TIMEOUT_S = 120.0
ATTEMPTS = 4
"""Times a question is asked before a passing fault counts as an answer."""
MAX_ANSWER_BYTES = 64 << 20
"""Largest answer read (about 600 MB of memory while it is parsed)."""
MAX_POINTS = 10_000
"""Most points a series has in one answer; Prometheus refuses more than 11,000."""
TOKEN, USER, PASSWORD = (f"ANALYSIS_PROMETHEUS_{name}" for name in ("TOKEN", "USER", "PASSWORD"))
_TRANSIENT = (408, 429, 500, 502, 503, 504)

Series = tuple[Mapping[str, str], Sequence[tuple[float, float]]]
"""Labels, and (unix seconds, value) in order of time."""


class ServerError(Exception):
    """A server that did not answer what was asked: one sentence that says what, and what to do."""


class TooLargeError(Exception):
    """An answer that the server, or we, refuse for its size: ask for less at once."""


@dataclass(slots=True)
class Server:
    """One server: `base` is its address without a query, as http://host:9090/prefix."""

    base: str
    warnings: dict[str, int] = field(default_factory=dict)
    """What the server said of its answers (partial data, limits), and how often."""
    questions: int = 0
    received_bytes: int = 0
    wait: Callable[[float], None] = time.sleep

    def names(self, match: str, start: float, end: float) -> list[str]:
        """Metric names of the series that match in a period."""
        found = self._ask(
            "label/__name__/values", [("match[]", match), ("start", f"{start:.3f}"), ("end", f"{end:.3f}")], "GET"
        )
        return sorted(name for name in found if isinstance(name, str)) if isinstance(found, list) else []

    def at(self, query: str, when: float) -> list[Series]:
        """The answer of an instant query."""
        return _series(self._ask("query", [("query", query), ("time", f"{when:.3f}")]))

    def over(self, query: str, start: float, end: float, step: float) -> list[Series]:
        """The answer of a range query at start, start + step, ... end; asked in parts where it is too much at once."""
        steps = round((end - start) / step)
        if steps >= MAX_POINTS:
            return self._halves(query, start, end, step)
        form = [("query", query), ("start", f"{start:.3f}"), ("end", f"{end:.3f}"), ("step", f"{step:.3f}")]
        try:
            # VictoriaMetrics moves start and end to where its cache likes them, unless told not to.
            return _series(self._ask("query_range", [*form, ("nocache", "1")]))
        except TooLargeError as refusal:
            if not steps:
                raise ServerError(f"{self.base}: {refusal}, even for one moment; narrow match=...") from None
            return self._halves(query, start, end, step)

    def _halves(self, query: str, start: float, end: float, step: float) -> list[Series]:
        middle = start + round((end - start) / step) // 2 * step
        parts: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
        for low, high in ((start, middle), (middle + step, end)):
            for labels, points in self.over(query, low, high, step):
                parts.setdefault(tuple(sorted(labels.items())), []).extend(points)
        return [(dict(labels), points) for labels, points in parts.items()]

    def _ask(self, path: str, form: list[tuple[str, str]], method: str = "POST") -> Any:
        """The `data` of an answer. Raises ServerError or TooLargeError."""
        for attempt in range(1, ATTEMPTS + 1):
            self.questions += 1
            try:
                return self._answer(path, form, method)
            except _PassingError as fault:
                if attempt == ATTEMPTS:
                    raise ServerError(
                        f"{self.base}: {fault} ({ATTEMPTS} attempts). Nothing was kept; ask again when it answers."
                    ) from None
                self.wait(fault.after_s or 0.5 * 2**attempt)
        raise AssertionError("unreachable")

    def _answer(self, path: str, form: list[tuple[str, str]], method: str) -> Any:
        body = parse.urlencode(form)
        url = f"{self.base.rstrip('/')}/api/v1/{path}"
        asked = request.Request(
            url if method == "POST" else f"{url}?{body}", data=body.encode() if method == "POST" else None,
            headers={"Accept": "application/json", "User-Agent": "analysis", **authorisation(self.base)},
        )  # fmt: skip
        try:
            with _OPENER.open(asked, timeout=TIMEOUT_S) as answer:
                data = answer.read(MAX_ANSWER_BYTES + 1)
        except error.HTTPError as refusal:
            with refusal:
                raise self._refusal(refusal) from None
        except (error.URLError, OSError, ValueError) as fault:
            raise _PassingError(f"no answer ({getattr(fault, 'reason', None) or fault})") from None
        except ServerError:
            raise
        except Exception as fault:  # http.client's own: a connection that ends within an answer
            raise _PassingError(f"an answer that broke off ({type(fault).__name__})") from None
        if len(data) > MAX_ANSWER_BYTES:
            raise TooLargeError(f"an answer is larger than {MAX_ANSWER_BYTES >> 20} MiB")
        self.received_bytes += len(data)
        return self._data(data)

    def _data(self, data: bytes) -> Any:
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            raise _PassingError("an answer that is no JSON (is this the address of the API?)") from None
        if not isinstance(answer, dict) or answer.get("status") != "success":
            why = answer.get("error") if isinstance(answer, dict) else None
            raise ServerError(f"{self.base}: the server answered without success: {str(why)[:300]}")
        said = [str(text) for key in ("warnings", "infos") for text in answer.get(key) or []]
        if answer.get("isPartial"):
            said.append("the answer is partial: a storage node did not answer")
        for text in said:
            self.warnings[text[:300]] = self.warnings.get(text[:300], 0) + 1
        return answer.get("data")

    def _refusal(self, refusal: error.HTTPError) -> Exception:
        text = refusal.read(4096).decode(errors="replace").strip()
        try:
            text = str(json.loads(text).get("error"))
        except (ValueError, AttributeError):
            text = " ".join(text.split())
        said = f"HTTP {refusal.code}: {text[:300]}"
        if refusal.code in (401, 403):
            return ServerError(
                f"{self.base}: not allowed ({said}). Set {TOKEN}, or {USER} and {PASSWORD}, or a netrc entry."
            )
        large = ("too many", "too large", "exceed", "limit", "maximum resolution", "timed out", "not enough memory")
        if refusal.code in (400, 413, 422, 503) and any(word in text.lower() for word in large):
            return TooLargeError(f"the server refuses the size of an answer ({said})")
        if refusal.code in _TRANSIENT:
            after = refusal.headers.get("Retry-After", "")
            return _PassingError(said, min(float(after), 60.0) if after.isdecimal() else None)
        return ServerError(f"{self.base}: {said}")


class _PassingError(Exception):
    """A fault that may pass: `after_s` is when the server wants to be asked again."""

    def __init__(self, said: str, after_s: float | None = None) -> None:
        super().__init__(said)
        self.after_s = after_s


class _NoRedirect(request.HTTPRedirectHandler):
    """A redirect may lead a secret to another host: it is an error, with its target in the message."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        raise ServerError(f"{req.full_url.partition('?')[0]}: redirects to {newurl}; give that address")


_OPENER = request.build_opener(_NoRedirect)


def authorisation(base: str, prefix: str = "ANALYSIS_PROMETHEUS") -> dict[str, str]:
    """Headers from the environment (<prefix>_TOKEN, _USER and _PASSWORD, _TENANT), else from the host's netrc entry."""
    token, user, password, tenant = (
        os.environ.get(f"{prefix}_{name}") for name in ("TOKEN", "USER", "PASSWORD", "TENANT")
    )
    headers = {"X-Scope-OrgID": tenant} if tenant else {}
    if token:
        return {**headers, "Authorization": f"Bearer {token}"}
    pair = (user, password or "") if user else _netrc_entry(parse.urlsplit(base).hostname or "")
    if pair is None:
        return headers
    return {**headers, "Authorization": "Basic " + base64.b64encode(":".join(pair).encode()).decode()}


def _netrc_entry(host: str) -> tuple[str, str] | None:
    try:
        entry = netrc.netrc(os.environ.get("NETRC") or None).authenticators(host)
    except (OSError, netrc.NetrcParseError):
        return None
    return (entry[0], entry[2] or "") if entry else None


def _series(data: Any) -> list[Series]:
    """The series of a vector or a matrix; points that are no finite number are left out. Raises ServerError."""
    found: list[Series] = []
    try:
        for result in data["result"]:
            pairs = result.get("values", [result["value"]] if "value" in result else [])
            points = [(float(at), float(value)) for at, value in pairs]
            labels = {str(name): str(value) for name, value in result.get("metric", {}).items()}
            finite = [point for point in points if isfinite(point[1])]
            if finite:
                found.append((labels, finite))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise ServerError(
            "the server's answer has not the shape of a query's; is this the address of the API?"
        ) from None
    return found
