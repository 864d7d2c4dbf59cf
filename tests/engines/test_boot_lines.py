"""The tables of what engines print: well formed, reachable, and linear in time."""

from pathlib import Path

import pytest

from analysis.engines.boot_lines import BootLine, load
from analysis.sources.boot_match import match
from analysis.sources.log_lines import MAX_TEXT
from tests.by_length import reads_by_length

LINES = load().lines
IDS = [f"{line.engine or 'common'}-{line.id}-{index}" for index, line in enumerate(LINES)]


def test_every_engine_has_a_table() -> None:
    assert set(load().resolve) == {"", "vllm", "sglang", "llama.cpp", "tgi", "tensorrt-llm", "lmdeploy"}


@pytest.mark.parametrize("line", LINES, ids=IDS)
def test_keys_are_plain_text_that_survives_wrapping(line: BootLine) -> None:
    for literal in (*line.keys, *line.literals):
        assert len(literal) >= 2
        assert not set(literal) & set('"\\\t\n\r'), "a JSON record would escape it"


FILLINGS = ("0", "0,", "a ", "=, ", "GiB (", "1.0 GiB, ", "'x': [", "seqs ", "_", ".")


@pytest.mark.parametrize("line", LINES, ids=IDS)
def test_a_hostile_line_takes_time_by_its_length(line: BootLine) -> None:
    for filling in FILLINGS:
        many = filling * (MAX_TEXT // len(filling))
        assert reads_by_length(line.rest.match, lambda length, many=many: many[:length], MAX_TEXT)


def test_a_line_of_nothing_but_keys_takes_time_by_its_length() -> None:
    keys = "".join(key for line in LINES for key in line.keys) * 10
    assert reads_by_length(lambda text: match(1, text), lambda length: keys[:length], MAX_TEXT)


def test_facts_that_columns_are_taken_from_exist() -> None:
    stated = {name for line in LINES for name in line.rest.groupindex}
    prefixes = {line.settings for line in LINES if line.settings}
    for engine, rules in load().resolve.items():
        named = [n for value in rules.values() if isinstance(value, list) for n in value]
        flat = [n for value in named for n in (value if isinstance(value, list) else [value])]
        for name in flat:
            assert name in stated or name.split(".")[0] in prefixes, (engine, name)


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ('id = "x"\npurpose = "pool"\nkey = "k"\nrest = "(?P<a>{N}"', "x"),
        ('id = "x"\npurpose = "poool"\nkey = "k"', "poool"),
        ('id = "x"\npurpose = "pool"\nkey = "k"\nunits = { a = "s" }', "do not exist"),
        ('id = "x"\npurpose = "pool"\nkey = "k"\nrest = "(?P<a>{N})"\nunits = { a = "KB" }', "unknown units"),
        ('id = "x"\npurpose = "pool"\nkey = "k"\ncolour = 1', "colour"),
        ('id = "x"\npurpose = "pool"', "key"),
    ],
)
def test_a_wrong_table_is_refused_by_name(entry: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "boot_lines.toml").write_text(f'engine = "e"\n[resolve]\n[[line]]\n{entry}\n')
    with pytest.raises(ValueError, match=complaint):
        load(tmp_path)
