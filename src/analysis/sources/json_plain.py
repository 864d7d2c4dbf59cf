"""What `Fields` takes as it stands, as types of a decoder: text that holds nothing odd is read and checked at once.

What these types refuse is not wrong yet: `Fields` judges it. What they do not name is passed over, unread.
"""

import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from analysis.sources.files import SourceFile
from analysis.sources.json_text import MAX_CONTAINERS, MAX_COUNT, MAX_DOCUMENT_CHARS, Fields

Check = Callable[[Fields, str], Any]
"""A method of `Fields`: number, numbers, duration, durations, count, text or words."""
Checks = Mapping[str, Check]
"""What is to be found under each key. A key "a.b" is b of the object a."""
_LOOKED_AT = 1 << 18
_MOST, _BEYOND = sys.float_info.max, 2.0**63
Number = Annotated[float, Meta(gt=-_BEYOND, lt=_BEYOND)]
Numbers = list[Annotated[float, Meta(ge=-_MOST, le=_MOST)]]
Duration = Annotated[float, Meta(ge=0, lt=_BEYOND)]
Durations = list[Annotated[float, Meta(ge=0, le=_MOST)]]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
HttpStatus = Annotated[int, Meta(ge=100, le=599)]
TYPES: dict[Check, Any] = {
    Fields.number: Number, Fields.numbers: Numbers, Fields.duration: Duration, Fields.durations: Durations,
    Fields.count: Count, Fields.text: str, Fields.words: Any,
}  # fmt: skip
"""By check. A text may hold NUL all the same."""
ODD = (ValueError, TypeError, OverflowError, RecursionError)
"""What is raised where a value is odd: by a decoder, by Arrow, by an encoder."""


def plain_document(file: SourceFile) -> bytes:
    """The text of the one JSON value of a file, unread; nothing where it has more lists and objects than are made."""
    text, count = file.whole(MAX_DOCUMENT_CHARS), 0
    for at in range(0, len(text), _LOOKED_AT):
        part = np.frombuffer(text, "u1", min(_LOOKED_AT, len(text) - at), at)
        count += int(np.count_nonzero(part & 0xDF == ord("[")))  # [ and { differ in that bit
    return text.removeprefix(BOM_UTF8) if count <= MAX_CONTAINERS else b""
