"""Secrets planted everywhere in a study: none of them is in any file of its report, and all are there unredacted."""

import gzip
import json
from pathlib import Path

import pytest

from tests.conftest import copy_boots, run_analysis

TOKENS = {
    "hub token": "hf_Zq7kPlanted00AbCdEfGhIjKlMn",
    "model key": "sk-Planted01abcdefghijklmnop",
    "payment": "sk_live_Planted02abcdef",
    "forge": "ghp_Planted03abcdefghijklmnop",
    "forge pat": "github_pat_Planted04abcdefghijkl",
    "lab": "glpat-Planted05abcdefghij",
    "chat": "xoxb-Planted06-abcdefghij",
    "cloud": "AKIAPLANTED07ABCDEFG",
    "maps": "AIzaPlanted08abcdefghijklmnopqrstuvw",
    "gpu": "nvapi-Planted09abcdefghijklmn",
    "jwt": "eyJhbGciPlanted10.eyJzdWIiPlanted10.sigPlanted10",
    "groq": "gsk_Planted11abcdefghijklmn",
}
LINES = {
    "Planted12": "api_key='Planted12-secret'",
    "Planted13": "--api-key Planted13-secret",
    "Planted14": "--hf-token=Planted14",
    "Planted15": "Authorization: Bearer Planted15abcdefghijklmnop",
    "Planted16": "password: Planted16",
    "Planted17": "AWS_SECRET_ACCESS_KEY=Planted17x",
    "Planted18": "HF_TOKEN=Planted18",
    "Planted19": '"auth_token": "Planted19"',
    "Planted20": "http://ada:Planted20@10.1.2.3:8000/v1",
    "Planted21": "-----BEGIN RSA PRIVATE KEY-----Planted21-----END RSA PRIVATE KEY-----",
    "Planted22": "cookie: Planted22=1",
    "planted23": "ada.planted23@example.com",
    "planted24": "planted24.corp.internal",
    "10.24.25.26": "10.24.25.26",
    "fd00:aa::26": "fd00:aa::26",
    "02:42:ac:11:00:27": "02:42:ac:11:00:27",
    "planted28": "/home/planted28/x",
    "planted29": "/mnt/planted29/models/m",
    "planted30": "hostname=planted30",
    "pod-planted31": "pod_name=pod-planted31",
    "planted32": r"C:\Users\planted32\x",
    "5f3a9c1e-0000-4000-8000-000000000033": "5f3a9c1e-0000-4000-8000-000000000033",
    "deadbeefdeadbeefdeadbeefdeadbe34": "id deadbeefdeadbeefdeadbeefdeadbe34",
}
OUTPUTS = ["Planted prompt 41 about my illness", "Planted answer 42 about my debts"]


def _log(study: Path) -> None:
    """In the lines that a report quotes and in those that it does not."""
    log = study / "boots" / "A2.log"
    secrets = " ".join([*TOKENS.values(), *LINES.values()])
    text = log.read_text()
    assert "KV cache size" in text and "non-default args" in text
    text = text.replace("non-default args: {", f"non-default args: {{'note': \"{' '.join(LINES.values())}\", ", 1)
    text = "\n".join(f"{line} {secrets}" if "KV cache size" in line else line for line in text.split("\n"))
    log.write_text(f"INFO {secrets}\n{text}\nERROR {secrets}\nWARNING {secrets}\n")


def _pages(study: Path) -> None:
    """In the values of labels, on every sample."""
    label = " ".join([*TOKENS.values(), *LINES.values()]).replace("\\", "\\\\").replace('"', '\\"')
    for page in (study / "metrics" / "A2").glob("*.gz"):
        text = gzip.decompress(page.read_bytes()).decode()
        page.write_bytes(gzip.compress(text.replace('model_name="', f'note="{label}",model_name="').encode()))


def _requests(study: Path) -> None:
    trace = study / "requests" / "A2" / "trace.jsonl"
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    for row, secret in zip(rows, [*TOKENS.values(), *LINES.values()], strict=False):
        row |= {"error": secret, "note": secret, "prompt": OUTPUTS[0], "output_text": OUTPUTS[1], "request_id": secret}
    trace.write_text("\n".join(map(json.dumps, rows)) + "\n")


def _settings(study: Path) -> None:
    secrets = [*TOKENS.values(), *LINES.values()]
    rows = "\n".join(f"secret{at} = {json.dumps(secret)}" for at, secret in enumerate(secrets))
    (study / "study.toml").write_text(f"title = {json.dumps(' '.join(secrets))}\n[hardware]\n{rows}\n")
    (study / "notes ada.planted23@example.com.txt").write_text("\n".join(secrets))
    (study / f"{TOKENS['hub token']}.prom").write_text('vllm:x{a="1"} NaN(\n')


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = copy_boots(tmp_path_factory.mktemp("planted") / "10.24.25.26", ["A2"])
    for plant in (_log, _pages, _requests, _settings):
        plant(study)
    return study


def _all(report: Path) -> dict[str, str]:
    return {
        str(p.relative_to(report)): p.read_bytes().decode("latin-1").lower()
        for p in report.rglob("*")
        if p.is_file() and p.suffix != ".png"
    }


def test_no_planted_secret_is_in_any_generated_file(planted: Path, tmp_path: Path) -> None:
    run = run_analysis("report", str(planted), "--out", str(tmp_path / "report"))
    assert run.returncode == 0, run.stderr
    files = _all(tmp_path / "report")
    assert len(files) > 20
    wanted = [*TOKENS.values(), *LINES, *OUTPUTS]
    assert len(wanted) >= 37
    found = [(secret, name) for secret in wanted for name, text in files.items() if secret.lower() in text]
    assert found == []
    assert "planted" not in "".join(files.values())
    check = run_analysis("check-report", str(tmp_path / "report"))
    assert check.returncode == 0, check.stdout


def test_without_redaction_every_page_says_so_and_the_check_fails(planted: Path, tmp_path: Path) -> None:
    run = run_analysis("report", str(planted), "--out", str(tmp_path / "report"), "--no-redact")
    assert run.returncode == 0, run.stderr
    files = _all(tmp_path / "report")
    assert TOKENS["hub token"].lower() in files["numbers.html"]
    pages = [text for name, text in files.items() if name.endswith(".html")]
    assert all("not redacted: this report holds names" in page for page in pages)
    check = run_analysis("check-report", str(tmp_path / "report"))
    assert check.returncode == 1
    assert "token (" in check.stdout and TOKENS["hub token"] not in check.stdout
