"""Files from outside: bounded, decompressed, decoded, never outside the folder, and what was left is said."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from analysis.sources import files
from analysis.sources.files import SourceFile, UnreadableFileError, decode, natural_key, together, walk


def source(path: Path) -> SourceFile:
    return SourceFile(path.name, path, path.stat().st_size, 0.0)


def test_walk_passes_over_what_is_not_a_file_of_the_folder(tmp_path: Path) -> None:
    study = tmp_path / "study"
    (study / "metrics").mkdir(parents=True)
    for name in ("t10.prom", "t9.prom", "metrics/a.prom", ".hidden"):
        (study / name).write_text("x 1\n")
    (tmp_path / "outside.prom").write_text("secret 1\n")
    (study / "out.prom").symlink_to(tmp_path / "outside.prom")
    (study / "in.prom").symlink_to(study / "t9.prom")
    (study / "loop.prom").symlink_to("loop.prom")
    (study / "gone.prom").symlink_to("nowhere")
    (study / "metrics" / "up").symlink_to(study, target_is_directory=True)
    os.mkfifo(study / "pipe")
    found, skipped = walk(study)
    assert [file.path for file in found] == ["in.prom", "metrics/a.prom", "t9.prom", "t10.prom"]
    assert dict(skipped) == {
        "gone.prom": "a link that leads nowhere or to itself; copy the file in",
        "loop.prom": "a link that leads nowhere or to itself; copy the file in",
        "metrics/up": "a symbolic link to a folder; put the files in their own folder",
        "out.prom": "a symbolic link that leaves the folder; copy the file in",
        "pipe": "not a regular file; save its content as a file",
    }


def test_a_file_that_became_a_fifo_is_refused_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        SourceFile("pipe", tmp_path / "pipe", 0, 0.0).head()
    with pytest.raises(UnreadableFileError, match="cannot be opened"):
        SourceFile("gone", tmp_path / "gone", 0, 0.0).head()


def test_file_names_that_are_not_utf8_are_replaced(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"a\xff.prom")).write_text("x 1\n")
    ((file,), skipped) = walk(tmp_path)
    assert file.path == "a\ufffd.prom" and file.text() == "x 1\n" and skipped == []


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, bytes], ids=["gzip", "zstd", "plain"])
def test_content_decides_the_compression(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "page"
    path.write_bytes(pack(b"one\r\ntwo\rmore\nthree"))  # type: ignore[operator]
    file = source(path)
    assert list(file.lines()) == [(1, "one"), (2, "two\rmore"), (3, "three")]
    assert list(file.lines(keep_ends=True))[1:] == [(2, "two\rmore\n"), (3, "three")]
    assert file.troubles == []


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_file_is_read_as_far_as_it_goes(tmp_path: Path, pack: object, damage: str) -> None:
    text = "".join(f"line {number} {number * 7919 % 10007}\n" for number in range(60_000))
    packed = bytearray(pack(text.encode()))  # type: ignore[operator]
    if damage == "cut":
        packed = packed[: len(packed) // 2]
    else:
        packed[len(packed) // 2 : len(packed) // 2 + 40] = bytes(40)
    path = tmp_path / "page"
    path.write_bytes(packed)
    file = source(path)
    lines = [line for _, line in file.lines()]
    assert lines[0] == "line 0 0"
    assert len(lines) < 60_000 or damage == "flipped"
    (trouble,) = file.troubles
    assert trouble.startswith("damaged or cut off (") and trouble.endswith("the rest is missing")


def test_a_bomb_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FREE_EXPANSION_BYTES", 1 << 16)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(1 << 23)))
    file = source(path)
    with file.open() as stream:
        assert len(stream.read()) == 250 * file.size
    assert file.troubles == ["larger than may be read (a decompression bomb?); the rest was left, split the file"]


def test_a_long_line_is_cut_and_said_so(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_text("a" * 25 + "\nb\n" + "c" * 10)
    file = source(path)
    assert list(file.lines(10)) == [(1, "a" * 10), (2, "b"), (3, "c" * 10)]
    assert file.troubles == ["line 1 is longer than 10 characters and was cut"]


def test_lines_end_at_their_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINES", 2)
    path = tmp_path / "page"
    path.write_text("\n\n\n\n")
    file = source(path)
    assert list(file.lines()) == [(1, ""), (2, "")]
    assert file.troubles == ["more than 2 lines; the rest was left, split the file"]


def test_text_beyond_its_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_text("abc")
    assert source(path).text(3) == "abc"
    with pytest.raises(UnreadableFileError, match="more than 2 bytes"):
        source(path).text(2)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_decode_by_byte_order_mark_or_zero_bytes(encoding: str) -> None:
    assert decode("# TYPE é".encode(encoding)) == "# TYPE é"


def test_natural_order() -> None:
    assert sorted(["t10", "t9", "a", "t9b"], key=natural_key) == ["a", "t9", "t9b", "t10"]
    assert natural_key("1" * 5000) and natural_key("²x")


@pytest.mark.parametrize("size", [500, 3000])
def test_a_short_gzip_that_is_cut_keeps_what_came_before(tmp_path: Path, size: int) -> None:
    text = "".join(f"line {number} of a page {number * 7919 % 1000}\n" for number in range(2000))
    packed = gzip.compress(text.encode())
    assert len(packed) > 3000
    (tmp_path / "page.gz").write_bytes(packed[:size])
    [file], _ = walk(tmp_path)
    assert text.startswith(file.head().rstrip("\ufffd"))
    assert len(file.head()) > size
    assert file.troubles


def test_items_come_together_up_to_a_size_and_none_is_asked_for_before_a_large_one_is_out() -> None:
    asked: list[int] = []

    def items() -> Iterator[int]:
        for size in (3, 4, 4, 2, 10, 12, 1):
            asked.append(size)
            yield size

    seen = [(few, len(asked)) for few in together(items(), int, 10)]
    assert seen == [([3, 4], 3), ([4, 2], 5), ([10], 5), ([12], 6), ([1], 7)]
