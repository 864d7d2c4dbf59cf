"""What the arms answered: lengths, finish reasons, validity, and whether the same input got the same text.

A census of what was recorded. A faster arm whose answers are shorter, or fewer of them valid, is not simply faster.
"""

from difflib import SequenceMatcher

import polars as pl

from analysis.findings.arm_measures import MEASURES
from analysis.findings.arms import PER_CLASS, Arms, Pair

NEAR = 0.9
"""Two texts are near when this share of their characters is in common blocks (Ratcliff and Obershelp)."""
LONGEST = 1000
"""Characters of a text that are compared."""
MOST = 200
"""Pairs of texts that are compared for each pair of arms."""
SAME_PLACE = 0.9
"""Share of places with equal prompt lengths from which two files of one name are taken for the same inputs in order."""
SHORTER, FEWER = 0.05, 0.02
"""Answers are shorter from this share on, fewer of them valid from this many points on."""
_TEXTS = {"arm": pl.String, "class": pl.String}


def answers(arms: Arms) -> pl.DataFrame:
    """One row an arm and class: boots, answers, mean output tokens, shares cut off by length, and valid if judged."""
    placed = arms.answers.join(arms.boots.select("boot", "arm"), on="boot").filter(pl.col("arm").is_in(arms.names))
    found = placed.group_by("arm", "class").agg(
        pl.col("boot").n_unique().alias("boots"), pl.len().alias("answers"),
        pl.col("output_tokens").mean().alias("mean output tokens"),
        (pl.col("finish_reason") == "length").mean().alias("cut off by length"),
        pl.col("valid").cast(pl.Float64).mean().alias("valid"),
    )  # fmt: skip
    return found.sort("class", "arm")


def caveats(arms: Arms, pair: Pair, measure: str, name: str | None, ratio: float | None) -> list[str]:
    """What the faster arm of a pair paid with, as far as is known: shorter answers, fewer valid ones."""
    if measure not in PER_CLASS or ratio is None or ratio == 1:
        return []
    faster, other = (pair[1], pair[0]) if (ratio > 1) == (MEASURES[measure][1] == "more") else pair
    table = {row["arm"]: row for row in answers(arms).filter(pl.col("class") == name).iter_rows(named=True)}
    if faster not in table or other not in table:
        return []
    fast, slow = table[faster], table[other]
    said = []
    length, was = fast["mean output tokens"], slow["mean output tokens"]
    if length is not None and was and length < (1 - SHORTER) * was:
        said.append(
            f"{faster}'s answers are {100 * (1 - length / was):.0f} % shorter ({length:.0f} against {was:.0f} tokens)"
        )
    if fast["valid"] is not None and slow["valid"] is not None and fast["valid"] < slow["valid"] - FEWER:
        said.append(
            f"fewer of {faster}'s answers are valid ({100 * fast['valid']:.0f} % against {100 * slow['valid']:.0f} %)"
        )
    return said


def same_inputs(arms: Arms, of_pairs: list[Pair]) -> pl.DataFrame:
    """One row a pair of arms, and an arm against itself (its boots against each other), by how they answered the same.

    Columns a, b, inputs (that both answered), equal, near (shares of the inputs), length ratio (b over a), found by.
    """
    selves = list(dict.fromkeys((arm, arm) for pair in of_pairs for arm in pair))
    found = [row for pair in [*selves, *of_pairs] if (row := _agreement(arms, pair)) is not None]
    texts = dict.fromkeys(("a", "b", "found by"), pl.String)
    numbers = {"inputs": pl.Int64, **dict.fromkeys(("equal", "near", "length ratio"), pl.Float64)}
    return pl.DataFrame(found, schema={**texts, **numbers}).select(
        "a", "b", "inputs", "equal", "near", "length ratio", "found by"
    )


def _agreement(arms: Arms, pair: Pair) -> dict[str, object] | None:
    matched, ways = [], set[str]()
    for first in arms.of_arm(pair[0]):
        for second in arms.of_arm(pair[1]):
            if pair[0] != pair[1] or first < second:
                way, rows = _matched(arms, first, second)
                matched.append(rows)
                ways |= {way} if rows.height else set()
    every = pl.concat(matched).head(MOST) if matched else pl.DataFrame()
    if every.is_empty():
        return None
    alike = [_likeness(a, b) for a, b in every.select("output_text", "output_text_b").iter_rows()]
    lengths = every.drop_nulls(["output_tokens", "output_tokens_b"])
    first_tokens, second_tokens = (
        float(lengths[c].cast(pl.Float64).sum()) for c in ("output_tokens", "output_tokens_b")
    )
    return {
        "a": pair[0], "b": pair[1], "inputs": len(alike), "equal": sum(x == 1 for x in alike) / len(alike),
        "near": sum(x >= NEAR for x in alike) / len(alike),
        "length ratio": second_tokens / first_tokens if first_tokens else None, "found by": ", ".join(sorted(ways)),
    }  # fmt: skip


def _matched(arms: Arms, first: str, second: str) -> tuple[str, pl.DataFrame]:
    """The answers of two boots to the same input: by the client's ids, else by their place in files of one name."""
    a, b = (arms.answers.filter(pl.col("boot") == boot, pl.col("output_text") != "") for boot in (first, second))
    ids = ["file_name", "input_id", "prompt_tokens"]
    a_ids, b_ids = (part.drop_nulls("input_id").unique(ids, keep="none", maintain_order=True) for part in (a, b))
    by_id = a_ids.join(b_ids, on=ids, suffix="_b", maintain_order="left")
    if by_id.height:
        return "request id and prompt length", by_id.select(_MATCHED)
    places = a.join(b, on=["file_name", "place"], suffix="_b", maintain_order="left")
    same = places.filter(pl.col("prompt_tokens") == pl.col("prompt_tokens_b"))
    kept = same if same.height >= SAME_PLACE * places.height else same.clear()
    return "place in the file and prompt length", kept.select(_MATCHED)


_MATCHED = ["output_text", "output_text_b", "output_tokens", "output_tokens_b"]


def _likeness(a: str, b: str) -> float:
    if a == b:
        return 1.0
    return min(SequenceMatcher(None, a[:LONGEST], b[:LONGEST], autojunk=False).ratio(), 0.999)
