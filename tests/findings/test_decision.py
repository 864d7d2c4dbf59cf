"""The decision record: drafted from one recorded study, held against others; and records that make no sense."""

import json
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from analysis import paths
from analysis.__main__ import main
from analysis.estimates.estimate import Estimate
from analysis.findings import decision, decision_facts, decision_tables
from analysis.findings.decision import Condition, check
from analysis.findings.decision_draft import draft, to_do
from analysis.findings.decision_facts import Fact
from analysis.study import Study


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    monkeypatch.setattr(paths, "REPORTS", tmp_path / "reports")


def copy(tmp_path: Path, name: str) -> Path:
    """A recorded study without its metric pages, which no condition looks at."""
    return Path(shutil.copytree(paths.DATA / name, tmp_path / name, ignore=shutil.ignore_patterns("metrics", "host")))


def verdicts(folder: Path) -> dict[str, str]:
    connection = Study(folder).connection
    record = decision.decision(connection)
    assert record is not None
    return {c.condition.fact: c.verdict for c in check(record, decision_facts.facts(connection))}


def test_facts_are_those_of_the_files(tmp_path: Path) -> None:
    facts = decision_facts.facts(Study(copy(tmp_path, "vllm-cpu-mixed")).connection)
    names = ("engine_version", "max_model_len_tokens", "classes", "driver")
    assert {name: facts[name].values for name in names} == {
        "engine_version": ("0.32.0",), "max_model_len_tokens": (8192.0,), "classes": ("batch", "chat"), "driver": (),
    }  # fmt: skip
    assert facts["longest_prompt_tokens"].values == (5823.0,)
    done = {"batch": 12 + 15 + 8 + 14, "chat": 36 + 16 + 22 + 16}
    assert facts["class_share.chat"].values == (done["chat"] / sum(done.values()),)
    assert facts["driver"].missing == "study.toml does not say hardware.driver"


def test_round_trip_over_recorded_studies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixed, iterations, other = (copy(tmp_path, n) for n in ("vllm-cpu-mixed", "vllm-cpu-iterations", "llamacpp"))
    assert main(["decide", str(mixed), "--arm", "mnbt512"]) == 0
    written = tomllib.loads((mixed / "decision.toml").read_text())
    assert written["chosen"]["arm"] == "mnbt512"
    assert "batch 512" in written["chosen"]["setting"]
    assert set(verdicts(mixed).values()) == {"not_come_true"}
    for later in (iterations, other):
        assert main(["decide", str(later), "--from", str(mixed)]) == 0
    said = capsys.readouterr().out
    assert "4 of 12 retest conditions" in said
    true = {fact for fact, verdict in verdicts(iterations).items() if verdict == "come_true"}
    assert true == {"longest_prompt_tokens", "longest_output_tokens", "class_share.batch", "class_share.chat"}
    found = verdicts(other)
    assert {fact for fact, verdict in found.items() if verdict == "come_true"} == {
        "engine", "model", "max_model_len_tokens", "longest_output_tokens",
    }  # fmt: skip
    assert {fact for fact, v in found.items() if v == "cannot_tell"} == {"engine_version", "kv_dtype", "cpu"}


def test_a_record_that_is_there_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = copy(tmp_path, "llamacpp")
    (folder / "decision.toml").write_text("date = 'mine'\n")
    assert main(["decide", str(folder)]) == 1
    assert "was left as it is; FORCE=1 replaces it" in capsys.readouterr().err
    assert (folder / "decision.toml").read_text() == "date = 'mine'\n"
    assert main(["decide", str(folder), "--force"]) == 0
    assert "[[retest]]" in (folder / "decision.toml").read_text()
    assert main(["decide", str(folder), "--force", "--arm", "no such"]) == 1
    other = copy(tmp_path, "vllm-cpu-mixed")
    assert main(["decide", str(folder), "--force", "--from", str(other)]) == 1
    assert f"make decide DATA={other} writes it" in capsys.readouterr().err


def read(tmp_path: Path, text: bytes) -> Study:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "b.log").write_text("INFO 01-01 00:00:01 [api_server.py:1] vLLM API server version 0.9.2\n"
                                  "INFO:     Application startup complete.\n")  # fmt: skip
    (folder / "decision.toml").write_bytes(text)
    return Study(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"date = 5\n", "date is not a text"),
        (b'date = "soon"\n', "date is not a day as 2026-11-30"),
        (b'date = "2026-11-30"\n', None),
        (b"date = 2026-11-30\n", None),
        (b'date = "write here"\n', "date is missing"),
        (b'date = "2026-11-30"\nworkload = ["chat"]\n', "workload is not a text"),
    ],
)
def test_a_text_of_a_record_that_is_none_is_listed(text: bytes, said: str | None, tmp_path: Path) -> None:
    record = decision.decision(read(tmp_path, text).connection)
    assert record is not None
    assert [p for p in record.problems if "date" in p or "workload" in p][:1] == ([said] if said else [])


@pytest.mark.parametrize("text", [b"date = = 1", b"\x00\xff", b"a = " + b"[" * 5000, b"x = 1\nx = 2\n"])
def test_a_broken_record_is_a_sentence(tmp_path: Path, text: bytes) -> None:
    connection = read(tmp_path, text).connection
    assert decision.decision(connection) is None
    said = decision_tables.sentence(None, [], decision.unreadable(connection))
    assert said.startswith("The decision record cannot be read: decision.toml: ")


HOSTILE = b"""
date = 2026-01-01
objective = "<script>alert(1)</script>"
reasoning = "write here"
retest = [
  { name = "no rule", fact = "engine" },
  { name = "no list", fact = "engine", rule = "not_in", values = "vllm" },
  { name = "no number", fact = "engine", rule = "above", high = "many" },
  { name = "upside down", fact = "requests_at_once", rule = "outside", low = 2, high = 1 },
  { name = "infinite", fact = "requests_at_once", rule = "below", low = inf },
  { name = "no such fact", fact = "moon", rule = "above", high = 1 },
  { name = "a text", fact = "engine", rule = "above", high = 1 },
  { name = "fine", fact = "engine", rule = "not_in", values = ["sglang"] },
]
"""


def test_what_makes_no_sense_is_listed_and_the_rest_is_checked(tmp_path: Path) -> None:
    connection = read(tmp_path, HOSTILE).connection
    record = decision.decision(connection)
    assert record is not None
    assert [p.partition(":")[0] for p in record.problems] == [
        "reasoning is missing", "nothing is chosen yet ([chosen] arm or setting)", "no rule", "no list", "no number",
        "upside down", "infinite",
    ]  # fmt: skip
    checked = check(record, decision_facts.facts(connection))
    assert [(c.condition.name, c.verdict) for c in checked] == [
        ("no such fact", "cannot_tell"), ("a text", "cannot_tell"), ("fine", "come_true"),
    ]  # fmt: skip
    assert checked[2].said == "engine is vllm; retest when not in sglang"
    assert decision_tables.sentence(record, checked, None) == (
        "1 of 3 retest conditions of the decision of 2026-01-01 have come true: "
        "fine (engine is vllm; retest when not in sglang); 2 cannot be told from these data."
    )
    estimates = decision.estimates(record, checked)
    assert [e.value for e in estimates] == [None, None, 1, 1]


@pytest.mark.parametrize(
    ("rule", "value", "verdict"),
    [("above", 2.0, "not_come_true"), ("above", 2.1, "come_true"), ("below", 1.0, "not_come_true"),
     ("below", 0.9, "come_true"), ("outside", 1.5, "not_come_true"), ("outside", 2.5, "come_true"),
     ("outside", 0.5, "come_true"), ("not_in", 3.0, "not_come_true"), ("not_in", 4.0, "come_true")],
)  # fmt: skip
def test_rules(rule: str, value: float, verdict: str) -> None:
    condition = Condition("c", "f", rule, (3.0,), 1.0, 2.0)
    record = decision.Decision("d", conditions=(condition,))
    assert [c.verdict for c in check(record, {"f": Fact("f", "", (value,))})] == [verdict]


def test_a_draft_is_toml_whatever_the_data_hold(tmp_path: Path) -> None:
    nasty = 'a"b\\c\n\x00\x7f\ud800</script>'
    facts = {
        name: Fact(name, nasty, (nasty, 1e300, 2.5), nasty) for name in ("engine", "objective", "longest_prompt_tokens")
    }
    facts |= {name: Fact(name, nasty, (), nasty) for name in ("longest_output_tokens", "requests_at_once")}
    facts["longest_prompt_tokens"] = Fact("longest_prompt_tokens", nasty, (7.0,), rule="above")
    values = tomllib.loads(draft("2026-01-01", facts, {nasty: nasty}, None, [nasty, "two"]))
    assert values["chosen"]["arm"].startswith('a"b\\c\n')
    assert values["retest"][0]["values"][1:] == [1e300, 2.5]
    assert values["retest"][-1]["high"] == 7


def test_what_is_printed_says_which_fields_to_fill_in_and_the_command_that_comes_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy(tmp_path, "vllm-cpu-mixed")
    place = paths.REPORTS / folder.name
    assert main(["decide", str(folder)]) == 0
    said = [
        f"{folder}/decision.toml", "This is a draft. Fill in:",
        "   [chosen] arm and setting: what was chosen, one of mnbt512, mnbt8192",
        "   objective: what it was decided for (study.toml declares none)",
        "   reasoning: write it (make report first, then FORCE=1, quotes what was found)",
        "Look through the 12 retest conditions: keep those that would make you measure again.",
        f"Then: make report DATA={folder}; its page “The decision” says what has come true.",
    ]  # fmt: skip
    assert capsys.readouterr().out.splitlines() == said
    sure = Estimate(1.0, "1", "census", "m").named("a", "f")
    rests = [{"id": "a", "qualifiers": {}}]
    takeaways = [
        {"sentence": "Torn.", "page": "10-inventory", "contradiction": True, "estimates": []},
        {"sentence": "Not this.", "page": "80-decision", "next_step": "x", "estimates": rests},
        {"sentence": "Pool.", "page": "40-token-pool", "next_step": "Boot.", "estimates": rests},
        {"sentence": "Lever.", "page": "25-levers", "next_step": "Try.", "estimates": rests},
        {"sentence": "Third.", "page": "50-arms", "estimates": rests},
        {"sentence": "Unsure.", "page": "60-mixed-traffic", "estimates": []},
        {"sentence": "Files.", "page": "10-inventory", "supporting": True, "estimates": rests},
    ]  # fmt: skip
    place.mkdir(parents=True)
    (place / "results.json").write_text(json.dumps({"estimates": [sure.to_json()], "takeaways": takeaways}))
    assert main(["decide", str(folder), "--force", "--arm", "mnbt512"]) == 0
    reasoning = tomllib.loads((folder / "decision.toml").read_text())["reasoning"]
    assert reasoning == "Lever. Torn. Pool. Also in the report: 50-arms, 60-mixed-traffic."
    assert capsys.readouterr().out.splitlines() == [
        *said[:2], said[3], "   reasoning: say why in your words; it quotes what the report found first", *said[5:],
    ]  # fmt: skip


def test_of_many_arms_some_are_named() -> None:
    facts = {"objective": Fact("objective", "", ("x",))}
    facts |= {n: Fact(n, "", ()) for n in ("longest_prompt_tokens", "longest_output_tokens", "requests_at_once")}
    arms = ["a\x1b[31m", *"bcdefghij"]
    text = draft("2026-01-01", facts, dict.fromkeys(arms, "s"), None, [])
    assert to_do(text, arms, "my study")[1:] == [
        "   [chosen] arm and setting: what was chosen, one of a [31m, b, c, d, e, f, g, h and 2 more",
        "   reasoning: write it (make report first, then FORCE=1, quotes what was found)",
        "Look through the 1 retest condition: keep those that would make you measure again.",
        "Then: make report DATA='my study'; its page “The decision” says what has come true.",
    ]


def test_no_record_says_how_to_write_one(tmp_path: Path) -> None:
    assert decision.decision(Study(copy(tmp_path, "llamacpp")).connection) is None
    assert decision_tables.sentence(None, [], None).startswith("No decision was written down")
    assert "make decide" in decision_tables.next_step(None, [])


def test_an_unfinished_draft_of_which_nothing_has_come_true_is_no_finding(tmp_path: Path) -> None:
    folder = copy(tmp_path, "vllm-cpu-mixed")
    assert main(["decide", str(folder)]) == 0
    connection = Study(folder).connection
    record = decision.decision(connection)
    assert record is not None
    facts = decision_facts.facts(connection)
    assert record.problems  # nothing is chosen yet
    assert decision_tables.is_draft(record, check(record, facts))
    assert decision_tables.is_draft(None, [])
    changed = [replace(c, verdict="come_true") for c in check(record, facts)]
    assert not decision_tables.is_draft(record, changed)
