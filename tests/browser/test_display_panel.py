"""The panel of one display: what it shows, and a command from request to result."""

import re

import sqlalchemy as sa
from playwright.sync_api import expect
from sqlalchemy import Engine

from displays.simulated.simulated import SimulatedDisplay
from shared.trace import trace_id
from tests.browser.conftest import Enter, name_of, uuid_of
from tests.stack import Api, eventually

BUSY = "A command is on its way; wait for it to end."
EXPIRE = "UPDATE client_commands SET expires_at = now() WHERE client_uuid = :uuid"
WAITS = """
    UPDATE client_commands SET state = 'queued', sent_at = NULL, publish_attempted_at = NULL, publish_answer = NULL,
        publish_lease_until = NULL, unanswered_at = NULL, next_publish_at = now() + interval '1 hour'
    WHERE client_uuid = :uuid
"""


def test_the_panel_tells_reconnects_last_disconnect_and_what_the_display_is(
    enter: Enter, display: SimulatedDisplay
) -> None:
    display.health(
        screen_health="ok",
        app_version="4.2.0",
        ip="10.1.2.3",
        hostname="lobby-tv",
        capabilities=["restart_app", "shutdown_host"],
        broker_connection={"reconnect_count": 17, "last_disconnect_at": "2026-03-01T09:30:00Z"},
    )
    page = enter().page

    page.get_by_role("button", name=name_of(display)).click()

    panel = page.get_by_role("complementary", name=f"Display {name_of(display)}")
    connection = panel.get_by_role("region", name="MQTT connection")
    expect(connection.locator(".fact").filter(has_text="Reconnect count")).to_contain_text("17")
    expect(connection.locator("time").first).to_have_attribute("datetime", "2026-03-01T09:30:00Z")
    for text in ("Running", uuid_of(display), "Berlin", "10.1.2.3", "lobby-tv", "4.2.0"):
        expect(panel).to_contain_text(text)
    reboot = panel.get_by_role("button", name="Reboot")
    expect(reboot).to_be_disabled()
    expect(reboot).to_have_attribute("title", "This display says that it cannot do this.")
    assert f"d={uuid_of(display)}" in page.url
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    assert "d=" not in page.url


def test_a_restart_is_followed_step_by_step_until_it_succeeded(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    display.behave(automatic=True)
    page = enter(f"/?d={uuid_of(display)}").page

    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/commands")) as clicked:
        page.get_by_role("button", name="Restart player").click()

    for word in ("Queued", "Sent", "Received", "Running", "Succeeded"):
        expect(page.locator(".step.reached").filter(has_text=word)).to_be_visible()
    assert page.locator(".step.reached time").count() == 5
    expect(page.get_by_text(re.compile("^Restart and reboot are locked until"))).to_be_visible()
    expect(page.get_by_role("button", name="Restart player")).to_be_disabled()
    page.get_by_role("tab", name="Commands").click()
    expect(page.locator(".history-row")).to_contain_text("Succeeded")
    [command] = api.get(f"/api/clients/{uuid_of(display)}/commands")["items"]
    assert (command["action"], command["state"]) == ("restart_app", "succeeded")
    assert command["trace_id"] == trace_id(clicked.value.headers["traceparent"])


def test_a_screen_is_switched_off_from_the_panel_and_the_panel_says_by_whom(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    display.behave(automatic=True)
    display.health()
    eventually(lambda: api.get(f"/api/clients/{uuid_of(display)}")["capabilities"], "what it can do")
    page = enter(f"/?d={uuid_of(display)}").page

    page.get_by_role("button", name="Screen off").click()
    expect(page.get_by_role("dialog")).to_contain_text("It stays off until its opening hours next begin or end")
    page.get_by_role("button", name="Switch off").click()

    expect(page.locator(".step.reached").filter(has_text="Succeeded")).to_be_visible()
    expect(page.get_by_text("off, by an operator")).to_be_visible()
    command = api.get(f"/api/clients/{uuid_of(display)}/commands")["items"][0]
    assert (command["action"], command["confirmed_by"]) in {("screen_off", "evidence"), ("screen_off", "both")}


def test_a_display_that_declares_no_switch_shows_none(enter: Enter, display: SimulatedDisplay) -> None:
    display.health(capabilities=["restart_app", "reboot_host", "shutdown_host"])
    page = enter(f"/?d={uuid_of(display)}").page

    expect(page.get_by_role("button", name="Restart player")).to_be_enabled()
    expect(page.get_by_role("button", name="Screen off")).to_have_count(0)


def test_a_command_to_a_display_that_is_away_says_why_it_failed_and_offers_it_again(
    enter: Enter, display: SimulatedDisplay, database: Engine, api: Api
) -> None:
    display.behave(answers_commands=False)
    page = enter(f"/?d={uuid_of(display)}").page
    expect(page.get_by_role("button", name="Reboot")).to_be_enabled()

    page.get_by_role("button", name="Reboot").click()
    expect(page.get_by_role("dialog")).to_contain_text("The screen goes dark until the machine is back.")
    page.get_by_role("button", name="Reboot now").click()

    expect(page.get_by_text(re.compile("^Expires in [12]:[0-5]\\d unless"))).to_be_visible()
    assert page.get_by_role("button", name="Restart player").get_attribute("title") == BUSY
    with database.begin() as connection:  # its two minutes have passed
        connection.execute(sa.text(EXPIRE), {"uuid": uuid_of(display)})
    expect(page.locator(".cause")).to_have_text("The display did not acknowledge it in time.")
    expect(page.get_by_role("button", name="Send again")).to_be_visible()
    assert api.get(f"/api/clients/{uuid_of(display)}/commands")["items"][0]["state"] == "expired"


def test_a_command_that_was_not_sent_yet_is_withdrawn(
    enter: Enter, display: SimulatedDisplay, database: Engine, api: Api
) -> None:
    display.behave(answers_commands=False)
    page = enter(f"/?d={uuid_of(display)}").page
    page.get_by_role("button", name="Restart player").click()
    expect(page.locator(".step.reached").filter(has_text="Sent")).to_be_visible()
    with database.begin() as connection:  # as if the broker had been away
        connection.execute(sa.text(WAITS), {"uuid": uuid_of(display)})

    page.get_by_role("button", name="Withdraw").click()

    expect(page.locator(".step.reached").filter(has_text="Cancelled")).to_be_visible()
    expect(page.get_by_role("button", name="Restart player")).to_be_enabled()
    assert api.get(f"/api/clients/{uuid_of(display)}/commands")["items"][0]["state"] == "cancelled"


def test_a_command_that_the_display_may_have_is_ended_anyway_with_a_reason(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    display.behave(answers_commands=False)
    page = enter(f"/?d={uuid_of(display)}").page
    page.get_by_role("button", name="Restart player").click()
    expect(page.locator(".step.reached").filter(has_text="Sent")).to_be_visible()

    page.get_by_role("button", name="End it anyway").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The display may have it already")
    dialog.get_by_label("Reason").fill("it hangs")
    dialog.get_by_role("button", name="End it").click()

    expect(dialog).to_have_count(0)
    expect(page.locator(".cause")).to_contain_text("it hangs")
    expect(page.get_by_text(re.compile("^Restart and reboot are locked until"))).to_be_visible()
    [command] = api.get(f"/api/clients/{uuid_of(display)}/commands")["items"]
    assert (command["state"], command["outcome_reason"][-10:]) == ("expired", ": it hangs")


def test_no_command_is_sent_by_closing_the_question(enter: Enter, display: SimulatedDisplay, api: Api) -> None:
    page = enter(f"/?d={uuid_of(display)}").page

    page.get_by_role("button", name="Shut down").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Nobody can start it again from here")
    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    expect(page.get_by_role("complementary")).to_be_visible()
    assert api.get(f"/api/clients/{uuid_of(display)}/commands")["items"] == []


def test_logs_are_narrowed_by_level_and_text_and_followed_or_announced(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    def stored(count: int) -> None:
        path = f"/api/client-logs/{uuid_of(display)}/logs"
        eventually(lambda: len(api.get(path)["items"]) == count, f"{count} lines")

    display.log("info", "playlist loaded")
    display.log("error", "screen went dark")
    stored(2)
    watched = enter(f"/?d={uuid_of(display)}&tab=logs")
    page = watched.page
    lines = page.locator(".panel .log")
    expect(lines).to_have_count(2)

    page.get_by_role("button", name="Error").click()
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("screen went dark")
    page.get_by_role("button", name="Error").click()
    page.get_by_label("Search in messages").fill("playlist")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("playlist loaded")

    display.log("warning", "playlist is old")
    stored(3)
    watched.look_again()
    expect(lines).to_have_count(2)
    expect(lines.first).to_contain_text("playlist is old")
    page.locator(".panel").get_by_role("button", name="Live").click()
    display.log("warning", "playlist is older")
    stored(4)
    watched.look_again()
    page.get_by_role("button", name="Show 1 newer line").click()
    expect(lines).to_have_count(3)
    page.get_by_role("link", name="Logs").click()
    expect(page.locator(".log").filter(has_text=name_of(display))).to_contain_text("screen went dark")


def test_events_tell_the_story_of_a_crash_in_one_line_and_the_strip_says_it_in_words(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    display.heartbeat("crashed")
    display.log("error", "decoder lost")
    display.service_failed("player.service")
    client = f"/api/clients/{uuid_of(display)}"  # two heartbeats in one batch count as the newer one
    eventually(lambda: api.get(client)["status"] == "crashed", "the crash")
    display.heartbeat("running")
    path = f"/api/clients/{uuid_of(display)}/events"
    eventually(lambda: len(api.get(path)["items"]) >= 6, "the story of the crash")

    page = enter(f"/?d={uuid_of(display)}&tab=events").page

    titles = page.locator(".event")
    for said in ("running", "crashed", "Error: decoder lost", "Service player.service failed", "Registered"):
        expect(titles.filter(has_text=re.compile(said, re.IGNORECASE)).first).to_be_visible()
    page.get_by_role("tab", name="Overview").click()
    uptime = page.get_by_role("region", name="Uptime")
    expect(uptime).to_contain_text(re.compile(r"Known for .+: up [\d.]+ % of"))
    expect(uptime.get_by_role("listitem")).to_contain_text("Crashed")
    uptime.get_by_role("button", name="7 d").click()
    expect(uptime.get_by_role("img")).to_have_accessible_name(re.compile("about the rest of the 7 days"))


def test_health_stands_against_its_limits_and_the_tabs_are_walked_by_arrow_keys(
    enter: Enter, display: SimulatedDisplay
) -> None:
    display.health(screen_health="ok", cpu_percent=97.4, memory_percent=41.0, os="BrightBox OS 3")
    page = enter(f"/?d={uuid_of(display)}").page
    page.get_by_role("tab", name="Overview").focus()

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")

    expect(page.get_by_role("tab", name="Health")).to_be_focused()
    shown = page.get_by_role("tabpanel", name="Health")
    last = shown.locator(".health > .gauges > .gauge")  # below: how it went
    expect(last.filter(has_text="Processor")).to_contain_text("97 % above the usual limit of 90 %")
    expect(last.filter(has_text="Memory").locator(".over")).to_have_count(0)
    expect(last.filter(has=page.get_by_text("Disk", exact=True))).to_contain_text("not reported")
    expect(shown).to_contain_text("BrightBox OS 3")
