"""A report that may be shared passes; one with a secret, a script or a strange file does not."""

import shutil
from pathlib import Path

import pytest

from analysis.report.check import problems
from analysis.report.errors import ReportError


@pytest.fixture
def copy(report: Path, tmp_path: Path) -> Path:
    target = tmp_path / "copy"
    shutil.copytree(report, target)
    (target / "seen.txt").unlink()  # the test notebook's own
    return target


def test_a_report_of_ours_holds_nothing_back(copy: Path) -> None:
    assert problems(copy) == []


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("index.html", "<p>", "<p>key hf_abcdefghijklmnopqrstuvwx ", "token (1)"),
        ("index.html", "<h2", '<h2 aria-label="mail a@example.com"', "e-mail (1)"),
        ("10-first.html", '"label":"b1"', '"label":"10.11.12.13"', "ip address (1)"),
        ("tables/wide.csv", "column 0", "node-7.corp.internal", "host (1)"),
        ("results.json", '"unit": "1"', '"unit": "/home/ada/x"', "path (1)"),
        ("assets/search.js", '"kind":"page"', '"kind":"password=hunter2hunter2"', "secret (1)"),
        ("figures/shares.svg", "</svg>", "<text>api_key=abcdef123456</text></svg>", "secret (1)"),
        ("index.html", "</main>", "<script>x()</script></main>", "would run or fetch <script>"),
        ("index.html", "</main>", '<img src="https://x/y.png"></main>', "would run or fetch img src=https://x/y.png"),
        ("index.html", "Content-Security-Policy", "Nothing", "has no Content-Security-Policy"),
    ],
)
def test_what_should_not_be_shared_is_named_by_kind_and_file(
    copy: Path, file: str, before: str, after: str, said: str
) -> None:
    path = copy / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    found = [str(problem) for problem in problems(copy)]
    assert len(found) == 1
    assert found[0].startswith(f"{file}: {said}")
    assert "hf_abc" not in found[0] and "hunter2" not in found[0]


def test_strange_files_do_not_belong(copy: Path) -> None:
    (copy / "store.duckdb").write_bytes(b"x")
    (copy / "tables" / "link.csv").symlink_to("/etc/hostname")
    assert [problem.file for problem in problems(copy)] == ["store.duckdb", "tables/link.csv"]


def test_a_folder_without_a_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="holds no report: make one first"):
        problems(tmp_path)


def test_one_file_takes_the_place_of_its_like_and_of_nothing_else(report: Path, tmp_path: Path) -> None:
    from analysis.report.single import check_place, single

    log = tmp_path / "A1.log"
    log.write_text("INFO the only copy of a boot")
    with pytest.raises(ReportError, match="is no report in one file: move it away"):
        check_place(log)
    check_place(tmp_path / "new.html")
    (tmp_path / "old.html").write_text(single(report))
    check_place(tmp_path / "old.html")
