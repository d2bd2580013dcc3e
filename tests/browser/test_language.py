"""The page in the reader's language: the browser's, or an own choice that stays.

`make campaign ONLY=words` reads every view and every dialog, in German and Japanese.
"""

from collections.abc import Callable, Iterator
from typing import Final

import pytest
from playwright.sync_api import FilePayload, ViewportSize, expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import OpenPage, name_of, uuid_of
from tests.browser.languages import TWO_LINES, busy_display, english_on, highest_name_of_a_setting, language_of
from tests.browser.people import SessionState
from tests.browser.watched import FLEET, WatchedPage, does_not_scroll_sideways
from tests.browser.windows import USUAL_SIZE, Opened
from tests.stack import Api, Stack

PANEL: Final = "aside.panel"
DIALOG: Final = "dialog[open]"
PHONE: Final = ViewportSize(width=320, height=844)
NOTES: Final = FilePayload(name="notes.txt", mimeType="", buffer=b"hello")

OpenGerman = Callable[..., WatchedPage]


@pytest.fixture
def busy(api: Api, tmp_path_factory: pytest.TempPathFactory, opened: Opened) -> Iterator[SimulatedDisplay]:
    with busy_display(api, tmp_path_factory.mktemp("display")) as display:
        yield display
        opened.close()


@pytest.fixture
def open_german(open_page: OpenPage, admin_session: SessionState) -> OpenGerman:
    """Return a function that opens an address in a German browser in which the first admin is signed in."""

    def make(address: str) -> WatchedPage:
        watched = open_page(locale="de-DE", storage_state=admin_session)
        watched.open(address)
        watched.page.get_by_role("button", name="Abmelden").wait_for()
        return watched

    return make


def test_the_browsers_language_is_used_until_another_is_chosen_and_that_stays(
    open_page: OpenPage, stack_password: str
) -> None:
    watched = open_page(locale="de-CH")
    page = watched.open()
    expect(page.get_by_role("button", name="Anmelden", exact=True)).to_be_visible()
    expect(page.get_by_label("Benutzername")).to_be_visible()
    assert language_of(page) == "de"
    assert english_on(page) == []

    page.get_by_label("Sprache (Language)").select_option("日本語")
    choice = page.get_by_label("言語（Language）")
    expect(choice).to_have_value("ja")
    assert language_of(page) == "ja"
    choice.select_option("English")
    expect(page.get_by_label("Language")).to_have_value("en")
    watched.fill_sign_in(stack_password)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name=FLEET, level=1)).to_be_visible()

    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Language").select_option("As the browser")
    expect(page.get_by_role("heading", name="Einstellungen", level=1)).to_be_visible()
    assert language_of(page) == "de"
    page.get_by_label("Sprache").select_option("English")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    assert language_of(page) == "en"
    watched.expect_answer(401, "/api/")  # a poll that was under way
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Language").select_option("As the browser")
    expect(page.get_by_role("button", name="Anmelden", exact=True)).to_be_visible()


def test_every_view_is_german_and_fits_a_phone(open_german: OpenGerman, busy: SimulatedDisplay) -> None:
    watched = open_german("/")
    page = watched.page
    expect(page.get_by_role("heading", name="Dienst ausgefallen auf 1 Display")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=name_of(busy))).to_contain_text("Dienst ausgefallen")
    assert does_not_scroll_sideways(page)

    one = f"/?d={uuid_of(busy)}"
    for address, proof in (
        (one, "MQTT-Verbindung"),
        (f"{one}&tab=logs", "Fehler"),
        (f"{one}&tab=commands", "An dieses Display wurde kein Befehl gesendet."),
        (f"{one}&tab=health", "über dem üblichen Grenzwert von 90"),
        (f"{one}&tab=events", "Dienstausfall"),
        ("/?v=incidents", "Wartung planen: siehe Ruhezeiten."),
        ("/?v=quiet", "Displays eine Weile in Ruhe lassen"),
        ("/?v=availability", "Der Anteil der Öffnungszeiten"),
        ("/?v=batches", "Was an viele Displays zugleich gesendet wurde"),
        ("/?v=logs", "Wer am meisten protokolliert"),
        ("/?v=conversions", "Dateien auswählen"),
        ("/?v=settings", "So lange werden Protokollzeilen der Stuf"),
    ):
        watched.follow(address)
        expect(page.get_by_text(proof).first, address).to_be_visible()
        if one in address:  # elsewhere stands what other tests have written, in English
            assert english_on(page, PANEL) == [], address
        page.set_viewport_size(PHONE)
        assert does_not_scroll_sideways(page), address
        page.set_viewport_size(USUAL_SIZE)
    watched.follow("/")
    page.set_viewport_size(PHONE)
    watched.follow("/?v=settings")
    expect(page.locator("nav [aria-current=page]")).to_be_in_viewport(ratio=0.9)
    assert highest_name_of_a_setting(page) <= TWO_LINES
    page.get_by_label("Sprache").select_option("日本語")
    expect(page.get_by_role("heading", name="設定", level=1)).to_be_visible()
    assert does_not_scroll_sideways(page)


def test_what_the_service_says_is_said_in_german_with_its_facts(open_german: OpenGerman, stack: Stack) -> None:
    watched = open_german("/?v=conversions")
    page = watched.page
    watched.expect_answer(415, "/api/event-media$")
    watched.expect_answer(422, "/api/quiet-times$")
    page.get_by_label("Dateien auswählen").set_input_files([NOTES])
    refused = page.get_by_role("list", name="Hochladen").get_by_role("alert")
    expect(refused).to_contain_text("Angenommen werden Dateien mit der Endung .ppt, .pptx")

    watched.follow("/?v=quiet")
    page.get_by_role("button", name="Ruhezeit hinzufügen").click()
    dialog = page.get_by_role("dialog")
    for kind in ("Meldepause", "Wartung", "Öffnungszeiten", "Ausnehmen", "Eigene", "In Arbeit"):
        dialog.get_by_role("radio", name=kind).check()
        assert english_on(page, DIALOG) == [], kind
    dialog.get_by_role("combobox", name="Für").select_option("fleet")
    dialog.get_by_label("Grund").fill(" ")
    dialog.get_by_role("button", name="Ruhezeit anlegen").click()
    expect(dialog).to_contain_text("„In Arbeit“ braucht einen Grund.")
    assert english_on(page, DIALOG) == []
    dialog.get_by_role("radio", name="Meldepause").check()
    expect(dialog.locator(".consequence")).to_contain_text("Keine Meldungen für die ganze Flotte")
    page.keyboard.press("Escape")

    api = stack.api()
    channel = {"name": "Bereitschaft", "kind": "webhook", "url": "http://no-such-name.invalid/hook"}
    made = api.post("/api/notifications/channels", channel, 201)
    api.post(f"/api/notifications/channels/{made['id']}/test")
    why = "Der Name no-such-name.invalid ist nicht bekannt"
    watched.follow("/?v=settings")
    channels = page.get_by_role("region", name="Benachrichtigungen")
    row = channels.get_by_role("listitem").filter(has_text="Bereitschaft")
    expect(row).to_contain_text(f"Letzte Zustellung fehlgeschlagen: {why}")
    row.get_by_label("Mehr zu Bereitschaft").click()
    row.get_by_role("button", name="Test senden").click()
    expect(row).to_contain_text(f"Test fehlgeschlagen: {why}")
    api.call("DELETE", f"/api/notifications/channels/{made['id']}", 204)


def test_words_that_cannot_be_loaded_stay_english(open_page: OpenPage, admin_session: SessionState) -> None:
    watched = open_page(locale="de-DE", storage_state=admin_session)
    page = watched.page
    page.route("**/words/de/first.js", lambda route: route.abort())

    watched.open("/?v=conversions")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_who_reads_english_fetches_no_other_words(open_page: OpenPage, admin_session: SessionState) -> None:
    watched = open_page(storage_state=admin_session)
    fetched = watched.asked()
    page = watched.open("/?v=settings")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()

    assert any("/lib/words/settings.js" in address for address in fetched)
    assert not any("/words/de/" in address for address in fetched)
