"""Secrets planted everywhere in a study: none of them is in any file made of it, and all are there unredacted."""

import csv
import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.redact import redact
from tests.conftest import copy_boots, run_analysis
from tests.planted import ALL, APART, PEM, TOKENS

SECRETS = [p.line for p in ALL]
JOINED = " ".join(SECRETS)
OUTPUTS = ["Planted prompt 41 about my illness", "Planted answer 42 about my debts"]
TOKEN = TOKENS[0].line


def _log(study: Path) -> None:
    """In the lines that a report quotes, in those it lists as not understood, and in those that it does not show."""
    log = study / "boots" / "A2.log"
    text = log.read_text()
    assert "KV cache size" in text and "non-default args" in text
    text = text.replace("non-default args: {", f"non-default args: {{{repr(APART)[1:-1]}, 'note': \"{JOINED}\", ", 1)
    text = "\n".join(f"{line} {JOINED}" if "KV cache size" in line else line for line in text.split("\n"))
    looks_known = "\n".join(f"INFO 11-29 13:05:31 [a.py:1] GPU KV cache size: ? {secret}" for secret in SECRETS)
    log.write_text(f"INFO {JOINED}\n{PEM}\n{text}\nERROR {JOINED}\nWARNING {JOINED}\n{looks_known}\n")


def _pages(study: Path) -> None:
    """In the values of labels, on every sample, in HELP texts, in exemplars and in lines that are no samples."""
    label = JOINED.replace("\\", "\\\\").replace('"', '\\"')
    for number, page in enumerate(sorted((study / "metrics" / "A2").glob("*.gz"))):
        text = gzip.decompress(page.read_bytes()).decode().replace('model_name="', f'note="{label}",model_name="')
        text = f"# HELP planted {JOINED}\n# TYPE planted counter\nplanted_total 1 # {{note={TOKEN!r}}} 1\n{text}"
        page.write_bytes(gzip.compress((text + (f"vllm:x {JOINED}\n" if number == 0 else "")).encode()))


def _requests(study: Path) -> None:
    trace = study / "requests" / "A2" / "trace.jsonl"
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    for row, secret in zip(rows, SECRETS, strict=False):
        row |= {"error": secret, "note": secret, "prompt": OUTPUTS[0], "output_text": OUTPUTS[1], "request_id": secret}
    odd = [json.dumps({"request_id": secret, "sent_at": secret, "prompt": OUTPUTS[0]}) for secret in SECRETS]
    trace.write_text("\n".join([*map(json.dumps, rows), *odd]) + "\n")


def _settings(study: Path) -> None:
    rows = "\n".join(f"secret{at} = {json.dumps(secret)}" for at, secret in enumerate(SECRETS))
    title = json.dumps(f"{PEM} {JOINED}")
    apart = "\n".join(f"{name} = {json.dumps(value)}" for name, value in APART.items())
    (study / "study.toml").write_text(
        f"# {JOINED}\ntitle = {title}\n[objective]\nwhat = {title}\n[hardware]\ndriver = {title}\n{rows}\n"
        f'[[boots]]\nid = "A2"\narm = "A"\n[boots.env]\nVLLM_CPU_KVCACHE_SPACE = "2"\n{apart}\n'
    )
    retest = "".join(
        f'[[retest]]\nname = {json.dumps(s)}\nfact = "model"\nrule = "not_in"\nvalues = [{json.dumps(s)}]\n'
        f"why = {json.dumps(s)}\n"
        for s in SECRETS
    )
    (study / "decision.toml").write_text(
        f"# {JOINED}\ndate = {title}\nobjective = {title}\nreasoning = {title}\n[chosen]\narm = {title}\n{retest}"
    )
    claims = "".join(
        f'[[claim]]\nid = "P{at}"\ntext = {json.dumps(s)}\nprinted = {json.dumps(s)}\npublished = 1\nrounding = 0.5\n'
        f'unit = "1"\nestimate = "time.mean_concurrency"\nwhere = {{ boot = {json.dumps(s)} }}\nrelation = "equals"\n'
        for at, s in enumerate(SECRETS)
    )
    (study / "published.toml").write_text(claims)
    (study / "notes ada.planted23@example.com.txt").write_text("\n".join(SECRETS))
    (study / f"{TOKEN}.prom").write_text('vllm:x{a="1"} NaN(\n')
    (study / "ip-10-24-25-38").mkdir()
    (study / "ip-10-24-25-38" / "vllm-planted35-7d4b9c5f6-x2x4z.prom").write_text("vllm:x{ 1\n")


def plant(folder: Path) -> Path:
    """A study with every secret in every place."""
    study = copy_boots(folder / "10.24.25.26", ["A2"])
    for into in (_log, _pages, _requests, _settings):
        into(study)
    return study


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def report(planted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "report"
    run = run_analysis("report", str(planted), "--out", str(out))
    assert run.returncode == 0, run.stderr
    return out


def _all(report: Path) -> dict[str, str]:
    return {
        str(p.relative_to(report)): p.read_bytes().decode("latin-1").lower()
        for p in report.rglob("*")
        if p.is_file() and p.suffix != ".png"
    }


def _leaks(files: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in files.items():
        for secret in ALL:
            if secret.needle.lower() in text:
                yield secret.what, name
        if "planted" in text.replace("# help planted", ""):
            at = text.index("planted")
            yield text[max(0, at - 60) : at + 40], name


def test_there_are_many_kinds_and_each_is_told_from_the_others() -> None:
    assert len(ALL) >= 100
    assert len({p.needle for p in ALL}) == len({p.what for p in ALL}) == len(ALL)
    assert all(p.needle in p.line for p in ALL)


def test_no_planted_secret_is_in_any_generated_file(report: Path) -> None:
    files = _all(report)
    assert len(files) > 20
    assert list(_leaks(files)) == []
    knobs = {row[0]: row[-1] for row in csv.reader((report / "tables" / "knobs.csv").read_text().splitlines())}
    assert knobs["VLLM_CPU_KVCACHE_SPACE"] == "2"
    assert {n: knobs[n] for n in APART if n in knobs} == {"HOSTNAME": redact("hostname=planted131").text[9:]}
    check = run_analysis("check-report", str(report))
    assert check.returncode == 0, check.stdout
    front = files["index.html"].partition("taken out of what is quoted")[2]
    kinds = ("host", "identifier", "ip address", "path", "secret", "text", "token", "user")
    assert [kind for kind in kinds if f"{kind} (" not in front] == []


def test_nor_in_what_is_made_of_a_report(
    planted: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The post, the one page, the comparison, the draft of a decision, and what they print."""
    made = {}
    other = shutil.copytree(planted, tmp_path_factory.mktemp("other") / "ada.planted23@example.com")
    for command, *arguments in (
        ("post", str(planted), "--out", str(tmp_path / "post")),
        ("single", str(planted), "--out", str(tmp_path / "one.html")),
        ("compare", str(planted), str(other), "--out", str(tmp_path / "compare")),
        ("claims", str(planted)),
    ):
        run = run_analysis(command, *arguments)
        assert run.returncode == 0 or command == "claims", run.stderr
        made[f"{command}, printed"] = run.stdout.lower()
    run = run_analysis("decide", str(other), "--force")
    assert run.returncode == 0, run.stderr
    made["decision"] = (other / "decision.toml").read_text().lower()
    files = _all(tmp_path)
    assert {name.split("/")[0] for name in files} == {"post", "one.html", "compare"}
    assert list(_leaks(made | files)) == []


def test_without_redaction_every_page_says_so_and_the_check_fails(planted: Path, tmp_path: Path) -> None:
    run = run_analysis("report", str(planted), "--out", str(tmp_path / "report"), "--no-redact")
    assert run.returncode == 0, run.stderr
    files = _all(tmp_path / "report")
    listed = list(csv.reader((tmp_path / "report" / "tables" / "unparsed.csv").read_text().splitlines()))
    shown = "\n".join(cell for row in listed for cell in row)
    assert [p.what for p in ALL if p.needle not in shown] == []
    assert TOKEN.lower() in files["numbers.html"]
    pages = [text for name, text in files.items() if name.endswith(".html")]
    assert all("not redacted: this report holds names" in page for page in pages)
    check = run_analysis("check-report", str(tmp_path / "report"))
    assert check.returncode == 1
    assert "token (" in check.stdout and TOKEN not in check.stdout
