"""Quotes are cut between words."""

from analysis.sources.reading import MAX_QUOTE, cut


def test_a_quote_never_ends_inside_a_word() -> None:
    assert cut("a" * MAX_QUOTE) == "a" * MAX_QUOTE
    assert cut("a b" + "c" * MAX_QUOTE) == "a …"
    assert cut('{"a":"' + "c" * MAX_QUOTE) == '{"a":"…'
    assert cut("x " * MAX_QUOTE) == "x " * 199 + "…"
    assert cut("k" * (MAX_QUOTE + 1)) == "k" * MAX_QUOTE
    assert len(cut("word " * 1000)) <= MAX_QUOTE
