"""The token pool: spread within one population, steps between populations, refused boots, and what a figure is."""

from collections.abc import Callable
from math import exp, log

import numpy as np
import polars as pl
import pytest
from boot_logs import boot_log
from scipy import stats

from analysis import paths
from analysis.estimates.estimate import Estimate
from analysis.findings import disagreements, pool_tables, provenance, token_pool
from analysis.findings.pool_eras import token_figure
from analysis.study import Study

WriteStudy = Callable[..., Study]
CASES = paths.ROOT / "tests" / "cases"


def _by(estimates: list[Estimate], id: str, **qualifiers: str) -> list[Estimate]:
    return [e for e in estimates if e.id == id and qualifiers.items() <= e.qualifiers.items()]


def _declared(boots: dict[str, str]) -> str:
    return "".join(
        f'[[boots]]\nid = "{boot}"\narm = "one"\ncompile_state = "{state}"\n' for boot, state in boots.items()
    )


def test_the_published_boots_give_the_figures_of_the_methods(published: Study) -> None:
    made = token_pool.predictions(published.connection)
    arm = "len 768000, batch 8192"
    [tokens] = _by(made, "pool.next_boot", arm=arm, measure="tokens")
    [gib] = _by(made, "pool.next_boot", arm=arm, measure="available")
    [spread] = _by(made, "pool.spread", arm=arm, measure="tokens")
    [memory] = _by(made, "pool.spread", arm=arm, measure="available")
    assert [round(v / 1000) for v in (tokens.value, tokens.low, tokens.high)] == [1102, 1031, 1178]
    assert [round(v, 4) for v in (spread.value, spread.low, spread.high)] == [0.0134, 0.0070, 0.0842]
    assert [round(v, 2) for v in (memory.value, memory.low, memory.high)] == [0.25, 0.11, 8.09]
    assert (round(gib.value / token_pool.GIB, 1), gib.low) == (10.1, None)
    assert gib.reason == "no useful limit from 2 boots; one more boot narrows it most"
    [ratio] = token_pool.spread_ratios(published.connection)
    assert ratio.value == pytest.approx(log(12.08 / 8.44) / log(1_110_893 / 1_085_106))
    assert (ratio.low, ratio.reason) == (None, "undefined for two boots; four settle it")
    assert "with probability 0.083" in ratio.warnings[0]


def test_the_published_boots_contradict_each_other(published: Study) -> None:
    broken = [e for e in token_pool.identity(published.connection) if e.verdict == "broken"]
    assert [(e.qualifiers["batch_tokens"], round(e.value, 3)) for e in broken] == [("8192", 0.398)]
    made = token_pool.predictions(published.connection)
    said = pool_tables.sentence(token_pool.census(published.connection), made, broken)
    assert "what one longest request takes differs by 39.8 % between boots of one configuration" in said


def test_refused_boots_count_for_the_memory() -> None:
    """Five served boots and a refused one, hand-checked: without the refused one it would be the survivors' view."""
    study = Study(CASES / "variance-five-served-one-refused")
    made = token_pool.predictions(study.connection)
    [tokens], [memory] = (_by(made, "pool.spread", measure=m) for m in ("tokens", "available"))
    pools, gib = [412_800, 407_456, 412_800, 398_112, 410_144], [18.55, 18.31, 18.55, 17.89, 18.43, 3.9]
    assert (tokens.n, memory.n) == (5, 6)
    assert tokens.value == pytest.approx(np.log(pools).std(ddof=1))
    assert memory.value == pytest.approx(np.log(gib).std(ddof=1))
    assert memory.warnings == ("1 of the 6 boots were refused; their memory counts",)


def test_cold_and_warm_are_two_populations_and_a_step(write_study: WriteStudy) -> None:
    cold, warm = (5.00, 5.02, 5.04), (5.92, 5.94, 5.96)
    logs = {f"c{i}": boot_log(8192, 2048, f"{g:.2f}", round(g * 50_000), day=i + 1) for i, g in enumerate(cold)}
    logs |= {f"w{i}": boot_log(8192, 2048, f"{g:.2f}", round(g * 50_000), day=i + 9) for i, g in enumerate(warm)}
    study = write_study(logs, _declared({b: "cold" if b[0] == "c" else "warm" for b in logs}))
    made = token_pool.predictions(study.connection)
    spreads = {e.qualifiers["population"]: e for e in _by(made, "pool.spread", measure="available")}
    assert {name: e.n for name, e in spreads.items()} == {"cold compile cache": 3, "warm compile cache": 3}
    assert max(e.value for e in spreads.values()) < 0.01 < np.log([*cold, *warm]).std(ddof=1) / 5
    [step] = _by(token_pool.compile_steps(study.connection), "pool.compile_step", measure="available")
    test = stats.ttest_ind(np.log(warm), np.log(cold), equal_var=False).confidence_interval(0.95)
    assert (step.value, step.low, step.high) == pytest.approx(
        (exp(np.log(warm).mean() - np.log(cold).mean()), exp(test.low), exp(test.high))
    )


def test_the_log_knows_better_than_the_declaration(write_study: WriteStudy) -> None:
    compiled = ("(Worker pid=9) INFO 06-01 10:00:20 [backends.py:1] Compiling a graph for dynamic shape takes 9.1 s",)
    study = write_study({"a": boot_log(8192, 2048, "4.0", 60_000, extra=compiled)}, _declared({"a": "warm"}))
    assert token_pool.boots(study.connection)["compile_state"].to_list() == ["cold"]


def test_boots_of_two_hosts_are_not_one_population(write_study: WriteStudy) -> None:
    logs = {f"b{i}": boot_log(8192, 2048, f"{4 + i}", 60_000 * (1 + i), day=i + 1) for i in range(2)}
    toml = "".join(f'[[boots]]\nid = "b{i}"\narm = "one"\nhost = "node-{i}"\n' for i in range(2))
    made = token_pool.predictions(write_study(logs, toml).connection)
    assert {e.qualifiers["population"] for e in made} == {"node-0", "node-1"}
    assert {e.value for e in _by(made, "pool.spread")} == {None}


def test_pinned_boots_say_nothing_about_scatter() -> None:
    made = token_pool.predictions(Study("vllm-cpu").connection)
    [pinned] = _by(made, "pool.spread", arm="F", measure="tokens")
    assert pinned.reason.startswith("pinned: the memory was set, not profiled, in all 2 boots")


@pytest.mark.parametrize(
    ("version", "consistent", "said"),
    [
        ("0.9.0", True, "blocks x block size"),
        ("0.19.0", True, "blocks x block size; for models whose layers keep different caches"),
        ("0.32.0", True, "derived: maximum concurrency x maximum length"),
        ("0.19.0", False, "contradicts the concurrency printed beside it: not used"),
        (None, True, "not known: the log does not say the version"),
    ],
)
def test_what_a_token_figure_is(version: str | None, consistent: bool, said: str) -> None:
    assert token_figure("vllm", version, consistent).startswith(said)
    assert token_figure("llama.cpp", "b7010", None) == "as the engine counts it"


def measures(study: Study) -> pl.DataFrame:
    """The table of boots, with the figures that it shows."""
    store = study.connection
    return pool_tables.measures_table(store, token_pool.census(store), token_pool.identity(store))


def test_a_pool_that_contradicts_its_concurrency_is_not_used() -> None:
    study = Study(CASES / "boot-hybrid-disagrees")
    [row] = measures(study).iter_rows(named=True)
    assert (row["tokens"], row["requests at that length"]) == (290_864, 33.04)
    assert row["need of one (MiB)"] == pytest.approx(31.2 * 1024 / 33.04, abs=0.06)


def test_public_boots_are_marked_as_transcribed_and_each_has_its_source() -> None:
    study = Study("public-boots")
    assert provenance.sentence(study.connection).startswith("Not measured here: the figures were transcribed from")
    sources = provenance.sources(study.connection)
    assert sources.height == len(list((paths.DATA / "public-boots" / "boots").glob("*.log"))) >= 40
    assert sources["source"].null_count() == 0
    read = study.sql("select count(*) from files where status <> 'read' and file like 'boots/%'").item()
    assert (read, study.sql("select count(*) from unparsed").item()) == (0, 0)
    for folder in set(paths.DATA.iterdir()) - {paths.DATA / "public-boots"}:
        if not (folder / "study.toml").read_text().count("transcribed"):
            assert provenance.transcribed_from(Study(folder).connection) is None


def test_public_boots_give_the_figures_of_their_reports() -> None:
    study = Study("public-boots")
    made = token_pool.predictions(study.connection)
    [off] = _by(made, "pool.spread", arm="GB10, loader off", measure="available")
    assert off.value == pytest.approx(np.log([16.93, 17.59, 18.13]).std(ddof=1))
    steps = {e.qualifiers["arm"]: e.value for e in token_pool.compile_steps(study.connection)
             if e.qualifiers["measure"] == "available"}  # fmt: skip
    assert steps["RTX 3090"] == pytest.approx(5.94 / 5.02)
    assert steps["RTX 8000"] == pytest.approx(6.03 / 3.53)
    assert steps["V100"] == 1.0
    pinned = study.sql("select token_pool_tokens from boot_arms where arm = 'GB10, pinned'")
    assert pinned["token_pool_tokens"].to_list() == [883_552] * 3


def test_tables_of_nothing_have_their_columns(write_study: WriteStudy) -> None:
    study = write_study({"a": boot_log(8192, 2048)})
    assert pool_tables.identity_table(token_pool.identity(study.connection)).height == 0
    assert pool_tables.pairs_table([]).columns == ["arm", "measure", "boots", "factor", "why none", "read with it"]
    assert isinstance(measures(study), pl.DataFrame)
    assert pool_tables.sentence([], [], []) == "What the token pool is cannot be said: no boot log prints one."


def test_boots_whose_memory_was_set_have_no_next_step() -> None:
    predictions = token_pool.predictions(Study("llamacpp").connection)
    assert all(e.low is None for e in predictions if e.id == "pool.next_boot")
    assert pool_tables.next_step(predictions) == ""
    assert pool_tables.next_step([]).startswith("boot one setting four times")


def test_a_contradiction_names_both_causes() -> None:
    said = next(d for d in disagreements.found(Study("cluster-a").connection) if d.estimate.id == "pool.identity")
    assert said.sentence.endswith(
        "disagree by 39.8 % on what a longest request takes: either the printed memory did not size the pools, or the "
        "boots differ in something their logs do not print; no figure in bytes per token can be had from these boots."
    )


def test_the_sentence_says_which_boots_are_counted_where_the_table_has_more() -> None:
    def pool(boot: str, tokens: float) -> Estimate:
        return Estimate(tokens, "tokens", "census", "log").named("pool.tokens", "f", boot=boot, arm="a")

    every = [pool("a", 100.0), pool("b", 300.0), pool("c", 200.0)]
    rest = "; the others rest on assumed figures"
    next_boot = "; what the next boot gets cannot be said: that takes two profiled boots of one setting that differ."
    said = {n: pool_tables.sentence(every[:n], [], [], every) for n in range(4)}
    assert said == {
        0: f"The pools of all 3 boots with one rest on assumed figures{next_boot}",
        1: f"Of 3 boots with a pool the 1 counted here (a) holds 100 tokens{rest}{next_boot}",
        2: f"Of 3 boots with a pool the 2 counted here (a, b) hold 100 to 300 tokens{rest}{next_boot}",
        3: f"The 3 boots with a pool hold 100 to 300 tokens{next_boot}",
    }
