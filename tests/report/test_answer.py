"""The answer block: sentence, number, and how it was obtained."""

import re
from pathlib import Path

from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.report.answer import anchor, answer
from analysis.report.labels import LABELS


def test_the_block_has_all_that_an_estimate_says() -> None:
    estimate = Estimate(
        0.69, "1", "estimate", "block bootstrap", 0.64, 0.74, 0.95, 41, "scrape intervals", "intervals <exchangeable>",
        warnings=("torn page",), evidence=tuple(Evidence("a.prom", line) for line in range(1, 15)),
    ).named("time.prefill_share.request_seconds", "prefill share", boot="b 1")  # fmt: skip
    html = answer("Prefill & more.", estimate)._repr_html_()
    for part in (
        "<p class=\"takeaway\">Prefill &amp; more.</p>", "69 % [64, 74]", "<dt>Method</dt><dd>block bootstrap</dd>",
        "intervals &lt;exchangeable&gt;", "<dt>Confidence</dt><dd>95 %</dd>", "<dt>n</dt><dd>41 scrape intervals</dd>",
        "<li>torn page</li>", "<b>a.prom, line 12</b>", "and 2 more: see results.json",
        '<span class="name">prefill share of prefill and decode time (boot b 1)</span>',
        'id="n-time-prefill-share-request-seconds-boot-b-1-dc6794"',
    ):  # fmt: skip
        assert part in html
    assert "line 13" not in html


def test_a_warning_is_said_once_after_the_numbers_with_those_it_is_about() -> None:
    made = [Estimate(1.0, "1", "census", "m").named("pool.tokens", "f", boot=b) for b in ("1", "2", "3")]
    both = [e.with_warnings("torn page") if e.qualifiers["boot"] != "3" else e for e in made]
    html = answer("s", *both).html
    assert html.endswith(
        '<ul class="warnings"><li>torn page – this is about token pool (boots 1, 2)</li></ul></section>'
    )
    assert answer("s", *both[:2]).html.endswith("<li>for both numbers here: torn page</li></ul></section>")


def test_a_missing_number_says_why() -> None:
    html = answer("Not known.", not_computable("1", "no iteration log").named("x", "step share")).html
    assert "not computable: no iteration log" in html


def test_estimates_with_other_qualifiers_have_other_anchors() -> None:
    made = [Estimate(1.0, "1", "census", "m").named("a", "f", boot=b) for b in ("1", "2")]
    assert anchor(made[0]) != anchor(made[1])


def test_every_documented_id_has_words_and_every_word_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    ids = text.split("\n## Ids\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`([a-z_]+\.[a-z_]+[a-z_.]*)`", ids)) == set(LABELS)


def test_names_that_look_alike_have_anchors_of_their_own() -> None:
    names = ["a", "A", "qwen2.5", "qwen2-5", "a b", "a-b", "\u6a21\u578b\u4e00", "\u6a21\u578b\u4e8c", "a/b"]
    made = [Estimate(1.0, "1", "census", "m").named("pool.tokens", "f", boot=name) for name in names]
    assert len({anchor(e) for e in made}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", anchor(e)) for e in made)
    assert anchor(made[1]) == "n-pool-tokens-boot-A"
