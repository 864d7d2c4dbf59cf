"""A report of one page, made in the process: what the tests of posts write a post from."""

import shutil
from pathlib import Path

import polars as pl

from analysis import charts
from analysis.findings import accountings, claims, step_time, time_split
from analysis.findings import wall_states as walls
from analysis.findings.arm_words import question
from analysis.findings.registry import Registry
from analysis.report.pages import Page
from analysis.report.post_material import Material
from analysis.report.run import write_pages
from analysis.report.study_report import banner_of, generated_from
from analysis.study import Study

PAGE = "20-where-time-goes"


def reported(data: Path, out: Path) -> Material:
    """A report of one page without notebooks: the answer on time, its figure, every registered figure, the ledger."""
    study = Study(data, out)
    runs = time_split.runs(study.connection)
    known = accountings.Accountings(
        time_split.prefill_shares(study.connection, runs), step_time.prefill_shares(study.connection, runs),
        walls.shares(study.connection, runs), [time_split.mean_concurrency(study.connection, run) for run in runs],
    )  # fmt: skip
    study.answer(PAGE, known.sentence(), *known.headline(), next_step=known.next_step(), unless=known.unless())
    study.record(*Registry(study.connection).everything())
    study.claim(*[j.to_json() for j in claims.ledger(study.connection)])
    rows = pl.DataFrame({"label": ["b1"], "group": ["prefill"], "value": [10.0], "low": [9.0], "high": [11.0]})
    texts = {"title": "One share.", "subtitle": "%", "description": "b1 at 10 per cent."}
    figure = study.figure(charts.share_by_boot(rows, **texts), "prefill-share", rows, "Counted.")
    pages = [Page(PAGE, "Where the time goes", "s", figure.html, ())]
    write_pages(study.name, out, pages, generated_from(study.store), banner_of(study.store), question(study.connection))
    shutil.rmtree(out / "results")
    return Material(study.store, out)
