"""What the tests in Chromium share: how it is started, and a page that remembers what happened on it."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = "/usr/bin/chromium"
NEEDS_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(
        shutil.which(CHROMIUM) is None and os.environ.get("REQUIRE_BROWSER") != "1",
        reason="no Chromium on this machine (apt-get install chromium)",
    ),
]
HARMLESS = 'Dropping "fit-y" because spec has discrete height'  # Vega-Lite says so of charts that fit in width alone
# Without these Chromium looks for its maker's servers at every start.
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync"]  # fmt: skip


class Visit:
    """An open page and what happened on it."""

    def __init__(self, browser: Any, path: Path, width: int = 1280, scheme: str = "light", script: bool = True) -> None:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        self.page = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: HARMLESS in message.text or self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def live(self) -> Any:
        """The page once every figure answers to the pointer."""
        figures = self.page.locator("figure")
        for figure in figures.all():
            figure.scroll_into_view_if_needed()
            figure.locator(".chart.live svg").wait_for()
        assert figures.count() == self.page.locator("figure.is-live").count() > 0
        return self.page


def serious(
    browser: Any, path: Path, width: int = 1280, scheme: str = "light", keys: str = ""
) -> list[tuple[str, str]]:
    """What a checker of accessibility finds serious on a page, all folds open, after these keys (typed into /)."""
    from axe_playwright_python.sync_playwright import Axe

    # The page's own policy would keep the checker out.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    if keys:
        page.keyboard.press("/")
        page.keyboard.type(keys)
        page.keyboard.press("ArrowDown")
    page.wait_for_timeout(300)
    found = Axe().run(page).response["violations"]
    return [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
