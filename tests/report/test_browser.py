"""The pages in Chromium: nothing fetched, nothing run, nothing wider than the screen, everything named."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.report.pages import TEMPLATES
from analysis.report.post import write
from analysis.report.single import single
from analysis.report.table import grid
from tests.browsing import NEEDS_BROWSER, Visit, serious
from tests.posts import reported
from tests.simulate import Truth

pytestmark = NEEDS_BROWSER
PAGES = ["index.html", "10-first.html", "20-second.html", "numbers.html"]
FAINT = """() => {
  const shown = e => e.checkVisibility() && e.innerText && e.innerText.trim();
  const channel = c => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4 };
  const light = rgb => { const [r, g, b] = rgb.match(/[\\d.]+/g).map(Number);
    return .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b) };
  const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)$/.test(c)) return c } return "rgb(255, 255, 255)" };
  const bad = [];
  for (const e of document.querySelectorAll("main *, header *, footer *, nav *")) {
    if (e.closest("svg") || !shown(e) || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (getComputedStyle(e).opacity === "0") continue;
    const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) bad.push(e.outerHTML.slice(0, 90));
  }
  for (const t of document.querySelectorAll("svg text")) {
    if (!t.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(t).fill), light(ground(t))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) bad.push(t.outerHTML.slice(0, 90));
  }
  return bad;
}"""


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_page_fits_stands_out_asks_for_nothing_and_says_nothing(
    browser: Any, report: Path, name: str, width: int, scheme: str
) -> None:
    visit = Visit(browser, report / name, width, scheme)
    visit.page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.page.evaluate(FAINT) == []
    ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 28)")
    assert visit.asked == [(report / part).as_uri() for part in (name, "assets/search.js", "assets/figures.js")]
    assert visit.said == []


@pytest.mark.parametrize("width", [390, 1280])
def test_each_figure_shows_one_chart_that_has_a_name(browser: Any, report: Path, width: int) -> None:
    plain = Visit(browser, report / "10-first.html", width, script=False).page
    assert plain.locator("svg[role=img]:visible").count() == 2
    page = Visit(browser, report / "10-first.html", width).live()
    charts = page.get_by_role("img")
    assert charts.count() == 2
    assert page.get_by_role("img", name="b1 at 8 per cent, b2 at 80.").count() == 1
    for chart in charts.all():
        text = chart.locator("text").first
        assert text.evaluate("e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a") >= 11


def test_a_figure_alone_shows_one_drawing_and_cuts_no_label(browser: Any, report: Path) -> None:
    """As in JupyterLab: without the style sheet; labels were measured with a font that not every machine has."""
    figure = re.search(r'<figure id="fig-shares".*?</figure>', (report / "10-first.html").read_text(), re.S)[0]
    page = browser.new_context(viewport={"width": 1000, "height": 900}).new_page()
    page.set_content(f"<style>svg text {{ font-family: 'DejaVu Sans Mono' !important }}</style>{figure}")
    drawn = page.locator("svg:visible")
    assert drawn.count() == 1
    left = "e => e.getBoundingClientRect().left"
    assert min(text.evaluate(left) for text in drawn.locator("text").all()) < drawn.evaluate(left)
    assert drawn.evaluate("e => getComputedStyle(e).overflow") == "visible"
    page.set_viewport_size({"width": 400, "height": 900})
    assert drawn.evaluate("e => e.getBoundingClientRect().right") <= 400


def test_a_wide_table_scrolls_in_its_own_box_and_by_keyboard(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "20-second.html", 390).page
    box = page.get_by_role("region").first
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)  # the page's own policy forbids the polling script of wait_for_function
    assert box.evaluate("e => e.scrollLeft") > 0


def test_a_cell_leads_to_how_it_was_obtained_by_keyboard_and_without_script(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "20-second.html", 390, script=False).page
    cells = page.locator("#table-cells tbody a")
    names = ["50 % [40, 60], how it was obtained; its interval rests on assumed figures", "50, how it was obtained",
             "50 %, how it was obtained; rests on assumed figures",
             "50, how it was obtained; rests on assumed figures", "not computable, why there is none",
             "—, why there is none"]  # fmt: skip
    assert [cell.get_attribute("aria-label") for cell in cells.all()] == names
    assert page.get_by_role("link", name=names[0]).count() == 1
    cells.first.focus()
    assert cells.first.evaluate("e => e.matches(':focus-visible') && getComputedStyle(e).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.locator(":target strong.value").inner_text() == "50 % [40, 60]"


def test_links_in_a_table_are_quiet_and_large_enough_to_tap(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "20-second.html", 390).page
    cell = page.locator("#table-cells tbody a").first
    style = cell.evaluate("e => [getComputedStyle(e).textDecorationStyle, getComputedStyle(e).color]")
    assert style == ["dotted", page.locator("#table-cells tbody th").first.evaluate("e => getComputedStyle(e).color")]
    assert min(link.bounding_box()["height"] for link in page.locator("#table-cells tbody a").all()) >= 24
    assert page.locator("#table-cells .mark").first.evaluate("e => getComputedStyle(e).textDecorationLine") == "none"
    assert page.locator("#table-cells + .marks, #table-cells .marks").is_visible()


def test_a_long_text_is_folded_on_a_narrow_screen_alone(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "20-second.html", 1280, script=False).page
    text = page.locator("#table-cells td.long .fold").last
    whole = text.evaluate("e => e.textContent")
    assert len(whole) > 80 and text.inner_text().split() == whole.split()
    page.set_viewport_size({"width": 390, "height": 900})
    assert text.inner_text() != whole and whole.startswith(text.inner_text())
    text.locator("summary").click()
    assert text.inner_text().split() == whole.split()
    page.emulate_media(media="print")
    assert text.inner_text().split() == whole.split()


def test_the_pages_lead_to_each_other_without_script(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "index.html", script=False).page
    page.get_by_role("link", name="Where time goes →").click()
    page.get_by_role("link", name="The rest →").click()
    page.get_by_role("link", name="← Where time goes").click()
    page.get_by_text("How this was obtained").first.click()
    page.locator("dd", has_text="block bootstrap").wait_for()


def test_a_table_may_be_wider_than_the_text_and_says_where_it_scrolls(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "20-second.html", 1280).page
    box = page.get_by_role("region").first
    assert box.bounding_box()["width"] > 1.2 * page.locator("main > p").first.bounding_box()["width"]
    scrolls = "e => e.scrollWidth > e.clientWidth"
    assert [region.evaluate(scrolls) for region in page.get_by_role("region").all()] == [True, False]
    assert [hint.is_visible() for hint in page.locator(".hint").all()] == [True, False]
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_timeout(100)
    assert [region.evaluate(scrolls) for region in page.get_by_role("region").all()] == [True, True]
    assert [hint.is_visible() for hint in page.locator(".hint").all()] == [True, True]
    assert page.locator("details .table, figure .scroll").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_the_name_of_a_row_stays_while_its_numbers_are_scrolled_by(browser: Any, report: Path, width: int) -> None:
    page = Visit(browser, report / "20-second.html", width).page
    box = page.locator("#table-cells .scroll")
    box.evaluate("e => { e.style.width = '340px'; e.scrollLeft = 1000 }")
    assert box.evaluate("e => e.scrollLeft") > 100
    left = box.bounding_box()["x"]
    for name in ("thead th", "tbody th"):
        assert box.locator(name).first.bounding_box()["x"] == left
    assert box.locator("thead th").nth(1).bounding_box()["x"] < left


def test_the_numbers_of_a_figure_may_be_wider_than_it(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "10-first.html", 1280).live()
    page.get_by_text("The numbers", exact=True).first.click()
    chart, numbers = (
        page.locator(".chart.live").first.bounding_box(),
        page.locator("figure .scroll").first.bounding_box(),
    )
    assert chart["width"] == 46 * 16 < numbers["width"]


def test_print_has_every_figure_and_no_navigation(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "10-first.html").live()
    page.emulate_media(media="print")
    assert page.locator(".chart.live:visible").count() == 0
    assert page.locator(".chart.wide:visible").count() == 2
    assert page.locator("nav:visible").count() == 0


def test_print_of_the_first_page_leaves_out_what_leads_on(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "index.html").page
    number = page.locator("p.number").first
    assert " ".join(number.inner_text().split()).endswith("95 % interval · from metrics/a.prom, line 7 · how")
    assert page.locator(".paper:visible").count() == 0
    page.emulate_media(media="print")
    assert " ".join(number.inner_text().split()).endswith(") 8.0 % [7.0, 9.0] estimate, 95 % interval")
    assert page.locator("h2:visible").all_inner_texts() == [
        "What the data say", "What could not be computed", "Where this comes from",
    ]  # fmt: skip
    assert page.locator("table:not(.provenance):visible, main a:visible").all_inner_texts() == ["results.json"]
    said = "Kinds of figures that could not be computed: 2. The page on the screen lists each with its reason."
    assert page.locator(".paper:visible").all_inner_texts() == [said]


def test_a_chart_says_its_values_on_hover_and_filters_by_its_legend(browser: Any, report: Path) -> None:
    visit = Visit(browser, report / "10-first.html")
    page = visit.live()
    points = page.locator("#fig-shares .chart.live path[aria-roledescription=point]")
    points.first.hover(force=True)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    said = ["label\tb1", "group\tprefill", "value\t8", "lower limit\t7", "upper limit\t9"]
    assert tip.inner_text().split("\n") == said
    symbols = page.locator("#fig-shares .chart.live g.role-legend-symbol path")
    symbols.nth(1).click()
    page.wait_for_timeout(300)
    strength = [float(point.get_attribute("opacity") or 1) for point in points.all()]
    assert sorted(strength) == [0.12, 0.12, 1]
    assert visit.said == []


def test_hostile_names_do_nothing_in_a_chart(browser: Any, report: Path) -> None:
    visit = Visit(browser, report / "10-first.html")
    page = visit.live()
    for point in page.locator("#fig-shares .chart.live path[aria-roledescription=point]").all():
        point.hover(force=True)
        page.wait_for_timeout(100)
    assert page.locator("#vg-tooltip-element img, #vg-tooltip-element script, figure img").count() == 0
    assert visit.said == []


def test_search_finds_numbers_figures_and_sections(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "20-second.html").page
    page.keyboard.press("/")
    page.keyboard.type("prefill SHARE")
    found = page.get_by_role("option")
    assert "number" in found.first.inner_text()
    assert page.get_by_role("status").inner_text() == f"{found.count()} found"
    found.first.click()
    assert page.url.startswith((report / "numbers.html").as_uri() + "#n-time-prefill-share")
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("steady")
    page.get_by_role("option").filter(has_text="figure").click()
    assert page.url == (report / "10-first.html").as_uri() + "#fig-steady"
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("no such thing")
    assert page.get_by_role("status").inner_text() == "0 found"
    page.keyboard.press("Escape")
    assert page.get_by_role("status").inner_text() == ""


def test_without_scripts_there_is_no_search_and_nothing_else_is_missing(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "10-first.html", script=False).page
    assert not page.locator(".search").is_visible()
    assert page.locator(".chart.wide:visible").count() == 2


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_an_accessibility_check_finds_nothing_serious(
    browser: Any, report: Path, name: str, width: int, scheme: str
) -> None:
    assert serious(browser, report / name, width, scheme) == []


def test_every_control_is_reached_by_keyboard(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "10-first.html").live()
    wanted = page.locator("a:visible, summary:visible, input:visible, [tabindex='0']:visible").count()
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
    assert len(reached) >= wanted


def test_at_twice_the_size_nothing_is_cut(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "10-first.html", 640).live()  # a window of 1280 pixels at 200 %
    assert page.evaluate("document.documentElement.scrollWidth") <= 640


def test_a_printed_report_holds_every_page_of_text(browser: Any, report: Path, tmp_path: Path) -> None:
    page = Visit(browser, report / "10-first.html").live()
    page.pdf(path=tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "page.pdf").stat().st_size > 20_000


@pytest.fixture(scope="module")
def one_file(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("alone") / "report.html"
    file.write_text(single(report))
    return file


def test_one_file_holds_the_whole_report(browser: Any, one_file: Path) -> None:
    visit = Visit(browser, one_file, 390)
    page = visit.live()
    assert page.locator("section.of-report").count() == 4
    page.get_by_role("link", name="Where time goes", exact=True).first.click()
    assert page.url.endswith("#10-first--main")
    page.locator("a[aria-label^='How this was obtained']").first.click()
    page.locator(":target dl").wait_for()
    page.locator("[id='20-second--table-cells'] tbody a").first.click()
    assert page.locator(":target strong.value").inner_text() == "50 % [40, 60]"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert visit.asked == [one_file.as_uri()]
    assert visit.said == []


def test_one_file_has_its_contents_at_the_side_and_its_search(browser: Any, one_file: Path) -> None:
    visit = Visit(browser, one_file)
    page = visit.page
    contents = page.get_by_role("navigation", name="Pages", exact=True)
    titles = ["Overview", "Where time goes", "The rest", "All numbers"]
    assert [link.inner_text() for link in contents.get_by_role("link").all()] == titles
    contents.get_by_role("link", name="All numbers").click()
    page.wait_for_timeout(300)
    box = contents.bounding_box()
    assert box["x"] < 100 and 0 <= box["y"] < 200
    sections = page.get_by_role("navigation", name="Sections of Where time goes")
    assert [link.inner_text() for link in sections.get_by_role("link").all()] == ["Shares", "Along the run"]
    for asked, number, anchor in (
        ("steady", 1, "#10-first--fig-steady"),
        ("time.prefill_share.step_time", 1, "#numbers--n-time-prefill-share-step-time"),
        ("the rest", 5, "#20-second--main"),
    ):
        page.keyboard.press("/")
        page.keyboard.press("Escape")
        page.keyboard.type(asked)
        assert page.get_by_role("option").count() == number
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
        assert page.evaluate("location.hash") == anchor
    assert visit.asked == [one_file.as_uri()]
    assert visit.said == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_an_accessibility_check_finds_nothing_serious_in_one_file(
    browser: Any, one_file: Path, width: int, scheme: str
) -> None:
    assert serious(browser, one_file, width, scheme) == []


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report of a simulated study with its post."""
    root = tmp_path_factory.mktemp("post")
    write(reported(Truth(refused=1, unmatched=2).write(root / "study"), root / "report"))
    return root / "report"


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_post_fits_stands_out_and_says_nothing(browser: Any, post: Path, width: int, scheme: str) -> None:
    visit = Visit(browser, post / "post.html", width, scheme)
    visit.page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.page.evaluate(FAINT) == []
    assert visit.said == []
    assert visit.page.locator("sup a").count() > 3
    visit.page.locator("sup a").last.click()
    assert visit.page.evaluate("document.querySelector(location.hash).closest('ol.evidence') !== null")


def test_a_checker_of_accessibility_finds_nothing_serious_in_a_post(browser: Any, post: Path) -> None:
    assert serious(browser, post / "post.html") == []


@pytest.mark.parametrize(
    ("rows", "text", "whole"), [(60, "word " * 20, True), (61, "word " * 20, False), (60, "w", False)]
)
def test_a_table_of_sentences_is_as_tall_as_it_is_up_to_a_length(
    browser: Any, rows: int, text: str, whole: bool
) -> None:
    style = (TEMPLATES / "style.css").read_text()
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.set_content(f"<style>{style}</style>" + grid(pl.DataFrame({"a": ["x"] * rows, "b": [text] * rows}), "t", "c"))
    assert page.locator(".scroll").evaluate("e => e.scrollHeight <= e.clientHeight") == whole
    page.close()
