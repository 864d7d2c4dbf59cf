"""Pages made from real notebooks: complete, offline, inert."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_making import Silent, notebook  # made importable by conftest.py

from analysis import paths
from analysis.report.convert import convert
from analysis.report.errors import ReportError
from analysis.report.everyday import WORDS
from analysis.report.names import NUMBERS
from analysis.report.next_time import with_section
from analysis.report.offline import loads
from analysis.report.pages import Page, fill, render
from analysis.report.results import Results
from analysis.report.run import build
from analysis.report.search_index import index_in, search_script
from analysis.report.single import single

PAGES = ["index.html", "10-first.html", "20-second.html", "numbers.html"]


class Tags(HTMLParser):
    """The tags, ids and links of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_and_runs_nothing(report: Path, name: str) -> None:
    html = (report / name).read_text()
    assert loads(html) == []
    tags = Tags(html)
    assert not {"img", "iframe"} & set(tags.tags)
    scripts = re.findall(r"<script[^>]*>", html)
    ours = ['<script src="assets/search.js" defer>', '<script src="assets/figures.js" defer>']
    assert [tag for tag in scripts if "src=" in tag] == ours
    assert {tag for tag in scripts if "src=" not in tag} <= {'<script class="spec" type="application/json">'}
    assert html.count("Content-Security-Policy") == 1
    assert "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'" in html


@pytest.mark.parametrize("name", PAGES)
def test_ids_are_unique_and_every_link_leads_somewhere(report: Path, name: str) -> None:
    tags = Tags((report / name).read_text())
    assert len(set(tags.ids)) == len(tags.ids)
    for link in tags.links:
        path, _, anchor = link.partition("#")
        target = report / path if path else report / name
        assert target.is_file(), link
        assert not anchor or anchor in Tags(target.read_text()).ids, link


def test_the_index_leads_from_the_takeaway_to_its_number(report: Path) -> None:
    html = (report / "index.html").read_text()
    assert "Prefill takes 8%. &lt;script&gt;" in html
    assert "8.0 % [7.0, 9.0]" in html
    assert re.search(r'href="10-first\.html#n-time-prefill-share[^"]*"', html)
    assert "<td>no iteration log</td>" in html
    assert "Decode takes most of it." in html and "A table." in html


def test_set_up_parameters_and_standard_error_are_left_out(report: Path) -> None:
    html = (report / "10-first.html").read_text()
    assert "to stderr" not in re.sub(r'<details class="code">.*?</details>', "", html, flags=re.S)
    assert "&lt;b&gt;to stdout&lt;/b&gt; url=http://[host e52c]:8000" in html
    assert "def record" not in html and str(report.parent) not in html
    assert html.count('<details class="code">') == 4


def test_what_is_quoted_is_redacted(report: Path) -> None:
    quote = json.loads((report / "results.json").read_text())["estimates"][0]["evidence"][0]["quote"]
    assert quote.startswith("url=http://[host e52c]:8000 user=[e-mail 0816] ")
    page = (report / "10-first.html").read_text()
    assert "<code>url=http://[host e52c]:8000 user=[e-mail 0816] &lt;script&gt;" in page
    assert "Taken out of what is quoted: e-mail (1), host (4)." in (report / "index.html").read_text()


def test_no_host_and_no_address_is_in_any_generated_file(report: Path) -> None:
    """What the notebooks' code has in clear, as these do, is ours; it is the outputs that are checked."""
    for path in (p for p in report.rglob("*") if p.is_file() and p.suffix != ".png"):
        shown = re.sub(r'<details class="code">.*?</details>', "", path.read_text(), flags=re.S)
        for secret in ("gpu-17", "a@example.com", "node-7", "corp-internal"):
            assert secret not in shown, path


def test_figures_and_tables_have_their_files(report: Path) -> None:
    assert (report / "figures/shares.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    svg = (report / "figures/shares.svg").read_text()
    assert svg.startswith("<svg") and "Decode dominates" in svg and "<script>" not in svg
    rows = list(csv.reader((report / "tables/wide.csv").open()))
    assert rows[1] == ["'=1+1"] * 12
    assert not (report / "results").exists() and not (report / ".work").exists()


def test_each_figure_is_an_image_with_a_text_and_its_numbers(report: Path) -> None:
    html = (report / "10-first.html").read_text()
    assert html.count("<figure ") == 2
    assert html.count('aria-label="b1 at 8 per cent, b2 at 80. &lt;script&gt;') == 2  # wide and narrow
    assert html.count('role="img"') == 4
    assert "<caption><span>The numbers of the figure: Decode dominates" in html


def test_repeated_headings_get_their_own_anchors(report: Path) -> None:
    html = (report / "20-second.html").read_text()
    assert '<h2 id="a-wide-table">' in html and '<h2 id="a-wide-table-2">' in html
    assert 'href="#a-wide-table-2"' in html


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<script src="x.js"></script>', "<script>"),
        ('<img src="https://x/y.png">', "img src=https://x/y.png"),
        ('<link href="//x/y.css">', "link href=//x/y.css"),
        ("<style>@import 'x'</style>", "style sheet with @import or url()"),
        ('<p style="background:url(http://x)">', "p style=background:url(http://x)"),
        ('<p onclick="x()">', "p onclick"),
        ('<a href="javascript:x()">', "a href=javascript:x()"),
    ],
)
def test_what_would_fetch_or_run_is_found(html: str, found: str) -> None:
    assert loads(html) == [found]


def test_links_and_namespaces_fetch_nothing() -> None:
    assert (
        loads('<a href="https://x">x</a><svg xmlns="http://www.w3.org/2000/svg"><g clip-path="url(#c)"/></svg>') == []
    )


def test_a_page_with_a_plain_chart_stops_the_build(tmp_path: Path) -> None:
    import nbformat

    output = nbformat.v4.new_output("display_data", {"text/html": '<script src="https://cdn/vega.js"></script>'})
    path = tmp_path / "10-x.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("chart", outputs=[output])]), path)
    page = convert(path)
    with pytest.raises(ReportError, match="the page 10-x would run or fetch <script>"):
        render(page, [page], "study")


def test_one_file_has_no_link_that_leads_out_of_it(report: Path) -> None:
    html = single(report)
    tags = Tags(html)
    assert len(set(tags.ids)) == len(tags.ids)
    assert [link for link in tags.links if not link.startswith("#")] == []
    assert {link[1:] for link in tags.links} - set(tags.ids) == set()
    assert len([link for link in tags.links if link.startswith("#numbers--n-")]) >= 6


def test_one_file_finds_all_but_the_numbers_by_an_index_within_it(report: Path) -> None:
    rows = index_in((report / "assets/search.js").read_text())
    html = single(report)
    found = index_in(html.partition("<script>window.REPORT = ")[2])
    ids = set(Tags(html).ids)
    assert [row["title"] for row in found] == [row["title"] for row in rows if row["kind"] != "number"]
    assert len(found) < len(rows)
    assert [row["href"] for row in found if row["href"].removeprefix("#") not in ids] == []
    assert "'sha256-" in html and html.count("Content-Security-Policy") == 1
    pages = sum(len((report / page).read_text()) for page in PAGES) + len((report / "assets/figures.js").read_text())
    assert len(html) < pages + 20_000


def test_every_value_of_a_template_must_be_given() -> None:
    with pytest.raises(Exception, match="undefined"):
        fill("notebook.html.j2", "x")


def test_everyday_words_lead_to_places_that_are_there() -> None:
    pages = [*map(convert, sorted(paths.NOTEBOOKS.glob("*.ipynb"))), Page(NUMBERS, "All numbers", "", "", ())]
    step = {"page": "25-levers", "sentence": "Decode takes most.", "next_step": "Shorten the answers.", "estimates": []}
    results = Results({"study": "study", "estimates": [], "takeaways": [step]}, {}, {})
    rows = index_in(search_script(with_section(pages, results, (), is_rebuilt=False), results))
    found = {row["href"].replace(".html", "") for row in rows if "words" in row}
    assert sorted(WORDS.keys() - found) == []
    assert [row["title"] for row in rows if row["kind"] == "what to do"] == ["Shorten the answers."]


EMPTY = """
from analysis.report.answer import nothing
(OUT / "tables").mkdir()
nothing("There is no fleet of <b>.", "Record several servers: `make capture`.")
"""


def test_a_page_without_anything_says_what_is_missing_and_the_others_say_that_it_is_empty(tmp_path: Path) -> None:
    first = notebook(tmp_path / "nb/10-first.ipynb", "# Something", 'print("x")', "## More", "1 + 1")
    empty = notebook(
        tmp_path / "nb/20-empty.ipynb", "# Fleet\n\nOf replicas.", EMPTY, "## Shares", "## Settings", "'left out'"
    )
    out = tmp_path / "out"
    build("study", tmp_path, out, [first, empty], Silent(), {})
    html = (out / "20-empty.html").read_text()
    said = "There is no fleet of &lt;b&gt;."
    assert re.findall(r"<h\d[^>]*>([^<]*)<", html) == ["Fleet"]
    assert html.count("<details") == 0 and "left out" not in html and 'class="toc"' not in html
    assert f'<p class="takeaway">{said}</p><p class="step"><span class="name">What to do:</span> Record several' in html
    for page in ("index", "10-first", "20-empty"):
        shown = (out / f"{page}.html").read_text()
        assert re.findall(r"<a[^>]*>([^<]*) <span class=.none.>.empty.</span></a>", shown) == ["Fleet"]
    missing = f"{said} What to do: Record several servers: `make capture`."
    assert f'<dd><span class="none">Empty.</span> {missing}</dd>' in (out / "index.html").read_text()
    assert single(out).count("(empty)") == 1
    [row] = [row for row in index_in((out / "assets/search.js").read_text()) if row["title"] == "Fleet"]
    assert row["text"] == "There is no fleet of <b>. What to do: Record several servers: `make capture`."
