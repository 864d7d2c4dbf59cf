"""What of a long answer stands out: no word is lost or changed."""

import pytest

from analysis.report.headline import divided

PREFILL = (
    "Of all request-seconds together, decode takes most in each of 5 runs with an interval: prefill is 6 % [3, 12] to "
    "11 % [4, 25] of prefill and decode request-seconds; by clients' clocks 3.6 % [2.1, 6.1] to 14 % [5, 33] of chat."
)
LEVER = (
    "Which change would give most is not known yet: requests overlap, or may, and their waiting for each other's "
    "prefill is booked as decode, so what a free prefill would give cannot be told."
)
BLOCKS = (
    "In B1 (prompts of up to 5,977 tokens; a step may hold 8,192, so it would not cut them) and C1 (prompts of up to "
    "1,862 tokens: a step may hold 2,048) a long prompt was not cut, and every stream stood still until it was done."
)
TWICE = (
    "2 boots of one setting (arm 768k) disagree by 39.8 % on what a longest request takes: either the printed memory "
    "did not size the pools, or the boots differ in something their logs do not print at all; no figure can be had."
)


@pytest.mark.parametrize(
    ("said", "head"),
    [
        ("Decode takes most. It is 9 %. So be it.", "Decode takes most."),
        ("Decode takes most: prefill is 9 %; chat 3 %.", "Decode takes most: prefill is 9 %; chat 3 %."),
        (PREFILL, PREFILL[: PREFILL.index(" by clients")]),
        (LEVER, "Which change would give most is not known yet:"),
        (BLOCKS, BLOCKS),
        (TWICE, TWICE[: TWICE.index(" either")]),
        (
            "Found: " + "a fallback of the kernel, " * 8 + "; nothing else.",
            "Found: " + "a fallback of the kernel, " * 8 + ";",
        ),
        ("Found: " + "a fallback of the kernel, " * 8, "Found: " + "a fallback of the kernel, " * 8),
        ("", ""),
    ],
)
def test_the_headline_of_a_long_sentence_is_its_first_part(said: str, head: str) -> None:
    parts = divided(said)
    assert parts[0] == head.rstrip(";:")
    assert " ".join(filter(None, (head, *parts[1:]))) == said


def test_the_second_sentence_is_read_with_the_headline_and_the_others_can_wait() -> None:
    assert divided("One is 1. Two is 2. Three is 3. Four.") == ("One is 1.", "Two is 2.", "Three is 3. Four.")
    assert divided(f"{LEVER} Two is 2. Three is 3.")[1:] == (f"{LEVER[47:]} Two is 2.", "Three is 3.")
