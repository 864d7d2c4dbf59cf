"""Names that become file names and anchors."""

import re
from hashlib import sha256

PAGE = "ANALYSIS_PAGE"
"""Environment variable that names the notebook which a kernel of the report runs: its results are kept under it."""
NUMBERS = "numbers"
"""The page that has every number of a report under its anchor."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


def checked_name(name: str) -> str:
    """The name itself when it can be a file name and an anchor; ValueError otherwise (it comes from our own code)."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise ValueError(f"{name!r} cannot name a figure or table: use lower case letters, digits, '-', '_' and '.'")
    return name


def slug(*parts: str) -> str:
    """An anchor made from any text: lower case, what is not a letter or digit as '-'."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(parts).lower()).strip("-") or "x"


def part(text: str) -> str:
    """A name as a part of an anchor: as it is, or with digits of its digest where others would look alike."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")
    return plain if plain == text else f"{plain}-{sha256(text.encode()).hexdigest()[:6]}".lstrip("-")
