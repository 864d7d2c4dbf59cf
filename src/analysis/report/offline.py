"""What a page would fetch or run beside its own two scripts: nothing, or the build stops."""

import re
from html.parser import HTMLParser

_FETCHING = {"src", "srcset", "poster", "data", "action", "formaction", "background", "ping", "manifest"}
_ELSEWHERE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.I)
_OURS = {"assets/figures.js", "assets/search.js"}
_CSS = re.compile(r"@import|url\(\s*['\"]?(?!#|data:)", re.I)


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        if tag in ("iframe", "object", "embed", "base") or (tag == "script" and not _is_ours(dict(attrs))):
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on"):
                self.found.append(f"{tag} {name}")
            fetches = name in _FETCHING or (name in ("href", "xlink:href") and tag != "a")
            if fetches and _ELSEWHERE.match(value or ""):
                self.found.append(f"{tag} {name}={value}")
            if name == "style" and _CSS.search(value or ""):
                self.found.append(f"{tag} style={value}")
            if name == "href" and tag == "a" and re.match(r"\s*(javascript|data|vbscript):", value or "", re.I):
                self.found.append(f"a href={value}")

    def handle_data(self, data: str) -> None:
        if self._style and _CSS.search(data):
            self.found.append("style sheet with @import or url()")

    def handle_endtag(self, tag: str) -> None:
        self._style = False


def _is_ours(script: dict[str, str | None]) -> bool:
    """Whether a script element is one of the report's files, or holds data, which no browser runs."""
    return script.get("src") in _OURS if "src" in script else script.get("type") == "application/json"


def loads(html: str) -> list[str]:
    """Whatever in a page would run a script or fetch something from elsewhere; empty for a page that may be shipped."""
    parser = _Loads()
    parser.feed(html)
    parser.close()
    return parser.found
