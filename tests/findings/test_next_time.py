"""What to record next time: every reason has its commands, and every command is one that runs."""

import argparse
import re
import shlex
import subprocess
from importlib import import_module

import pytest

from analysis import paths
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.findings import next_time
from analysis.findings.next_time import advice, record_of
from analysis.findings.registry import Registry
from analysis.redact import redact
from analysis.report.next_time import PAGE, data_of, section, with_section
from analysis.report.pages import Page
from analysis.report.results import Results
from analysis.study import Study

RECORDS = next_time._table()["record"]
VLLM = {"--enable-logging-iteration-details", "--max-num-batched-tokens", "--max-model-len"}
BENCH = {
    "--base-url", "--model", "--dataset-name", "--num-prompts", "--request-rate", "--save-result", "--save-detailed",
    "--result-dir",
}  # fmt: skip


def _commands(*engines: str) -> list[str]:
    every = [not_computable("1", row["reasons"][0]).named("x", "f") for row in RECORDS]
    return [command for it in advice(every, "my-study/", engines) for command in it.commands]


OURS = list(dict.fromkeys(c for c in _commands("vllm 0.32.0") if c.startswith("make ")))


@pytest.mark.parametrize("command", OURS)
def test_a_command_of_ours_is_one_that_its_parser_takes(command: str) -> None:
    """`make` in earnest, with `echo` in the place of the interpreter."""
    run = subprocess.run(
        [*shlex.split(command), "PY=echo", "--silent"], capture_output=True, text=True, cwd=paths.ROOT, check=True
    )
    m, analysis, name, *arguments = shlex.split(run.stdout)
    assert (m, analysis) == ("-m", "analysis")
    parser = argparse.ArgumentParser(exit_on_error=False)
    import_module(f"analysis.commands.{name.replace('-', '_')}").arguments(parser)
    # echo prints without quotes: of CMD="vllm serve ..." the words of the engine's command are left over.
    _, left = parser.parse_known_args(arguments)
    assert [word for word in left if word.startswith("--") and word not in VLLM] == []


def test_the_options_of_the_engine_are_known_ones() -> None:
    commands = " ".join(_commands("vllm 0.32.0"))
    served = re.findall(r'CMD="vllm serve MODEL([^"]*)"', commands)
    assert served and set(re.findall(r"--[\w-]+", " ".join(served))) == VLLM
    [bench] = re.findall(r"vllm bench serve (.*?)(?= make )", commands)
    assert set(re.findall(r"--[\w-]+", bench)) == BENCH


def test_commands_are_in_the_words_of_the_engine() -> None:
    steps = [no_interval(None, "1", "none", "not computable: no boot log has engine steps").named("a", "f")]
    pages = "make capture URL=http://127.0.0.1:8000 DATA=d/ EVERY=15s FOR=1h"
    first = 'make capture-boot DATA=d/ NAME=steps AFTER=1h CMD="{} {}"'.format
    new = first("vllm serve MODEL", "--enable-logging-iteration-details")
    assert advice(steps, "d/", ["vllm 0.32.0"])[0].commands == (new, pages)
    assert advice(steps, "d/", ["vllm 0.13.2"])[0].commands == (pages,)
    sglang = first("python -m sglang.launch_server --model-path MODEL", "--enable-metrics")
    assert advice(steps, "d/", ["sglang 0.5"])[0].commands == (sglang, pages)
    assert advice(steps, "d/", ["strange 1", "llamacpp"])[0].commands == (pages,)


def test_a_figure_with_an_answer_asks_for_nothing() -> None:
    known = Estimate(1.0, "1", "estimate", "m", 0.5, 1.5, 0.95, reason="one boot")
    counted = Estimate(1.0, "1", "census", "m", reason="census: one boot")
    exact = no_interval(1.0, "1", "m", "the share is exactly 1")
    assert [record_of(e) for e in (known, counted, exact)] == [None, None, None]
    assert advice([known, counted, exact], "d/") == []


@pytest.mark.parametrize("name", ["cluster-a", "vllm-cpu-mixed", "public-boots"])
def test_every_reason_of_a_recorded_study_has_its_place(name: str) -> None:
    nothing = next_time._table()["nothing"]["reasons"]
    found = Registry(Study(name).connection).everything()
    lacking = [e for e in found if e.low is None and e.high is None and e.kind == "estimate"]
    assert len(lacking) > 10
    untold = {e.reason for e in lacking if record_of(e) is None}
    assert {reason for reason in untold if not any(part in (reason or "") for part in nothing)} == set()


def test_the_section_can_be_copied_from_and_is_escaped() -> None:
    hostile = no_interval(None, "1", "none", "one boot <script>").named("pool.spread", "f", arm="A")
    html = section(advice([hostile], "d/", ["vllm 0.32.0"]))
    first = (
        "make capture-boot DATA=d/ REPEAT=3 NAME=batch-2048 ARM=batch-2048 AFTER=10m "
        'CMD="vllm serve MODEL --max-num-batched-tokens 2048"'
    )
    assert f'<pre class="command"><code>{first.replace(chr(34), "&quot;")}</code></pre>' in html
    assert "Missing now:</span> one boot &lt;script&gt;." in html and "<script>" not in html
    assert "could be computed" in section([])


def test_a_name_that_a_shell_would_read_otherwise_is_not_put_into_a_command() -> None:
    assert [data_of(name) for name in ("vllm-cpu", "mine", "a b", "$(x)", "[host 3f2a]", "a;b")] == [
        "data/vllm-cpu/", "mine/", "my-study/", "my-study/", "my-study/", "my-study/",
    ]  # fmt: skip


def test_a_report_with_these_commands_may_be_shared() -> None:
    assert [redact(c).kinds for c in _commands("vllm 0.32.0") if redact(c).kinds] == []


def test_a_boot_that_was_refused_is_not_asked_for_what_only_a_boot_that_serves_can_give() -> None:
    pages = no_interval(None, "1", "none", "not computable: no timed pages")
    prints = "not computable: the log of this boot (refused) does not print it"
    found = [
        no_interval(None, "tokens", "none", prints).named("pool.tokens", "f", boot="no"),
        no_interval(None, "bytes", "none", prints).named("pool.available", "f", boot="no"),
        *(pages.named("time.prefill_share", "f", boot=boot) for boot in ("yes", "no")),
        pages.named("time.prefill_share", "f", run="all"),
    ]
    assert [(it.name, [dict(e.qualifiers) for e in it.figures]) for it in advice(found, "d/", ["vllm 0.32.0"])] == [
        ("Metric pages before, during and after a load", [{"boot": "yes"}, {"run": "all"}]),
        ("Whole boot logs", [{"boot": "no"}]),
    ]
    refusal = Estimate(3.0, "bytes", "census", "log").named("refusal.needed", "f", boot="yes")
    assert [len(it.figures) for it in advice([*found, refusal], "d/")] == [1, 1]


def test_a_cold_compile_cache_has_its_command() -> None:
    step = no_interval(1.1, "x", "m", "one boot of each: scatter was not measured").named("pool.compile_step", "f")
    cold = 'make capture-boot DATA=d/ REPEAT=2 NAME=cold-first CMD="env VLLM_CACHE_ROOT=$(mktemp -d) vllm serve MODEL"'
    [found] = advice([step], "d/", ["vllm 0.32.0"])
    assert (found.name, found.commands) == ("Boots with a cold compile cache, and with a warm one", (cold,))
    assert advice([step], "d/", ["llamacpp b7010"])[0].commands == ()


def test_nothing_is_recorded_into_a_reconstruction() -> None:
    lacking = no_interval(None, "1", "none", "no timed pages").named("x", "f").to_json()
    results = Results({"study": "cluster-a", "estimates": [lacking]}, {}, {})
    page = Page(PAGE, "t", "s", '<h2 id="what-this-page-cannot-show">', ())
    for is_rebuilt, data in ((True, "my-study/"), (False, "data/cluster-a/")):
        [made] = with_section([page], results, ["vllm 0.32.0"], is_rebuilt=is_rebuilt)
        assert set(re.findall(r"DATA=(\S+)", made.body)) == {data}
        assert ("Record on the machine" in made.body) == is_rebuilt
