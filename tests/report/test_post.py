"""The post: sentences change with the data, other programs read it, and nothing hostile or assumed gets through."""

import json
import re
import shutil
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mistune
import pytest
import yaml

from analysis import paths
from analysis.estimates.estimate import Estimate
from analysis.report import post_head, post_memory, post_rest, post_time
from analysis.report.check import problems
from analysis.report.post import compose, escaped, write
from analysis.report.post_material import Material
from analysis.report.post_parts import Notes, Said
from tests.conftest import run_analysis
from tests.posts import reported
from tests.simulate import Truth

HOSTILE = (
    "<script>alert(1)</script> [x](javascript:alert(2)) `a` *b* _c_ {{< d >}} | ![e](http://f.example/g) & <b> $h$"
)


@pytest.fixture(autouse=True)
def stores_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")


def written(data: Path, out: Path) -> str:
    write(reported(data, out))
    return (out / "post.md").read_text(encoding="utf-8")


def parsed(text: str) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """Front matter, tokens and HTML of a post, as a Markdown library other than ours sees them."""
    _, front, body = text.split("---\n", 2)
    plugins = ["footnotes", "table"]
    tokens = mistune.create_markdown(renderer="ast", plugins=plugins)(body)
    html = mistune.create_markdown(plugins=plugins, escape=False)(body)
    assert isinstance(tokens, list) and isinstance(html, str)
    return yaml.safe_load(front), tokens, html


def kinds(tokens: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [t for token in tokens for t in (token, *kinds(token.get("children", [])))]


def assert_exports(folder: Path, text: str) -> None:
    """What a static-site generator and a plain viewer need of a post."""
    front, tokens, html = parsed(text)
    assert set(front) == {"title", "date", "description", "tags", "image"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(front["date"]))
    assert (folder / front["image"]).is_file()
    every = kinds(tokens)
    assert not [t for t in every if t["type"] in ("block_html", "inline_html")]
    pictures = [t for t in every if t["type"] == "image"]
    assert all((folder / t["attrs"]["url"]).is_file() and t["children"] for t in pictures)
    links = [t["attrs"]["url"] for t in every if t["type"] == "link"]
    assert all((folder / link).is_file() for link in links)
    assert not [t for t in every if t["type"] == "heading" and t["attrs"]["level"] == 1], "the title is front matter's"
    defined, used = set(re.findall(r"^\[\^(\d+)\]: ", text, re.M)), set(re.findall(r"(?<!^)\[\^(\d+)\]", text, re.M))
    assert defined == used
    assert html.count('class="footnotes"') == bool(defined)
    assert html.count('id="fn-') == len(defined)


@pytest.mark.parametrize(
    ("prefill_s", "decode_s", "title", "says", "never"),
    [
        (1, 9, "Decode takes 90.0 % of all recorded request time together", "decode takes most", "refill takes"),
        (9, 1, "Prefill takes 90.0 % of all recorded request time together", "prefill takes most", "ecode takes"),
    ],
)
def test_the_post_flips_with_the_data(
    prefill_s: float, decode_s: float, title: str, says: str, never: str, tmp_path: Path
) -> None:
    data = Truth(prefill_s=prefill_s, decode_s=decode_s).write(tmp_path / "s")
    text = written(data, tmp_path / "report")
    assert parsed(text)[0]["title"] == title
    assert says in text and never not in text
    prefill = "10.0" if prefill_s < decode_s else "90.0"
    assert f"Behind the share are 200 requests; of their own seconds {prefill} % are prefill" in text
    assert_exports(tmp_path / "report", text)


def test_sections_appear_only_where_there_is_something_to_say(tmp_path: Path) -> None:
    full = compose(reported(Truth(refused=1, unmatched=2).write(tmp_path / "a"), tmp_path / "ra"))[0]
    titles = [section.title for section in full]
    assert "The KV arithmetic of a refusal" in titles
    assert "Which published claims stand" not in titles
    for file in (bare := Truth(boots=1).write(tmp_path / "b")).glob("metrics/*/*"):
        file.unlink()
    m = reported(bare, tmp_path / "rb")
    titles = [section.title for section in compose(m)[0]]
    assert titles == ["What was asked", "How the numbers were made", "Limitations", "Data and code", "How to cite"]
    write(m)
    text = (tmp_path / "rb" / "post.md").read_text()
    assert parsed(text)[0]["title"] == "What the files of b can say"
    assert_exports(tmp_path / "rb", text)


def test_the_refusal_is_told_with_its_own_figures(tmp_path: Path) -> None:
    """0.5 GiB and 1.3 GiB at 32,768 tokens, 10,922 would fit: in proportion 0.5 / 1.3 x 32,768 = 12,603."""
    m = reported(Truth(refused=1).write(tmp_path / "s"), tmp_path / "r")
    [section] = [s for s in compose(m)[0] if s.title.startswith("The KV")]
    said = " ".join(s.text for s in section.sentences())
    assert "one request of 32,768 tokens needs 1.30 GiB of cache and 512 MiB were available" in said
    assert "10,922 tokens would have fitted. In proportion to the length it would have been 13,000 tokens" in said
    assert "a proportion is the wrong model" in said


def counted(id: str, value: float, unit: str, verdict: str | None = None, **place: str) -> Estimate:
    return replace(Estimate(value, unit, "census", "m", n=3, reason="census").named(id, "f", **place), verdict=verdict)


@pytest.mark.parametrize(
    ("short_gib", "says"),
    [(9.0, "so the shorter context is not shown to move memory"), (14.0, "and it lies outside them")],
)
def test_a_shorter_context_moves_memory_or_is_not_shown_to(short_gib: float, says: str) -> None:
    gib = {"short": short_gib, "long-1": 8.44, "long-2": 12.08}
    found = [counted("pool.available", g * 2**30, "bytes", boot=b, arm=b.split("-")[0]) for b, g in gib.items()]
    settings = {b: (256 if b == "short" else 768, 8192) for b in gib}
    m: Any = SimpleNamespace(every=lambda id: found, settings=settings)
    [said] = post_memory._context(m)
    assert says in said.text
    assert f"has {short_gib:.2f} GiB available" in said.text and "have 8.44 GiB and 12.08 GiB" in said.text
    m.settings["short"] = (256, 4096)  # two knobs differ: nothing follows
    assert post_memory._context(m) == []


def test_a_range_of_arms_is_noise_only_with_replicates() -> None:
    once = post_memory._span(counted("arms.range", 0.016, "1", "no_replicates", measure="output_throughput"))
    more = post_memory._span(counted("arms.range", 0.016, "1", "different", measure="output_throughput"))
    assert "neither a difference is shown nor equality" in once.text
    assert more.text == "Over 3 arms under one load the output throughput lies 1.60 % apart."


@pytest.mark.parametrize(
    ("shares", "title"),
    [
        ((0.1, 0.2), "Decode takes 80.0 % to 90.0 % of all recorded request time together in 2 runs"),
        ((0.6, 0.9), "Prefill takes 60.0 % to 90.0 % of all recorded request time together in 2 runs"),
        ((0.2, 0.9), "Prefill or decode: that depends on the run"),
        ((0.5,), "Prefill and decode take about the same"),
        ((), ""),
    ],
)
def test_the_title_is_what_all_runs_say(shares: tuple[float, ...], title: str) -> None:
    m: Any = of_shares([counted(post_head.SHARE, share, "1") for share in shares])
    assert post_head._phase(m) == title


def of_shares(shares: list[Estimate], steps: tuple[Estimate, ...] = (), banner: str = "") -> Any:
    return SimpleNamespace(every=lambda id: list(steps) if id == post_head.STEPS else shares, banner=banner)


def test_the_title_has_step_time_beside_request_time_and_a_reconstruction_was_reported() -> None:
    shares = [counted(post_head.SHARE, share, "1") for share in (0.14, 0.14)]
    steps = tuple(counted(post_head.STEPS, share, "1") for share in (0.41, 0.35))
    assert post_head._phase(of_shares(shares, steps)) == (
        "Decode takes 86.0 % of all recorded request time together, and 59.0 % to 65.0 % of the engine's step time in "
        "2 runs"
    )
    assert "of all reported request time" in post_head._phase(of_shares(shares, banner="A reconstruction"))


def test_a_pooled_share_stands_beside_that_of_short_and_long_prompts() -> None:
    place = {"boot": "b", "prompt_tokens": "900 to 2000"}
    found = [counted("length.prefill_share", 0.78, "1", **place),
             counted("length.prefill_share", 0.04, "1", **place | {"prompt_tokens": "30"})]  # fmt: skip
    m: Any = SimpleNamespace(every=lambda id: found)
    [said] = post_time._by_length(m)
    assert said.text == (
        "The share is of the mix that was sent: as clients saw it, prompts of 30 tokens spent 4.00 % in prefill, "
        "prompts of 900 to 2000 tokens 78.0 %."
    )
    assert post_time._by_length(SimpleNamespace(every=lambda id: found[:1])) == []  # type: ignore[arg-type]


def test_a_warning_has_what_it_is_about_as_its_subject() -> None:
    text = "its interval rests on assumed figures: x"
    assert post_rest._caution(text, "prefill share") == "The intervals of prefill share rest on assumed figures: x."
    assert post_rest._caution("tokens lack", "mean rate") == "For mean rate: tokens lack."
    assert post_rest._caution("for both numbers here: x", "") == "For both numbers here: x."


def test_arms_that_ran_once_are_not_tested() -> None:
    found = [counted("arms.ratio", 1.1, "x", "no_replicates", arm=a) for a in "ab"]
    m: Any = SimpleNamespace(every=lambda id: found)
    said = post_memory._untested(m)
    assert said is not None and said.text == "Each arm ran once, so none of the 2 ratios is tested."
    found.append(counted("arms.ratio", 1.1, "x", "different", arm="c"))
    assert post_memory._untested(m) is None


def test_the_title_takes_no_side_where_an_interval_allows_both() -> None:
    wide = replace(counted("time.prefill_share.request_seconds", 0.3, "1"), kind="estimate", low=0.05, high=0.8)
    said = "Which phase takes most of all request time together is not shown: prefill is 30 % [0, 80]"
    assert post_head._phase(of_shares([wide])) == said
    assert post_head._phase(of_shares([wide, wide])).endswith("is not shown: 2 runs allow either")


def test_claims_are_told_with_their_verdicts(tmp_path: Path) -> None:
    data = Truth().write(tmp_path / "s")
    claim = """[[claim]]
id = "{}"
text = "Prefill is {} of it."
published = {}
rounding = 0.005
unit = "1"
estimate = "time.prefill_share.request_seconds"
where = {{ boot = "b1" }}
relation = "equals"
stands = "{}"
"""
    (data / "published.toml").write_text(
        claim.format("P10", "a tenth", 0.1, "reproduced") + claim.format("P9", "half", 0.5, "differs")
        + claim.format("C1", "a tenth", 0.1, "reproduced")
    )  # fmt: skip
    text = written(data, tmp_path / "r")
    tally = "Of 2 published statements, 1 is reproduced, 1 differs, none is not computable and none is not supported. "
    assert tally + "Of 1 checks that the publication did not make, 1 is reproduced" in text
    assert (
        "rounding: published statements P10; checks that the publication did not make C1. Those with an interval for "
        "the service behind them: C1, P10." in text
    )
    assert re.search(r"^\| P9 \| Prefill is half of it\. \| differs \|", text, re.M)
    assert "The files of this reconstruction" not in text


def test_no_assumed_number_carries_a_sentence(tmp_path: Path) -> None:
    m = reported(paths.DATA / "cluster-a", tmp_path / "r")
    assert m.one("rate.prefill.mean") is None and m.is_assumed("rate.prefill.mean")
    assert m.one("pool.tokens", boot="256k") is None and m.one("pool.tokens", boot="768k-a") is not None
    sections, notes = compose(m)
    assert not [e.id for e in notes.estimates.values() for w in e.warnings if w.startswith("rests on assumed")]
    text = written(paths.DATA / "cluster-a", tmp_path / "again")
    assert text.index("A reconstruction: the raw files") < text.index("## ")
    assert "we assumed one and do not use it" in text
    assert "In bursts, by the published figure" in text and "busiest scrape interval" not in text
    assert "a request of 38,000 tokens" in text
    assert "that a client timed by itself" not in text
    assert "of all reported request time" in text and "not replication" in text and "This is about" not in text
    assert "555,000" not in text and "4,000 tokens/s" not in text
    assert parsed(text)[0]["date"].isoformat() == "2026-11-29"
    assert {"Which published claims stand", "The KV arithmetic of a refusal"} <= {s.title for s in sections}


@pytest.mark.parametrize(
    "text", [HOSTILE, "1. one", "- two", "# three", "~~x~~ ^a^ ==b==", "www.evil.example", "=\n---\nx"]
)
def test_what_is_escaped_is_read_literally(text: str) -> None:
    html = mistune.create_markdown(plugins=["url", "table", "strikethrough", "footnotes", "math"])(escaped(text))
    assert isinstance(html, str)
    assert re.fullmatch(r"<p>[^<>]*</p>\n", html)


def test_hostile_texts_stay_texts_and_secrets_stay_out(tmp_path: Path) -> None:
    m = reported(Truth().write(tmp_path / "s"), tmp_path / "r")
    file = tmp_path / "r" / "results.json"
    results = json.loads(file.read_text())
    results["study"] = f'{HOSTILE} "x"\''
    results["takeaways"][0]["sentence"] = f"{HOSTILE} api_key=verysecretvalue123"
    results["takeaways"][0]["next_step"] = HOSTILE
    for e in results["estimates"]:
        e["warnings"] = [HOSTILE]
        e["evidence"] = [{"file": f"{HOSTILE}.log", "line": 1}]
    file.write_text(json.dumps(results))
    write(Material(m.study, m.report))
    text, html = ((tmp_path / "r" / name).read_text() for name in ("post.md", "post.html"))
    assert_exports(tmp_path / "r", text)
    assert "verysecretvalue123" not in text + html
    assert "<script>alert" not in html and "<b>" not in html
    assert [str(p) for p in problems(tmp_path / "r") if p.file.startswith("post")] == []


def test_the_card_has_the_size_that_links_show(tmp_path: Path) -> None:
    written(Truth().write(tmp_path / "s"), tmp_path / "r")
    head = (tmp_path / "r" / "post-card.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", head[16:24]) == (1200, 630)


def test_a_sentence_has_one_note_and_what_is_missing_has_none(tmp_path: Path) -> None:
    m = reported(Truth().write(tmp_path / "s"), tmp_path / "r")
    share = m.one("time.prefill_share.request_seconds")
    assert share is not None
    [missing, *_] = [e for e in m.estimates.values() if e.value is None and e.low is None]
    notes = Notes()
    assert [notes.number(Said("a", rests)) for rests in ((share,), (), (missing,), (share, missing))] == [
        1,
        None,
        None,
        1,
    ]
    assert "metrics/b1/" in notes.texts[0] and " line " in notes.texts[0]


def test_the_command_takes_the_report_there_is(small_study: Path, small_report: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    shutil.copytree(small_report, out)
    before = (out / "index.html").stat().st_mtime_ns
    run = run_analysis("post", str(small_study), "--out", str(out))
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [str(out / "post.html"), str(out / "post.md")]
    assert (out / "index.html").stat().st_mtime_ns == before
    assert [str(p) for p in problems(out) if p.file.startswith("post")] == []
    assert_exports(out, (out / "post.md").read_text())


def test_the_post_of_the_published_investigation(tmp_path: Path) -> None:
    """The whole of it from the files: what it tells, in which order, and at the length of an article."""
    out = tmp_path / "report"
    run = run_analysis("post", "cluster-a", "--out", str(out), timeout=900)
    assert run.returncode == 0, run.stderr
    text = (out / "post.md").read_text()
    assert_exports(out, text)
    assert [str(p) for p in problems(out) if p.file.startswith("post")] == []
    titles = re.findall(r"^## (.*)$", text, re.M)
    assert titles == [
        "What was asked", "What the engine's own accounting says", "Tokens per wall second is load, not prefill speed",
        "What to change first", "The KV arithmetic of a refusal", "The context sweep",
        "Boots of one setting contradict each other", "Which published claims stand", "What to do next",
        "How the numbers were made", "Limitations", "Data and code", "How to cite",
    ]  # fmt: skip
    article = text[text.index("## What was asked") : text.index("## How the numbers were made")]
    prose = [line for line in article.splitlines() if not line.startswith(("|", "!", "*"))]
    assert 900 <= len(" ".join(prose).split()) <= 1600
    assert "555,000" not in text, "an assumed pool is in no sentence, table or picture"
    assert "service behind them: P16. The others" in text
    assert "For a request alone in the engine, free prefill would give 1.15x." in text
    assert "Reproduced: 22 of 29 published statements, 1 of 9 checks" in text and "24 of 38" not in text
