"""Search by everyday words and by keyboard, and folds that open for whoever is led into them, in Chromium."""

from pathlib import Path
from typing import Any

import pytest

from analysis import paths
from analysis.report.convert import convert
from analysis.report.names import NUMBERS
from analysis.report.pages import Page, render
from analysis.report.results import Results
from analysis.report.search_index import search_script
from tests.browsing import NEEDS_BROWSER, Visit, serious

pytestmark = NEEDS_BROWSER
TO_DO = [{"page": "25-levers", "sentence": "Decode takes most.", "next_step": "Shorten the answers.", "estimates": []}]


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    """The pages of the repository's notebooks, of which only the prose is needed."""
    return [
        *map(convert, sorted(paths.NOTEBOOKS.glob("*.ipynb"))),
        Page(NUMBERS, "All numbers", "Every number.", "<h1>All numbers</h1>", ()),
    ]


@pytest.fixture(scope="module")
def script(pages: list[Page]) -> str:
    return search_script(pages, Results({"estimates": [], "takeaways": TO_DO}, {}, {}))


@pytest.fixture(scope="module")
def site(pages: list[Page], script: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / "assets").mkdir()
    (folder / "assets/search.js").write_text(script)
    (folder / "assets/figures.js").write_text("")
    for page in pages:
        (folder / f"{page.stem}.html").write_text(render(page, pages, "study"))
    return folder


LEVERS, POOL, BATCH = (
    "What to change first: levers, lengths and rates",
    "What the token pool is",
    "What a batch token costs",
)
FOUND = {
    "tune": [LEVERS, "Shorten the answers."],
    "Tuning": [LEVERS, "Shorten the answers."],
    "slow": ["Where the time goes", LEVERS, "Start-up", "First tokens", "Silent degradation"],
    "OOM": [BATCH, "Will the next boot start? Along batch tokens", "Along the context length", POOL],
    "memory": [BATCH, POOL, "Memory, power and headroom"],
    "out of memory": [BATCH, POOL],
    "latency": ["Mixed traffic", "First tokens", "All times", "Whose turn it is"],
    "throughput": ["Rates, and the load that is not one", "Arms compared", "Valid records per hour"],
    "faster": [LEVERS, "Arms compared"],
    "stutter": ["Whose turn it is"],
    "ttft": ["First tokens"],
    "shorten": ["Shorten the answers."],
    "first long": ["By the length of the prompt", "How long would such a request take?"],
}
"""The first hits, in their order."""


@pytest.mark.parametrize("asked", FOUND)
def test_everyday_words_lead_to_the_page_that_answers(browser: Any, site: Path, asked: str) -> None:
    page = Visit(browser, site / "10-inventory.html").page
    page.keyboard.press("/")
    page.keyboard.type(asked)
    titles = [hit.locator("span").first.inner_text() for hit in page.get_by_role("option").all()]
    assert titles[: len(FOUND[asked])] == FOUND[asked]


def test_a_word_is_not_found_within_another(browser: Any, site: Path) -> None:
    page = Visit(browser, site / "10-inventory.html").page
    page.keyboard.press("/")
    page.keyboard.type("oken")
    assert page.get_by_role("status").inner_text() == "0 found"


def test_hits_are_chosen_and_opened_by_keyboard(browser: Any, site: Path) -> None:
    visit = Visit(browser, site / "10-inventory.html")
    page = visit.page
    box = page.get_by_role("combobox", name="Search")
    said = ("aria-expanded", "aria-activedescendant")

    def state() -> list[str | None]:
        return [box.get_attribute(name) for name in said]

    page.keyboard.press("/")
    assert state() == ["false", None]
    page.keyboard.type("throughput")
    assert state() == ["true", None]
    assert page.get_by_role("listbox", name="What was found").get_by_role("option").count() == 3
    marked = page.locator("[role=option][aria-selected=true]")
    for key, at in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", 2), ("ArrowDown", 0)):
        page.keyboard.press(key)
        assert state() == ["true", f"search-hit-{at}"]
        assert marked.get_attribute("id") == f"search-hit-{at}"
    assert box.evaluate("e => e === document.activeElement")
    page.keyboard.press("Escape")
    assert (state(), box.input_value(), page.get_by_role("option").count()) == (["false", None], "", 0)
    page.keyboard.type("throughput")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/60-mixed-traffic.html#valid-records-per-hour")
    assert visit.said == []


def test_enter_opens_the_first_hit_and_a_list_that_is_left_closes(browser: Any, site: Path) -> None:
    page = Visit(browser, site / "10-inventory.html").page
    page.keyboard.press("/")
    page.keyboard.type("tune")
    page.keyboard.press("Tab")
    assert page.locator("[role=listbox]").is_hidden()
    page.get_by_role("combobox").focus()
    page.locator("[role=listbox]").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/25-levers.html")
    page.keyboard.press("/")
    page.keyboard.type("no such thing")
    page.keyboard.press("Enter")
    assert page.url == (site / "25-levers.html").as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_open_list_is_accessible_and_fits_a_phone(browser: Any, site: Path, scheme: str) -> None:
    assert serious(browser, site / "10-inventory.html", 390, scheme, "slow") == []
    page = Visit(browser, site / "10-inventory.html", 390).page
    page.keyboard.press("/")
    page.keyboard.type("slow")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.get_by_role("listbox").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_a_link_to_a_number_opens_its_fold(browser: Any, report: Path) -> None:
    page = Visit(browser, report / "20-second.html").page
    page.locator("#table-cells tbody a").first.click()
    page.wait_for_url("**/numbers.html#n-*")
    how = page.locator(":target dd", has_text="time.wall_state")
    how.wait_for()
    assert page.locator("details[open]").count() == 1
    page.locator(":target summary").click()
    how.wait_for(state="hidden")
    page.keyboard.press("/")
    page.keyboard.type("time.wall_state 50 40 60")
    page.keyboard.press("Enter")  # to the place where the reader is already
    how.wait_for()
    page.goto((report / "index.html").as_uri())
    page.locator("a[aria-label^='How this was obtained']").first.click()
    page.wait_for_url("**/10-first.html#n-*")
    page.locator(":target dd", has_text="block bootstrap").wait_for()
    page.goto((report / "index.html").as_uri())
    page.locator(".from a[href$='-from']").first.click()
    page.wait_for_url("**/10-first.html#n-*-from")
    page.locator(":target").wait_for()


def test_a_fold_that_a_link_leads_to_is_open_without_script_and_on_paper(browser: Any, report: Path) -> None:
    place = Visit(browser, report / "20-second.html").page.locator("#table-cells tbody a").first.get_attribute("href")
    name = place.partition("#")[2]
    plain = Visit(browser, report / "numbers.html", script=False).page
    assert plain.locator(f"[id='{name}'] dl").is_hidden()
    plain.goto((report / place.partition("#")[0]).as_uri() + f"#{name}")
    plain.locator(f"[id='{name}'] dl").wait_for()
    page = Visit(browser, report / "10-first.html").page
    assert page.locator(".estimate dl:visible").count() == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".estimate dl:visible").count() == page.locator(".estimate").count() == 2
    assert page.locator("details.code[open]").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
