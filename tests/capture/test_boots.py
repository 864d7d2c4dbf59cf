"""Boots of a stand-in for an engine: logs with times, exit status, repeats, and nothing left running."""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from analysis import paths
from analysis.__main__ import main
from analysis.capture.boots import Boot, capture_boots
from analysis.capture.folder import CaptureError
from analysis.study import Study

READY = "(APIServer pid=1) INFO:     Application startup complete."


def _engine(tmp_path: Path, body: str) -> list[str]:
    script = tmp_path / "engine.py"
    script.write_text(f"import os, signal, subprocess, sys, time\nsay = lambda t: print(t, flush=True)\n{body}\n")
    return [sys.executable, str(script)]


def _boots(command: list[str], folder: Path, **options: Any) -> list[Boot]:
    given: dict[str, Any] = {
        "name": "b",
        "arm": None,
        "repeat": 1,
        "timeout_s": 30,
        "after_s": 0,
        "stop": threading.Event(),
        "grace_s": 5,
    }
    return capture_boots(command, folder, **{**given, **options})


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_boots_are_repeated_and_read_as_the_recorded_boot_that_they_replay(tmp_path: Path) -> None:
    recorded = paths.DATA / "vllm-cpu" / "boots" / "A2.log"
    body = (
        f"for line in open({str(recorded)!r}):\n    sys.stdout.write(line); sys.stdout.flush()\n"
        f"    if 'startup complete' in line: break\ntime.sleep(60)"
    )
    boots = _boots(_engine(tmp_path, body), tmp_path / "s", repeat=3, arm="A")
    assert [boot.id for boot in boots] == ["b-1", "b-2", "b-3"]
    assert {boot.note for boot in boots} == {"stopped when ready"}
    assert {boot.exit_status for boot in boots} == {"ended by SIGTERM, asked to stop"}
    columns = "outcome, engine_version, max_num_batched_tokens, available_kv_bytes, token_pool_total_tokens, setting"
    of_recorded = Study("vllm-cpu").sql(f"select {columns} from boot_arms where boot = 'A2'").row(0)
    study = Study(tmp_path / "s")
    assert study.sql(f"select {columns} from boot_arms order by boot").rows() == [of_recorded] * 3
    assert study.sql("select distinct arm from boot_arms").item() == "A"
    line = (tmp_path / "s" / "boots" / "b-1.log").read_text().splitlines()[0]
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z " + re.escape(recorded.read_text().splitlines()[0]), line
    )


def test_an_engine_that_refuses_is_a_boot_too(tmp_path: Path) -> None:
    (boot,) = _boots(_engine(tmp_path, "say('ValueError: no'); sys.exit(3)"), tmp_path / "s")
    assert (boot.ready, boot.exit_status, boot.note) == (None, "exit status 3", "ended by itself")
    row = json.loads((tmp_path / "s" / "boots.jsonl").read_text())
    assert (row["id"], row["exit_status"], row["ready"]) == ("b-1", "exit status 3", None)


def test_a_boot_that_hangs_is_stopped_in_time(tmp_path: Path) -> None:
    begun = time.monotonic()
    (boot,) = _boots(_engine(tmp_path, "say('loading'); time.sleep(600)"), tmp_path / "s", timeout_s=1)
    assert boot.note == "stopped: not ready within 1 s"
    assert time.monotonic() - begun < 60


def test_children_that_ignore_the_signal_and_leave_the_group_end_too(tmp_path: Path) -> None:
    child = "import signal,time,os; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.setsid(); time.sleep(600)"
    same_group = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    body = (
        f"a = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"b = subprocess.Popen([sys.executable, '-c', {same_group!r}])\n"
        f"time.sleep(1); say(f'pids {{a.pid}} {{b.pid}}'); say({READY!r}); time.sleep(600)"
    )
    (boot,) = _boots(_engine(tmp_path, body), tmp_path / "s", grace_s=1)
    text = (tmp_path / "s" / "boots" / f"{boot.id}.log").read_text()
    pids = [int(word) for word in text.split("pids ")[1].splitlines()[0].split()]
    until = time.monotonic() + 5
    while any(map(_alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert [pid for pid in pids if _alive(pid)] == []


def test_secrets_of_the_command_are_not_kept_and_logs_are_not_overwritten(tmp_path: Path) -> None:
    command = [*_engine(tmp_path, f"say({READY!r}); time.sleep(60)"), "--api-key", "sk-verysecretkey123456"]
    _boots(command, tmp_path / "s")
    first = (tmp_path / "s" / "boots" / "b-1.log").read_bytes()
    (second,) = _boots(command, tmp_path / "s")
    assert second.id == "b-2"
    assert (tmp_path / "s" / "boots" / "b-1.log").read_bytes() == first
    assert len((tmp_path / "s" / "boots.jsonl").read_text().splitlines()) == 2
    assert not any(b"verysecret" in file.read_bytes() for file in (tmp_path / "s").rglob("*") if file.is_file())


def test_a_stop_ends_the_boot_and_begins_no_other(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    boots = _boots(_engine(tmp_path, "say('x'); time.sleep(600)"), tmp_path / "s", repeat=5, stop=stop)
    assert [boot.note for boot in boots] == ["stopped by the user"]


def test_a_command_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="cannot be started"):
        _boots([str(tmp_path / "nothing")], tmp_path / "s")


@pytest.mark.parametrize("by_make", [False, True])
def test_the_command_line_takes_its_options_and_leaves_the_engine_its_own(by_make: bool, tmp_path: Path) -> None:
    """With `make` the command is one text; directly it follows two dashes."""
    engine = [*_engine(tmp_path, "say('x ' + ' '.join(sys.argv[1:])); sys.exit(3)"), "--name", "its own", "--port", "1"]
    folder = tmp_path / "s"
    if by_make:
        env = {**os.environ, "DATA": str(folder), "CMD": shlex.join(engine), "NAME": "n", "ARM": "A", "TIMEOUT": "20s"}
        command = ["make", "--silent", "capture-boot", f"PY={sys.executable}"]
        subprocess.run(command, cwd=paths.ROOT, env=env, check=True, capture_output=True)
    else:
        given = ["capture-boot", str(folder), "--name", "n", "--arm", "A", "--timeout", "20s", "--", *engine]
        assert main(given) == 0
    [log] = (folder / "boots").glob("*.log")
    assert log.name == "n-1.log"
    assert log.read_text().endswith("x --name its own --port 1\n")
    assert json.loads((folder / "boots.jsonl").read_text())["arm"] == "A"
