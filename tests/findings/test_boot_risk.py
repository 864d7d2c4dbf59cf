"""Whether the next boot starts: published chances, recorded refusals, floors per level, what must not be safe."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from boot_logs import boot_log
from scipy import stats

from analysis import paths
from analysis.estimates.kv_slope import refusal_probability
from analysis.estimates.rounding import show
from analysis.findings import boot_risk, risk_text
from analysis.findings.kv_boots import GIB
from analysis.findings.kv_request import Floor, floor
from analysis.study import Study

WriteStudy = Callable[..., Study]
KIB = 1024


def _ask(study: Study, batch: int, length: int | None = None) -> list[boot_risk.Risk]:
    return boot_risk.asked(study.connection, boot_risk.memory(study.connection), batch, length)


def _chances(risk: boot_risk.Risk) -> dict[str, float | None]:
    return {e.qualifiers["route"]: e.value for e in risk.routes}


def test_the_published_chances_are_those_of_the_methods(published: Study) -> None:
    [risk] = _ask(published, 12288)
    chances = _chances(risk)
    assert chances["requests"] == pytest.approx(0.04, abs=0.005)
    assert chances["available"] == pytest.approx(0.62, abs=0.005)
    assert risk.verdict == "cannot_tell"
    assert not risk.is_extrapolated
    assert isinstance(risk.floor, Floor) and risk.floor.is_limit == "most"
    said = risk_text.text([risk])
    assert "by printed memory: at most 62 %" in said and "by requests that fit: 4.4 %" in said
    assert "8.58 GiB [0.00, 46.93] from 3 boots" in said


def test_two_boots_and_the_refusal_give_thirteen_percent(write_study: WriteStudy) -> None:
    study = write_study(
        {
            "a": boot_log(768_000, 8192, "12.08", 1_110_893),
            "b": boot_log(768_000, 8192, "8.44", 1_085_106),
            "d": boot_log(768_000, 16384, "6.9", None, ("9.8", "6.9", 35_072)),
        }
    )
    [risk] = _ask(study, 12288)
    assert _chances(risk)["requests"] == pytest.approx(0.13, abs=0.005)


def test_the_published_refusal_gives_the_two_parts_of_a_request(published: Study) -> None:
    known = boot_risk.memory(published.connection)
    by_route = {(p.batch, p.route): p for p in known.parts}
    part = by_route[16384, "refusal"]
    assert part.fixed.value / GIB == pytest.approx(6.76, abs=0.005)
    assert part.per_token.value / KIB == pytest.approx(4.15, abs=0.005)
    assert show(part.fixed) == "6.76 GiB [6.70, 6.82]"  # a transcribed figure has the one decimal that it shows
    assert not by_route[8192, "lengths"].is_known


def test_the_digits_of_a_measured_refusal_are_those_of_the_engine(write_study: WriteStudy) -> None:
    study = write_study({"d": boot_log(768_000, 16384, "6.9", None, ("9.8", "6.9", 35_072))})
    [part] = boot_risk.memory(study.connection).parts
    assert part.fixed.high - part.fixed.low == pytest.approx(2 * 0.005 * GIB * 803_072 / 732_928)


def test_recorded_settings_are_called_what_the_recordings_show() -> None:
    study = Study("vllm-cpu")
    answers = boot_risk.answers(study.connection, boot_risk.memory(study.connection))
    tried = [r for r in answers if r.seen]
    assert {(r.length, r.batch, r.seen, r.refused) for r in tried} == {
        (8192, 2048, 4, 0), (8192, 8192, 3, 0), (2048, 2048, 3, 0), (32768, 2048, 3, 0), (8192, 2048, 2, 0),
        (32768, 2048, 2, 2),
    }  # fmt: skip
    for risk in tried:
        assert risk.verdict == ("risky" if risk.refused else "safe")


def test_the_recorded_chance_is_that_of_an_independent_calculation() -> None:
    study = Study("vllm-cpu")
    known = boot_risk.memory(study.connection)
    one = next(s for s in known.series if len(s.levels) > 1)
    risk = boot_risk.risk(study.connection, known, one, 5120, 8192)
    x = np.array([2048.0] * 4 + [8192.0] * 3)
    y = np.array([3.91, 3.91, 3.91, 4.03, 3.92, 4.02, 4.04])
    fit = stats.linregress(x, y)
    s = sqrt(((y - fit.intercept - fit.slope * x) ** 2).sum() / 5)
    factor = sqrt(1 + 1 / 7 + (5120 - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())
    assert isinstance(risk.floor, Floor)
    z = (risk.floor.bytes / GIB - fit.intercept - fit.slope * 5120) / (s * factor)
    assert _chances(risk)["available"] == pytest.approx(stats.t.cdf(z, 5), rel=1e-6)
    assert risk.predicted is not None
    assert risk.predicted.reach / GIB == pytest.approx(stats.t.ppf(0.975, 5) * s * factor)


def test_recorded_needs_and_parts_are_those_of_the_model() -> None:
    known = boot_risk.memory(Study("vllm-cpu").connection)
    routes = {p.route: p for p in known.parts if p.batch == 2048 and p.is_known}
    for part in routes.values():  # 3 full layers hold 3,072 B a token; what is fixed is 5 groups of 21 blocks of 128
        assert part.per_token.low <= 3072 <= part.per_token.high
        assert part.fixed.low <= 5 * 21 * 128 * 3072 <= part.fixed.high
    assert set(routes) == {"refusal", "lengths"}
    setting = known.cells[0].setting
    assert isinstance(at := floor(setting, 2048, 65_536, known.cells, known.parts), Floor) and at.is_extrapolated
    assert at.bytes == pytest.approx((512 + 105) * 128 * 3072, rel=0.01)
    past = floor(setting, 100_000, 8192, known.cells, known.parts)
    assert isinstance(past, Floor) and past.how.endswith("a batch past the length changes nothing")


def test_the_floor_of_each_level_is_its_own(write_study: WriteStudy) -> None:
    """The same memory at both levels; requests need 1 GiB at the lower and 3 GiB at the higher one."""
    logs = {
        f"l{i}": boot_log(32_768, 2048, f"{2 + i / 100:.2f}", int(32_768 * (2 + i / 100)), day=i + 1) for i in range(3)
    }
    logs |= {
        f"h{i}": boot_log(32_768, 8192, None, None, ("3.0", f"{2 + i / 100:.2f}", None), day=9 + i) for i in range(3)
    }
    study = write_study(logs)
    known = boot_risk.memory(study.connection)
    by_batch = {r.batch: r for r in boot_risk.answers(study.connection, known)}
    assert [round(r.floor.bytes / GIB, 2) for b, r in sorted(by_batch.items()) if b < 16_384] == [1.0, 2.0, 3.0]
    assert [by_batch[b].verdict for b in (2048, 8192)] == ["safe", "risky"]
    assert (by_batch[8192].seen, by_batch[8192].refused) == (3, 3)
    assert by_batch[16384].is_extrapolated and by_batch[16384].verdict == "risky"


def test_nothing_beyond_what_was_tried_is_safe(write_study: WriteStudy) -> None:
    logs = {f"b{n}-{i}": boot_log(32_768, n, f"{g + i / 100:.2f}", int(32_768 * (g + i / 100)), day=i + 1)
            for n, g in ((2048, 10.0), (4096, 9.9)) for i in range(3)}  # fmt: skip
    study = write_study(logs)
    [inside], [outside] = _ask(study, 3000), _ask(study, 8192)
    assert (inside.verdict, outside.verdict) == ("safe", "cannot_tell")
    assert outside.is_extrapolated and outside.chances[-1] < 0.01
    assert all("extrapolated: no boot was made at or beyond this" in e.warnings for e in outside.routes)


def test_a_refusal_that_was_seen_outweighs_every_prediction(write_study: WriteStudy) -> None:
    logs = {
        f"b{i}": boot_log(32_768, 2048, f"{10 + i / 100:.2f}", int(32_768 * (10 + i / 100)), day=i + 1)
        for i in range(8)
    }
    logs["r"] = boot_log(32_768, 2048, None, None, ("1.0", "0.9", None), day=9)
    [risk] = _ask(write_study(logs), 2048)
    assert (risk.seen, risk.refused, risk.verdict) == (9, 1, "risky")
    seen = next(e for e in risk.routes if e.qualifiers["route"] == "seen")
    assert (seen.low, seen.high) == pytest.approx(tuple(stats.binomtest(1, 9).proportion_ci(method="exact")), abs=1e-6)


def test_memory_that_was_set_suffices_or_does_not(write_study: WriteStudy) -> None:
    pinned = ", 'kv_cache_memory_bytes': 2147483648"
    reserved = (
        "(Worker pid=9) INFO 06-01 10:00:30 [gpu_worker.py:400] Initial free memory 70.0 GiB, reserved 2.0 GiB memory "
        "for KV Cache as specified by kv_cache_memory_bytes config and skipped memory profiling.",
    )
    study = write_study(
        {
            "p1": boot_log(32_768, 2048, None, 65_536, args=pinned, extra=reserved),
            "p2": boot_log(65_536, 2048, None, 65_536, args=pinned, extra=reserved, day=2),
        }
    )
    short, long = _ask(study, 2048, 32_768), _ask(study, 2048, 131_072)
    assert ([_chances(r)["pinned"] for r in short], short[0].verdict) == ([0.0], "safe")
    assert ([_chances(r)["pinned"] for r in long], long[0].verdict) == ([1.0], "risky")
    # What the engine takes beside a pinned cache at a million tokens a step, no boot has shown.
    far = _ask(study, 1_000_000, 32_768)
    assert (far[0].verdict, far[0].is_extrapolated) == ("cannot_tell", True)


def test_one_boot_and_none(write_study: WriteStudy) -> None:
    [risk] = _ask(write_study({"a": boot_log(8192, 2048, "4.0", 60_000)}), 2048)
    assert (risk.verdict, risk.chances) == ("cannot_tell", [])
    assert "one boot: scatter was not measured" in risk_text.text([risk])
    assert risk_text.text([]).startswith("Cannot be said: no boot log")
    assert boot_risk.what_if(risk)[-1][1] == pytest.approx(stats.norm.cdf((risk.floor.bytes / GIB - 4) / 0.8))


def test_how_many_boots_would_settle_it(write_study: WriteStudy) -> None:
    gib = (4.8, 5.0, 5.2)
    logs = {f"b{i}": boot_log(32_768, 2048, f"{g}", int(32_768 * g / 4.4), day=i + 1) for i, g in enumerate(gib)}
    [risk] = _ask(write_study(logs), 2048)
    needed = boot_risk.boots_to_settle(risk)
    s, margin = float(np.std(gib, ddof=1)), 5.0 - 4.4
    by_hand = next(n for n in range(2, 31) if stats.t.cdf(-margin / (s * sqrt(1 + 1 / n)), n - 1) <= 0.05)
    assert needed == by_hand


def test_chances_cover_as_often_as_they_say() -> None:
    """Simulated boots: among settings with a stated chance, refusals come about that often (three boots a level)."""
    rng, stated, refused = np.random.default_rng(12), [], []
    levels = np.repeat([8192.0, 16384.0], 3)
    for _ in range(3000):
        boots = 12 - 3 * (levels - 8192) / 8192 + rng.normal(0, 0.8, 6)
        stated.append(refusal_probability(levels, boots, 12288, 9.8).value)
        refused.append(rng.normal(10.5, 0.8) < 9.8)
    assert np.mean(refused) == pytest.approx(stats.norm.cdf(-0.7 / 0.8), abs=0.02)
    assert np.mean(stated) == pytest.approx(np.mean(refused), abs=0.05)  # slightly timid, as few boots should be


def test_every_study_of_the_repository_has_an_answer() -> None:
    for folder in sorted(paths.DATA.iterdir()):
        study = Study(folder)
        for risk in boot_risk.answers(study.connection, boot_risk.memory(study.connection)):
            assert risk.verdict in ("safe", "risky", "cannot_tell")
            assert not (risk.refused and risk.verdict == "safe")
            assert not (risk.seen and not risk.refused and risk.verdict == "risky" and risk.seen > 5)


@pytest.mark.parametrize(
    ("gib", "pool", "fixed", "per_token"), [("12.08", 1_110_893, 2.1, 8.5), ("8.44", 1_085_106, 3.3, 3.6)]
)
def test_the_published_lengths_give_the_two_parts(
    write_study: WriteStudy, gib: str, pool: int, fixed: float, per_token: float
) -> None:
    """A context of 256k holds half the tokens and more requests: accounting, not memory lost."""
    study = write_study({
        "long": boot_log(768_000, 8192, gib, pool), "short": boot_log(262_144, 8192, "8.95", 555_000, day=2)
    })  # fmt: skip
    known = boot_risk.memory(study.connection)
    [part] = known.parts
    assert part.route == "lengths"
    assert (part.fixed.value / GIB, part.per_token.value / KIB) == pytest.approx((fixed, per_token), abs=0.06)
    assert "two boots: their scatter is in the figure and not in its limits" in part.fixed.warnings
    fitting = {b.boot: b.requests for b in known.boots}
    assert fitting == pytest.approx({"long": pool / 768_000, "short": 2.117}, abs=0.001)


def test_lengths_with_boots_that_contradict_each_other_give_no_parts(write_study: WriteStudy) -> None:
    study = write_study({
        "a": boot_log(768_000, 8192, "12.08", 1_110_893), "b": boot_log(768_000, 8192, "8.44", 1_085_106, day=2),
        "short": boot_log(262_144, 8192, "8.95", 555_000, day=3),
    })  # fmt: skip
    [part] = boot_risk.memory(study.connection).parts
    assert part.fixed.reason.startswith("withheld: boots of one configuration contradict each other")
