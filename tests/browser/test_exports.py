"""Exports as a CSV file: the listed displays, and logs."""

import csv
import io

from playwright.sync_api import Page, expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, name_of, row_name, uuid_of
from tests.stack import Api, eventually


def rows_of(page: Page) -> list[list[str]]:
    """Press "Save as CSV" and read the file as a spreadsheet does; the first row is the head."""
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Save as CSV").first.click()
    assert downloaded.value.suggested_filename.endswith(".csv")
    text = downloaded.value.path().read_text(encoding="utf-8-sig")
    return list(csv.reader(io.StringIO(text)))


def test_the_listed_displays_are_saved_in_their_order_with_what_is_known_of_them(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    display.health(screen_health="ok", app_version="4.2.0", hostname='tv "1", left', ip="10.1.2.3")
    path = f"/api/clients/{uuid_of(display)}"
    eventually(lambda: api.get(path)["hostname"], "its health")
    page = enter(f"/?q={uuid_of(display)}").page
    expect(page.get_by_role("button", name=row_name(display), exact=True)).to_be_visible()

    head, *rows = rows_of(page)

    [one] = [dict(zip(head, row, strict=True)) for row in rows]
    assert (one["uuid"], one["name"], one["site"]) == (uuid_of(display), name_of(display), "Berlin")
    assert (one["hostname"], one["status"], one["app_version"]) == ('tv "1", left', "running", "4.2.0")
    assert one["last_heartbeat_at"].endswith("Z")


def test_logs_are_saved_as_they_are_narrowed_across_pages(enter: Enter, display: SimulatedDisplay, api: Api) -> None:
    for number in range(60):
        display.log("warning" if number % 2 else "info", f"line {number:02}\nsecond line")
    path = f"/api/client-logs/{uuid_of(display)}/logs"
    eventually(lambda: len(api.get(path, params={"limit": 1000})["items"]) == 60, "the lines")
    page = enter(f"/?v=logs&c={uuid_of(display)}&xl=warning").page
    expect(page.locator(".log")).to_have_count(30)

    head, *rows = rows_of(page)

    lines = [dict(zip(head, row, strict=True)) for row in rows]
    assert [line["message"] for line in lines] == [f"line {n:02}\nsecond line" for n in range(59, 0, -2)]
    assert {(line["level"], line["client_name"]) for line in lines} == {("warning", name_of(display))}
    page.get_by_role("button", name="Warning 30").click()
    expect(page.locator(".log")).to_have_count(50)
    page.get_by_role("button", name="Load more").click()
    expect(page.locator(".log")).to_have_count(60)
    expect(page.get_by_role("button", name="Load more")).to_have_count(0)


def test_a_file_that_cannot_be_made_says_why(enter: Enter, display: SimulatedDisplay) -> None:
    watched = enter(f"/?v=logs&c={uuid_of(display)}")
    page = watched.page
    expect(page.get_by_text("No log matches.")).to_be_visible()
    watched.expect_answer(502, "/api/client-logs/")
    page.route("**/api/client-logs/**", lambda route: route.fulfill(status=502, body="<html>"))

    page.get_by_role("button", name="Save as CSV").click()

    expect(page.locator(".log-find").get_by_role("alert")).to_contain_text("The service does not answer.")
