"""Real servers on loopback, back-filled from pages, started and ended by the tests; skipped where not installed."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

KINDS = ("prometheus", "victoria-metrics")


class LocalServer:
    """One server of one kind with one set of samples."""

    def __init__(self, kind: str, folder: Path, back_fill: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.base = f"http://127.0.0.1:{free.getsockname()[1]}"
        listen = self.base.removeprefix("http://")
        if kind == "prometheus":
            create = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(back_fill), str(folder / "data")]
            subprocess.run(create, check=True, capture_output=True, timeout=1200)
            (folder / "empty.yml").touch()
            command = ["prometheus", f"--config.file={folder}/empty.yml", f"--storage.tsdb.path={folder}/data",
                       "--storage.tsdb.retention.time=100y", f"--web.listen-address={listen}",
                       "--log.level=error"]  # fmt: skip
        else:
            command = [
                "victoria-metrics",
                f"-storageDataPath={folder}/data",
                "-retentionPeriod=100y",
                "-loggerLevel=ERROR",
                f"-httpListenAddr={listen}",
                "-memory.allowedBytes=256MB",
                "-search.latencyOffset=0s",
            ]
        self.log = (folder / "log").open("wb")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)
        self._wait()
        if kind != "prometheus":
            self._import(back_fill)

    def _wait(self) -> None:
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            with contextlib.suppress(urllib.error.URLError, OSError):
                urllib.request.urlopen(f"{self.base}/api/v1/query?query=1", timeout=5).read()
                return
            time.sleep(0.1)
        self.stop()
        pytest.fail(f"the server did not start: {(self.folder / 'log').read_text()[-400:]}")

    def _import(self, back_fill: Path) -> None:
        lines = []
        for line in back_fill.read_text().splitlines():
            if not line.startswith("#"):
                sample, at = line.rsplit(" ", 1)
                lines.append(f"{sample} {round(float(at) * 1000)}")
        url = f"{self.base}/api/v1/import/prometheus"
        urllib.request.urlopen(urllib.request.Request(url, data="\n".join([*lines, ""]).encode(), method="POST")).read()
        urllib.request.urlopen(f"{self.base}/internal/force_flush").read()

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.log.close()


@pytest.fixture(scope="module")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, Path], LocalServer]]:
    """Start a server of a kind with the samples of an OpenMetrics file; all end with the module."""
    started: list[LocalServer] = []

    def start(kind: str, back_fill: Path) -> LocalServer:
        for program in ["prometheus", "promtool"] if kind == "prometheus" else ["victoria-metrics"]:
            if shutil.which(program) is None:
                say = pytest.fail if os.environ.get("REQUIRE_SERVERS") else pytest.skip
                say(f"{program} is not installed (Debian: apt-get install {kind})")
        started.append(LocalServer(kind, tmp_path_factory.mktemp("server") / kind, back_fill))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.stop()
