"""A presentation from the drop zone to its PDF, and one that cannot be converted."""

import io

import pytest
import sqlalchemy as sa
from playwright.sync_api import FilePayload, Route, expect
from pptx import Presentation
from sqlalchemy import Engine

from tests.browser.conftest import Enter
from tests.stack import Stack

pytestmark = pytest.mark.slow


def deck(slides: int, font: str | None = None, link: str | None = None) -> bytes:
    """Return a real pptx with so many slides; its first title has that font and that link."""
    presentation = Presentation()
    for number in range(1, slides + 1):
        slide = presentation.slides.add_slide(presentation.slide_layouts[0])
        slide.shapes.title.text = f"Welcome {number}"
        run = slide.shapes.title.text_frame.paragraphs[0].runs[0]
        run.font.name = font
        if number == 1 and link:
            run.hyperlink.address = link
    written = io.BytesIO()
    presentation.save(written)
    return written.getvalue()


def test_a_pdf_tells_what_it_lost_and_is_renamed_and_deleted(enter: Enter, stack: Stack) -> None:
    page = enter("/?v=conversions").page
    page.get_by_label("Choose files").set_input_files(
        FilePayload(
            name="Fonts.pptx", mimeType="", buffer=deck(2, font="Nowhere Sans", link="https://example.org/menu")
        )
    )
    row = page.locator(".media").filter(has_text="Fonts.pptx")
    expect(row).to_have_attribute("data-status", "ready")

    row.get_by_text("2 warnings").click()
    expect(row.locator(".warnings")).to_contain_text("1 font was replaced; lines may break elsewhere:")
    expect(row.locator(".warnings")).to_contain_text("Nowhere Sans")
    expect(row.locator(".warnings")).to_contain_text("https://example.org/menu")
    picture = row.get_by_role("img", name="First page of Fonts.pptx")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 100

    row.get_by_label("More about Fonts.pptx").click()
    row.get_by_role("button", name="Rename…").click()
    page.get_by_label("New name").fill("Menu.pptx")
    page.get_by_role("button", name="Rename", exact=True).click()
    renamed = page.locator(".media").filter(has_text="Menu.pptx")
    expect(renamed).to_be_visible()

    before = len(stack.api().get("/api/event-media")["items"])
    renamed.get_by_label("More about Menu.pptx").click()
    renamed.get_by_role("button", name="Delete…").click()
    expect(page.get_by_role("dialog")).to_contain_text("gone for good")
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(renamed).to_have_count(0)
    assert len(stack.api().get("/api/event-media")["items"]) == before - 1


def test_a_file_that_is_no_presentation_is_refused_in_words_and_can_be_taken_away(enter: Enter) -> None:
    dashboard = enter("/?v=conversions")
    page = dashboard.page
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
    expect(uploads.get_by_role("button", name="Try again")).to_have_count(0)  # the same bytes fail again
    uploads.get_by_role("listitem").filter(has_text="notes.txt").get_by_role("button", name="Dismiss").click()
    expect(uploads.get_by_role("listitem")).to_have_count(1)
    expect(page.locator(".media").filter(has_text="broken.pptx")).to_have_count(0)


DROP = """(zone, files) => {
  const carried = new DataTransfer();
  for (const name of files) carried.items.add(new File(['x'.repeat(1000)], name));
  for (const type of ['dragover', 'drop']) {
    zone.dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
  }
}"""


def test_dropped_files_show_their_progress_and_an_upload_is_cancelled_and_retried(
    enter: Enter,
) -> None:
    dashboard = enter("/?v=conversions")
    page = dashboard.page
    dashboard.expect_answer(422, "/api/event-media$")
    held = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/event-media", hold)
    page.locator(".drop").evaluate(DROP, ["one.pptx", "two.pptx", "three.pptx"])

    uploads = page.get_by_role("list", name="Uploads").get_by_role("listitem")
    expect(uploads).to_have_count(3)
    expect(uploads.nth(2)).to_contain_text("Waiting for its turn")  # two at once
    expect(uploads.first.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel the upload of one.pptx").click()
    expect(uploads.first).to_contain_text("Upload cancelled.")
    page.unroute("**/api/event-media")
    uploads.first.get_by_role("button", name="Try again").click()
    for upload in uploads.all():
        expect(upload.get_by_role("alert")).to_contain_text("not a presentation")


def test_a_conversion_that_failed_says_why_and_is_tried_again_until_it_is_ready(enter: Enter, database: Engine) -> None:
    watched = enter("/?v=conversions")
    page = watched.page
    page.get_by_label("Choose files").set_input_files(FilePayload(name="Again.pptx", mimeType="", buffer=deck(1)))
    row = page.locator(".media").filter(has_text="Again.pptx")
    expect(row).to_have_attribute("data-status", "ready")
    with database.begin() as connection:
        connection.execute(
            sa.text(
                "UPDATE conversions SET status = 'failed', error_code = 'converter_refused', target_path = NULL,"
                " error_message = 'In the words of the service.'"
                " WHERE id = (SELECT max(id) FROM conversions)"
            )
        )

    watched.look_again()
    expect(row).to_contain_text("The converter cannot read this file; it may be damaged.")
    row.get_by_role("button", name="Try again").click()

    expect(row).to_have_attribute("data-status", "ready")
