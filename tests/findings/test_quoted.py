"""Quoted figures: which rate they really are, by which factor they are off, and in which direction."""

from pathlib import Path

import pytest

from analysis import paths
from analysis.estimates.estimate import Estimate, not_computable
from analysis.findings import lengths, prefill_rates, quoted, time_split
from analysis.findings.prefill_rates import LOAD, MEAN, PEAK
from analysis.study import Study

TOML = """\
[[quoted]]
text = "prefill does 1,860 tokens a second"
value = 1860
unit = "tokens/s"
called = "prefill rate"

[[quoted]]
value = 11000
unit = "tok/s"
called = "burst"
"""
PAGE = """\
process_start_time_seconds 1
vllm:prompt_tokens_total{{engine="0",model_name="m"}} {tokens}
vllm:request_prefill_kv_computed_tokens_sum{{engine="0",model_name="m"}} {tokens}
vllm:request_prefill_kv_computed_tokens_count{{engine="0",model_name="m"}} {n}
vllm:request_prefill_time_seconds_sum{{engine="0",model_name="m"}} {seconds}
vllm:request_prefill_time_seconds_count{{engine="0",model_name="m"}} {n}
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")

    def make(rows: list[tuple[float, float]], toml: str = TOML, drop: str = "never") -> Study:
        """Pages a minute apart with prompt tokens and prefill seconds so far."""
        folder = tmp_path / "s" / "metrics" / "a"
        folder.mkdir(parents=True)
        for minute, (tokens, seconds) in enumerate(rows):
            text = PAGE.format(tokens=tokens, seconds=seconds, n=minute)
            kept = "\n".join(line for line in text.splitlines() if drop not in line)
            (folder / f"20260101T00{minute:02}00Z.prom").write_text(kept + "\n")
        (tmp_path / "s" / "study.toml").write_text(toml)
        return Study(tmp_path / "s")

    return make


def _all(study: Study) -> tuple[list[quoted.Quoted], list[Estimate], list[Estimate]]:
    runs = time_split.runs(study.connection)
    rates = [e for run in runs for e in prefill_rates.rates(study.connection, run)]
    rates += lengths.slopes(lengths.by_run(study.connection, runs))
    figures = quoted.figures(study.connection)
    return figures, rates, quoted.ratios(figures, rates)


# 223,200 tokens in two minutes are 1,860 a second of the clock; all of them took the seconds given.
BURST = [(0, 0), (111_600, 10.1454545454), (223_200, 20.2909090908)]
PROMPT_38K = [(0, 0), (111_600, 82.2315789), (223_200, 164.4631578)]


def test_a_load_below_the_real_rate_is_recognised_with_its_factor(study) -> None:  # noqa: ANN001
    figures, rates, over = _all(study(BURST))
    values = {e.id: e.value for e in rates}
    assert (round(values[LOAD]), round(values[MEAN]), round(values[PEAK])) == (1860, 11_000, 11_000)
    assert [f.name for f in figures] == ["prefill rate", "burst"]
    assert [e.id for e in quoted.is_a(figures[0], rates)] == [LOAD]
    table = quoted.table(figures, rates, over)
    assert table["quoted"].to_list() == ["1,860 tokens/s", "11,000 tokens/s"]
    assert "a load, not a rate" in table["what it is"][0]
    assert table["against the mean prefill rate"][0].startswith("below the mean rate, by a factor of 5.9")
    assert "the mean prefill rate" in table["what it is"][1]
    assert "a load and not a rate" in quoted.sentence(figures, rates, over)
    factor = next(e for e in over if e.qualifiers["called"] == "prefill rate" and e.qualifiers["against"] == "mean")
    assert factor.value == pytest.approx(1860 / 11_000, rel=1e-3)
    assert factor.id == "rate.quoted_over" and factor.reason
    assert factor.evidence[0].quote == "prefill does 1,860 tokens a second"
    assert factor.evidence[0].line == 2


def test_the_same_load_lies_above_the_rate_of_one_long_prompt(study) -> None:  # noqa: ANN001
    figures, rates, over = _all(study(PROMPT_38K))
    assert round(next(e.value for e in rates if e.id == MEAN)) == round(38_000 / 28)
    against = quoted.table(figures, rates, over)["against the mean prefill rate"]
    assert against[0].startswith("above the mean rate, by a factor of 1.4")
    assert against[1].startswith("above the mean rate, by a factor of 8.1")


def test_some_rates_missing_leave_the_others(study) -> None:  # noqa: ANN001
    figures, rates, over = _all(study(BURST, drop="prefill_time"))
    assert [e.id for e in quoted.is_a(figures[0], rates)] == [LOAD]
    table = quoted.table(figures, rates, over)
    assert "not computable: the mean prefill rate" in table["what it is"][0]
    assert "do not export" in table["against the mean prefill rate"][0]
    assert "no prefill rate is computable beside it" in quoted.sentence(figures, rates, over)


def test_no_rate_at_all_is_said(study) -> None:  # noqa: ANN001
    figures, rates, over = _all(study(BURST[:1]))
    table = quoted.table(figures, rates, over)
    assert table.height == 2
    assert table["run"].to_list() == ["no run", "no run"]
    assert table["what it is"].to_list() == ["cannot be told: no rate of this run is computable"] * 2
    assert quoted.sentence(figures, rates, over) == ""


def test_bad_figures_are_told_and_the_good_one_is_kept(study) -> None:  # noqa: ANN001
    toml = """\
[[quoted]]
value = "fast"
unit = "tokens/s"
[[quoted]]
value = -3
unit = "tokens/s"
[[quoted]]
value = 1860
unit = "furlongs"
[[quoted]]
value = true
unit = "tokens/s"
[[quoted]]
value = inf
unit = "tokens/s"
[[quoted]]
value = 1860.0
unit = "tokens/s"
called = 7
"""
    made = study(BURST, toml)
    assert [(f.name, f.value) for f in quoted.figures(made.connection)] == [("7", 1860.0)]
    told = made.sql("select what, line from unparsed order by line").rows()
    assert told == [
        ("quoted figure 1: value is not a number above 0", 1),
        ("quoted figure 2: value is not a number above 0", 4),
        ("quoted figure 3: unit is none of tokens/s, tok/s", 7),
        ("quoted figure 4: value is not a number above 0", 10),
        ("quoted figure 5: value is not a number above 0", 13),
    ]


def test_two_figures_of_one_name_are_kept_apart(study) -> None:  # noqa: ANN001
    figures, _, over = _all(study(BURST, TOML.replace('"burst"', '"prefill rate"')))
    assert [f.name for f in figures] == ["prefill rate", "prefill rate (figure 2)"]
    named = [(e.id, tuple(sorted(e.qualifiers.items()))) for e in over]
    assert len(set(named)) == len(named) == 4


@pytest.mark.parametrize("toml", ["quoted = 5\n", 'quoted = ["1860 tok/s"]\n', "[quoted]\nvalue = 1860\n"])
def test_quoted_of_another_shape_is_listed(study, toml: str) -> None:  # noqa: ANN001
    made = study(BURST, toml)
    assert quoted.figures(made.connection) == []
    assert made.sql("select count(*)::bigint as n from unparsed").item() == 1


@pytest.mark.parametrize(
    ("value", "half"), [(1860, 5), (11_000, 500), (12.5, 0.05), (1357.0, 0.5), (1e6, 500_000), (0.002, 0.0005)]
)
def test_the_rounding_of_a_quoted_figure(value: float, half: float) -> None:
    assert quoted.rounding(value) == pytest.approx(half)


def test_an_interval_that_holds_the_figure_is_not_shown_to_differ() -> None:
    figure = quoted.Quoted("x", 1000.0, quoted.Evidence("study.toml"))
    rate = Estimate(1300.0, "tokens/s", "estimate", "m", 900, 1700, 0.95).named(MEAN, "f", boot="b")
    [over] = quoted.ratios([figure], [rate])
    assert (over.value, over.low, over.high) == (pytest.approx(1 / 1.3), pytest.approx(1 / 1.7), pytest.approx(1 / 0.9))
    assert [e.id for e in quoted.is_a(figure, [rate])] == [MEAN]
    assert "not shown to differ" in quoted.table([figure], [rate], [over])["against the mean prefill rate"][0]
    missing = not_computable("tokens/s", "no pages").named(PEAK, "f", boot="b")
    assert quoted.ratios([figure], [missing])[0].reason == "not computable: no pages"
