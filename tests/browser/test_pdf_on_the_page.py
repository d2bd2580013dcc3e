"""A presentation from the drop zone to its PDF on the screen, in a Chromium with a window, which can show a PDF."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Playwright, expect

from tests.browser.conftest import CHROMIUM, Enter, launched
from tests.browser.test_conversions import deck
from tests.browser.windows import Windows
from tests.stack import eventually

pytestmark = pytest.mark.slow
DRAWN_BY_THE_VIEWER = "#sizer + embed[type='application/x-google-chrome-pdf']"  # beside the measure of all its pages


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """The full browser, because only it has a PDF viewer."""
    with launched(playwright, CHROMIUM) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def windows(browser: Browser) -> Windows:
    return Windows(browser)


def test_a_presentation_is_uploaded_converted_and_opened_in_the_page(enter: Enter) -> None:
    page = enter("/?v=conversions").page

    page.get_by_label("Choose files").set_input_files(
        FilePayload(name="Lobby autumn.pptx", mimeType="", buffer=deck(3))
    )

    row = page.locator(".media").filter(has_text="Lobby autumn.pptx")
    expect(row).to_have_attribute("data-status", "ready")
    expect(row).to_contain_text("3 pages")
    with page.expect_response(re.compile("/api/files/converted/")) as answered:
        row.get_by_role("button", name="Open the PDF of Lobby autumn.pptx").click()
    assert answered.value.status == 200
    assert answered.value.headers["content-type"] == "application/pdf"
    expect(page.get_by_role("dialog", name="PDF of Lobby autumn.pptx").locator("iframe")).to_be_visible()
    eventually(lambda: any(frame.locator(DRAWN_BY_THE_VIEWER).count() for frame in page.frames), "the PDF's pages")
    page.keyboard.press("Escape")
    with page.expect_download() as downloaded:
        row.get_by_role("link", name="Download").click()
    assert downloaded.value.suggested_filename == "Lobby autumn.pdf"
    assert downloaded.value.path().read_bytes().startswith(b"%PDF-")
