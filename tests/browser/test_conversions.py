"""A presentation from the drop zone to a PDF on the screen, and one that cannot be converted."""

import io
import re

import pytest
from playwright.sync_api import FilePayload, expect
from pptx import Presentation

from tests.browser.watched import WatchedPage

pytestmark = pytest.mark.slow
CONVERTED_MS = 60_000


def deck(slides: int) -> bytes:
    """A real pptx with so many slides."""
    presentation = Presentation()
    for number in range(1, slides + 1):
        slide = presentation.slides.add_slide(presentation.slide_layouts[0])
        slide.shapes.title.text = f"Welcome {number}"
    written = io.BytesIO()
    presentation.save(written)
    return written.getvalue()


def test_a_presentation_is_uploaded_converted_and_opened_in_the_page(dashboard: WatchedPage) -> None:
    page = dashboard.sign_in("/?v=conversions")

    page.get_by_label("Choose files").set_input_files(
        FilePayload(name="Lobby autumn.pptx", mimeType="", buffer=deck(3))
    )

    row = page.locator(".media").filter(has_text="Lobby autumn.pptx")
    expect(row).to_have_attribute("data-status", "ready", timeout=CONVERTED_MS)
    expect(row).to_contain_text("3 pages")
    with page.expect_response(re.compile("/api/files/converted/")) as answered:
        row.get_by_role("button", name="Open the PDF of Lobby autumn.pptx").click()
    assert answered.value.status == 200
    assert answered.value.headers["content-type"] == "application/pdf"
    expect(page.get_by_role("dialog", name="PDF of Lobby autumn.pptx").locator("iframe")).to_be_visible()
    page.keyboard.press("Escape")
    with page.expect_download() as downloaded:
        row.get_by_role("link", name="Download").click()
    assert downloaded.value.suggested_filename == "Lobby autumn.pdf"
    assert downloaded.value.path().read_bytes().startswith(b"%PDF-")


def test_a_file_that_is_no_presentation_is_refused_in_words_and_can_be_taken_away(dashboard: WatchedPage) -> None:
    page = dashboard.sign_in("/?v=conversions")
    dashboard.expect_answer(422, "/api/event-media$")
    dashboard.expect_answer(415, "/api/event-media$")

    page.get_by_label("Choose files").set_input_files(
        [
            FilePayload(name="broken.pptx", mimeType="", buffer=b"this is no zip"),
            FilePayload(name="notes.txt", mimeType="", buffer=b"hello"),
        ]
    )

    uploads = page.get_by_role("list", name="Uploads")
    expect(uploads.get_by_role("listitem").filter(has_text="broken.pptx").get_by_role("alert")).to_contain_text(
        "not a presentation"
    )
    expect(uploads.get_by_role("listitem").filter(has_text="notes.txt").get_by_role("alert")).to_contain_text(
        "Accepted are files named .ppt, .pptx"
    )
    expect(uploads.get_by_role("button", name="Try again")).to_have_count(0)  # the same bytes are refused again
    uploads.get_by_role("listitem").filter(has_text="notes.txt").get_by_role("button", name="Dismiss").click()
    expect(uploads.get_by_role("listitem")).to_have_count(1)
    expect(page.locator(".media").filter(has_text="broken.pptx")).to_have_count(0)
