"""The site of documents in a browser, opened from its folder: it needs no server, and asks no other host."""

from typing import Final, Literal

from playwright.sync_api import Browser, expect

from tests import site_of_documents
from tests.browser.windows import PATIENCE_MS

SIDEWAYS: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LOOKS: Final[tuple[tuple[int, Literal["light", "dark"]], ...]] = ((390, "dark"), (1440, "light"))


def test_a_word_is_searched_and_found_and_no_page_scrolls_sideways(browser: Browser) -> None:
    folder = site_of_documents.built()
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.goto((folder / "index.html").as_uri())
        page.wait_for_url("**/README.html")
        if width < 1000:
            page.locator(".nav-overlay-icon").first.click()
        page.get_by_placeholder("Search").fill("Receive Maximum")
        page.get_by_placeholder("Search").press("Enter")
        page.locator("#search-results").get_by_role("link", name="Deploying Signage Fleet").click()
        expect(page.get_by_role("heading", name="Deploying Signage Fleet")).to_be_visible()
        expect(page.locator(".highlighted").first).to_have_text("Receive")
    for path in sorted(folder.glob("[!i]*.html")) + sorted(folder.glob("docs/**/*.html")):  # index.html leads elsewhere
        page.goto(path.as_uri())
        for width, _scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(SIDEWAYS) == 0, f"{path.name} at {width}"
    assert [url for url in asked if not url.startswith((folder.as_uri(), "data:"))] == []
    context.close()
