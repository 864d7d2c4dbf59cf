"""What a study declares about itself."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.paths import ROOT
from analysis.sources import study_toml
from analysis.sources.files import SourceFile, UnreadableFileError, walk
from analysis.sources.reading import Reading
from analysis.sources.study_keys import KEYS, misfits

SAMPLES = Path(__file__).parents[1] / "samples" / "requests"


def sample(name: str) -> SourceFile:
    return next(f for f in walk(SAMPLES)[0] if f.path == name)


def read(folder: Path, text: str, name: str = "study.toml") -> Reading:
    (folder / name).write_text(text)
    file = walk(folder)[0][0]
    assert study_toml.recognise(file.head(), file.path)
    return study_toml.read(file)


def test_a_recorded_study() -> None:
    reading = study_toml.read(sample("study.toml"))
    facts = {r["key"]: (json.loads(r["value"]), r["line"]) for r in reading.tables["study_facts"]}
    assert facts["question"] == ("the same questions of another engine", 2)
    assert facts["model.quantization"] == ("Q4_K_M", 8)
    assert facts["arms.ctx8k"] == ({}, 10)
    assert facts["boots[0].phases[1].batch_concurrency"] == (1, 33)
    assert facts["boots[3].id"] == ("GC8k", 63)
    boot = reading.tables["declared_boots"][0]
    assert (boot["boot"], boot["arm"], boot["line"]) == ("G512", "ub512", 14)
    assert (boot["start_s"], boot["ready_s"], boot["stop_s"]) == (1795963151.0, 1795963156.0, 1795963344.0)
    assert (boot["exit_status"], boot["loaded"]) == ("0", None)
    assert [(p["boot"], p["phase"], p["end_s"] - p["start_s"]) for p in reading.tables["declared_phases"]] == [
        ("G512", "chat-alone", 40.0),
        ("G512", "batch-alone", 30.0),
        ("G512", "mixed", 99.0),
    ]
    assert reading.unparsed == []


def test_what_a_comparison_cannot_use_is_told(tmp_path: Path) -> None:
    text = '[comparison]\nbase = 3\narms = ["A", 1]\nall_pairs = "yes"\nwhole_systems = true\nbest = "A"\n'
    told = [(u.line, u.what) for u in read(tmp_path, text).unparsed]
    assert told == [
        (2, "study.toml: comparison.base is not a text"),
        (3, "study.toml: comparison.arms is not a list of texts"),
        (4, "study.toml: comparison.all_pairs is not true or false"),
        (6, "study.toml: comparison.best is not known"),
    ]
    assert read(tmp_path, 'comparison = "A"\n').unparsed[0].what == "study.toml: comparison is not a table"
    assert read(tmp_path, '[comparison]\nbase = "A"\narms = ["A"]\nall_pairs = true\n').unparsed == []


def test_recorded_boots() -> None:
    file = sample("boots.jsonl")
    assert study_toml.recognise(file.head(), file.path)
    boots = study_toml.read(file).tables["declared_boots"]
    assert [(b["boot"], b["ready_s"], b["exit_status"], b["loaded"]) for b in boots[:2]] == [
        ("X0-sigterm-during-boot", None, "124", False),
        ("A0-crash", 1795957376.0, "unknown", True),
    ]


def test_nothing_is_lost_and_a_time_without_zone_is_no_time(tmp_path: Path) -> None:
    reading = read(tmp_path, '[own]\nx = [1, 2]\nwhen = 2026-01-02\n[[boots]]\nid = "a"\nstart = 2026-01-02T03:04:05\n')
    assert [(r["key"], r["value"], r["line"]) for r in reading.tables["study_facts"]] == [
        ("own.x", "[1, 2]", 2),
        ("own.when", '"2026-01-02"', 3),
        ("boots[0].id", '"a"', 5),
        ("boots[0].start", '"2026-01-02T03:04:05"', 6),
    ]
    assert reading.tables["declared_boots"][0]["start_s"] is None
    assert [u.what for u in reading.unparsed] == ["declared boot 1: start is not a time with a zone"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = 1\nb =\n", "line 2"),
        ("a = " + "[" * 5000, "nested"),
        ("a = 1\na = 2\n", "line 2"),
        ("a = " + "9" * 9999, "TOML"),
    ],
)
def test_broken_toml_has_a_sentence_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UnreadableFileError, match=says) as error:
        read(tmp_path, text)
    assert "study.toml" in str(error.value)


def test_deep_keys_are_kept_without_a_crash(tmp_path: Path) -> None:
    reading = read(tmp_path, ".".join(["a"] * 3000) + " = 1\n[[boots]]\narm = 1\n")
    assert len(reading.tables["study_facts"]) == 2
    assert [u.what for u in reading.unparsed] == ["declared boot 1: no id"]


def test_a_description_that_is_too_long_is_to_be_shortened(tmp_path: Path) -> None:
    says = r"study.toml: more than 4,194,304 bytes; keep only what docs/formats/study.md lists"
    with pytest.raises(UnreadableFileError, match=says):
        read(tmp_path, 'title = "x"\n' + "# x\n" * (study_toml.MAX_CHARS // 4))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("boots = 5\n", [(1, "study.toml: boots", "5")]),
        ("boots = []\nmargin = 0.05\n[objective]\nmargin = 0.5\n", []),
        ("name = 1\nmargin = 1e300\n", [(2, "study.toml: margin is not a share between 0 and 1", "1e+300")]),
        ('margin = "5 %"\n', [(1, "study.toml: margin is not a share between 0 and 1", "5 %")]),
        ("margin = true\n", [(1, "study.toml: margin is not a share between 0 and 1", "True")]),
        ("[objective]\nmargin = 0\n", [(2, "study.toml: objective.margin is not a share between 0 and 1", "0")]),
        ("[hardware]\ncpus = -4\n", [(2, "study.toml: hardware.cpus is not a number above 0", "-4")]),
        ('hardware = "a GPU"\n', [(1, "study.toml: hardware is not a table", "a GPU")]),
        ("[model]\nparameters = true\n", [(2, "study.toml: model.parameters is not a number above 0", "True")]),
        ('[model]\nweights_bytes = "9 GB"\n', [(2, "study.toml: model.weights_bytes is not a number above 0", "9 GB")]),
        ('model = "a/b"\n', []),
        ("prometheus = 5\n", [(1, "study.toml: prometheus is not a list of addresses (texts)", "5")]),
        ("[energy]\nmeter_error = 1\n", [(2, "study.toml: energy.meter_error is not a share between 0 and 1", "1")]),
        ('[classes.chat]\nfiles = "r/*"\n', [(2, "study.toml: classes.chat.files is not a list of texts", "r/*")]),
        ('[classes]\nchat = "r/*"\n', [(2, "study.toml: classes.chat is not a table", "r/*")]),
        (
            "[objective.classes.chat]\ngoodput_share = 95\nttft_s = 2\n",
            [(2, "study.toml: objective.classes.chat.goodput_share is not a share above 0 and at most 1", "95")],
        ),
        (
            "[objective.limits]\nqueue_s = -1\n",
            [(2, "study.toml: objective.limits.queue_s is not a number from 0", "-1")],
        ),
        (
            '[[figure]]\nkey = "a"\n[[figure]]\nvalues = "b"\n',
            [(4, "study.toml: figure[1].values is not a list of texts", "b")],
        ),
        ("figure = [1]\n", [(1, "study.toml: figure is not a list of tables", "[1]")]),
        ('[[boots]]\nid = "a"\narm = 7\n', [(1, "declared boot 1: arm", "7")]),
        ('[[boots]]\nid = "a"\nmax_model_len = "8k"\n', [(1, "declared boot 1: max_model_len", "8k")]),
        ('[[boots]]\nid = "a"\nfiles = "m/*"\n', [(1, "declared boot 1: files", "m/*")]),
        ('[[boots]]\nid = "a"\nfiles = [1]\n', [(1, "declared boot 1: files is not a list of patterns", "[1]")]),
    ],
)
def test_a_value_of_the_wrong_kind_is_told(tmp_path: Path, text: str, told: list[tuple[int, str, str]]) -> None:
    assert [(u.line, u.what, u.text) for u in read(tmp_path, text).unparsed] == told


NAMES = st.sampled_from([*"ab", *(part for key in KEYS for part in key.split("."))])
LEAVES = st.none() | st.booleans() | st.floats() | st.text()


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)))
def test_whatever_a_study_holds_each_misfit_is_at_a_known_key(value: object) -> None:
    for path, wrong, held in misfits({"classes": value, "objective": value, "figure": value, "comparison": value}):
        generic = re.sub(r"\[\d+\]", "[]", path)
        generic = re.sub(r"^((?:objective\.)?classes\.)[^.]+", r"\1*", generic)
        assert (wrong == "is not known" and path.startswith("comparison.")) or not KEYS[generic].fits(held)


def test_every_key_with_a_kind_is_documented() -> None:
    text = (ROOT / "docs" / "formats" / "study.md").read_text()
    for key in KEYS:
        assert f"`{key.removeprefix('objective.').split('.')[-1].removesuffix('[]')}`" in text or key in text


def test_what_a_study_says_of_itself_is_a_text_or_listed(tmp_path: Path) -> None:
    reading = read(tmp_path, 'name = "a"\ntranscribed = 17\nreconstruction = " "\n')
    told = [(row.line, row.what) for row in reading.unparsed]
    assert sorted(told) == [
        (2, "study.toml: transcribed is not a text"),
        (3, "study.toml: reconstruction is not a text"),
    ]
