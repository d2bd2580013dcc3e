"""The page in the reader's language: the browser's, or an own choice that stays."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

import pytest
from playwright.sync_api import FilePayload, Page, expect

from deploy.displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import OpenPage, name_of, online_display, uuid_of
from tests.browser.people import SessionState
from tests.browser.pictured_states import DIALOGS, dialog
from tests.browser.watched import WatchedPage, does_not_scroll_sideways
from tests.stack import Stack, eventually, running_stack

ENGLISH: Final = (
    "the|and|of|is|are|not|no|this|with|since|until|show|save|close|site|sites|settings|logs|more|all|open|sent|new|add"
    "|remove|change|by|from|for|ago|never|none|running|silent|crashed|heartbeat|heartbeats|reboot|restart|sign|search"
    "|what|who|when|quiet|reason|hours|screen|loading|last|use|your|you|it"
)
"""Words of English that are no German ones."""
SERVER_SAYS: Final = "code, .notes, .setting-value, .audit-words, .audit-target, .token, .log-message"
"""Where data stand."""
SEEN: Final = """([words, skip]) => {
  const english = new RegExp(`(?<![\\\\p{L}.])(?:${words})(?![\\\\p{L}])`, "iu");
  const found = [];
  for (const one of document.querySelectorAll("#app *")) {
    if (one.closest(skip) || one.matches("option[lang]")) continue;
    const own = [...one.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data).join(" ");
    const read = ["title", "aria-label", "placeholder", "alt"].map((name) => one.getAttribute(name) ?? "");
    const data = /^\\s*\\w+\\/\\S+\\s*$|#[0-9a-f]{12}\\b|scripts on this machine|X-Forwarded-For/;
    found.push(...[own, ...read].filter((text) => english.test(text) && !data.test(text)));
  }
  return found;
}"""
"""The texts of the page, read or heard, that have an English word in them; zones, tokens, headers are data."""

OpenGerman = Callable[..., WatchedPage]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack of its own: what other tests write about their displays, files and people is English."""
    with running_stack(tmp_path_factory.mktemp("stack"), TICK_SECONDS="3", DEMO="") as running:
        yield running


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """A busy display whose service has failed."""
    api = stack.api()
    with online_display(api, tmp_path_factory.mktemp("display")) as online:
        online.log("error", "Fehler")
        online.display.vitals.update(cpu_percent=97.0)
        online.health()
        online.service_failed("kiosk.service")
        path = f"/api/clients/{uuid_of(online)}"
        eventually(lambda: api.get(path)["service_failed_at"] and api.get(path)["health"], "all that it said")
        yield online


@pytest.fixture
def open_german(open_page: OpenPage, admin_session: SessionState) -> OpenGerman:
    """Return a function that opens an address in a German browser in which the first admin is signed in."""

    def make(address: str, **options: object) -> WatchedPage:
        watched = open_page(**{"locale": "de-DE", "storage_state": admin_session, **options})
        watched.open(address)
        watched.page.get_by_role("button", name="Abmelden").wait_for()
        return watched

    return make


def is_german(page: Page, language: str = "de") -> None:
    """Check what stands on the page now, in German or another language."""
    expect(page.locator("[aria-busy=true]:visible")).to_have_count(0)
    assert page.evaluate("document.documentElement.lang") == language
    with suppress(AssertionError):  # the service's own English stays until the words for it are there
        eventually(lambda: not english_on(page), "words of that language")
    assert english_on(page) == []


def english_on(page: Page) -> list[str]:
    """The texts on the page that are English."""
    found: list[str] = page.evaluate(SEEN, [ENGLISH, SERVER_SAYS])
    return found


def test_a_german_browser_is_asked_to_sign_in_in_german(open_page: OpenPage) -> None:
    page = open_page(locale="de-CH").open()

    expect(page.get_by_role("button", name="Anmelden")).to_be_visible()
    expect(page.get_by_label("Benutzername")).to_be_visible()
    is_german(page)


def test_who_is_not_signed_in_chooses_a_language_that_stays_after_the_sign_in(
    open_page: OpenPage, stack: Stack
) -> None:
    page = open_page(locale="de-DE").open()

    page.get_by_label("Sprache (Language)").select_option("日本語")

    choice = page.get_by_label("言語（Language）")
    expect(choice).to_have_value("ja")
    assert page.evaluate("document.documentElement.lang") == "ja"
    choice.select_option("English")
    expect(page.get_by_label("Language")).to_have_value("en")
    page.get_by_label("User name").fill(stack.environment["SIGNAGE_SIGN_IN_USER"])
    page.get_by_label("Password").fill(stack.environment["SIGNAGE_SIGN_IN_PASSWORD"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Language").select_option("As the browser")
    expect(page.get_by_role("button", name="Anmelden")).to_be_visible()


def test_the_fleet_the_panel_and_the_settings_are_german(open_german: OpenGerman, display: SimulatedDisplay) -> None:
    watched = open_german("/")
    page = watched.page

    expect(page).to_have_title("(1) Signage Fleet")
    expect(page.get_by_role("heading", name="Dienst ausgefallen auf 1 Display")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=name_of(display))).to_contain_text("Dienst ausgefallen")
    is_german(page)
    one = f"/?d={uuid_of(display)}"
    for address, proof in (
        (one, "MQTT-Verbindung"),
        (f"{one}&tab=logs", "Fehler"),
        (f"{one}&tab=commands", "An dieses Display wurde kein Befehl gesendet."),
        (f"{one}&tab=health", "über dem üblichen Grenzwert von 90"),
        (f"{one}&tab=events", "Dienstausfall"),
        ("/?v=settings", "Abstand der Takte des Taktgebers"),
        ("/?v=incidents", "Wartung planen: siehe Ruhezeiten."),
        ("/?v=quiet", "Nichts ist in Ruhe, und nichts ist geplant."),
        ("/?v=availability", "Der Anteil der Öffnungszeiten"),
        ("/?v=batches", "Es wurde noch kein Sammelbefehl gesendet."),
        ("/?v=logs", "Wer am meisten protokolliert"),
        ("/?v=conversions", "Dateien auswählen"),
    ):
        watched.follow(address)
        expect(page.get_by_text(proof).first, address).to_be_visible()
        is_german(page)


def test_the_form_of_a_quiet_time_is_german_in_each_of_its_kinds(open_german: OpenGerman) -> None:
    page = open_german("/?v=quiet").page
    page.get_by_role("button", name="Ruhezeit hinzufügen").click()
    dialog = page.get_by_role("dialog")

    for kind in ("In Arbeit", "Meldepause", "Wartung", "Öffnungszeiten", "Ausnehmen", "Eigene"):
        dialog.get_by_role("radio", name=kind).check()
        is_german(page)
    dialog.get_by_role("radio", name="Meldepause").check()
    dialog.get_by_role("combobox", name="Für").select_option("fleet")
    expect(dialog.locator(".consequence")).to_contain_text("Keine Meldungen für die ganze Flotte")


def test_why_a_message_was_not_delivered_is_german(open_german: OpenGerman, stack: Stack) -> None:
    api = stack.api()
    channel = {"name": "Bereitschaft", "kind": "webhook", "url": "http://no-such-name.invalid/hook"}
    made = api.post("/api/notifications/channels", channel, 201)
    api.post(f"/api/notifications/channels/{made['id']}/test")
    page = open_german("/?v=settings").page
    channels = page.get_by_role("region", name="Benachrichtigungen")
    row = channels.get_by_role("listitem").filter(has_text="Bereitschaft")
    why = "Der Name no-such-name.invalid ist nicht bekannt"

    expect(row).to_contain_text(f"Letzte Zustellung fehlgeschlagen: {why}")
    row.get_by_label("Mehr zu Bereitschaft").click()
    row.get_by_role("button", name="Test senden").click()
    expect(row).to_contain_text(f"Test fehlgeschlagen: {why}")


NOTES: Final = FilePayload(name="notes.txt", mimeType="", buffer=b"hello")


def test_what_the_service_refuses_is_said_in_german_with_its_facts(open_german: OpenGerman) -> None:
    watched = open_german("/?v=conversions")
    page = watched.page
    watched.expect_answer(415, "/api/event-media$")
    watched.expect_answer(422, "/api/quiet-times$")

    page.get_by_label("Dateien auswählen").set_input_files([NOTES])
    refused = page.get_by_role("list", name="Hochladen").get_by_role("alert")
    expect(refused).to_contain_text("Angenommen werden Dateien mit der Endung .ppt, .pptx")
    is_german(page)
    watched.follow("/?v=quiet")
    page.get_by_role("button", name="Ruhezeit hinzufügen").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="In Arbeit").check()
    dialog.get_by_role("combobox", name="Für").select_option("fleet")
    dialog.get_by_label("Grund").fill(" ")
    dialog.get_by_role("button", name="Ruhezeit anlegen").click()
    expect(dialog).to_contain_text("„In Arbeit“ braucht einen Grund.")
    is_german(page)


def test_a_refusal_whose_words_cannot_be_loaded_stays_english(open_german: OpenGerman) -> None:
    watched = open_german("/?v=conversions")
    watched.expect_answer(415, "/api/event-media$")
    watched.page.route("**/words/de/refusals.js", lambda route: route.abort())

    watched.page.get_by_label("Dateien auswählen").set_input_files([NOTES])

    refused = watched.page.get_by_role("list", name="Hochladen").get_by_role("alert")
    expect(refused).to_contain_text("Accepted are files named .ppt, .pptx")


def test_a_choice_is_kept_and_goes_before_the_browsers_language(open_german: OpenGerman) -> None:
    page = open_german("/?v=settings").page

    page.get_by_label("Sprache").select_option("English")

    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "en"
    page.goto(page.url.split("?")[0])
    expect(page.get_by_role("heading", name="Fleet")).to_be_visible()
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Language").select_option("As the browser")
    expect(page.get_by_role("heading", name="Einstellungen")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "de"


def test_words_that_cannot_be_loaded_stay_english(open_page: OpenPage, admin_session: SessionState) -> None:
    watched = open_page(locale="de-DE", storage_state=admin_session)
    watched.page.route("**/words/de/frame.js", lambda route: route.abort())
    page = watched.open()

    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_role("searchbox", name="Displays suchen")).to_be_visible()


def test_who_reads_english_fetches_no_other_words(open_page: OpenPage, admin_session: SessionState) -> None:
    watched = open_page(storage_state=admin_session)
    fetched: list[str] = []
    watched.page.on("request", lambda request: fetched.append(request.url))
    page = watched.open("/?v=settings")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()

    assert any("/lib/words/settings.js" in address for address in fetched)
    assert not any("/words/de/" in address for address in fetched)


TWO_LINES: Final = 50
LOOKS: Final = {
    "German on a phone": ("de-DE", "Abmelden", 320, "light"),
    "German on a phone, dark": ("de-DE", "Abmelden", 390, "dark"),
    "German": ("de-DE", "Abmelden", 1440, "light"),
    "Japanese on a phone": ("ja-JP", "サインアウト", 320, "dark"),
    "Japanese": ("ja-JP", "サインアウト", 1440, "light"),
}


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_scrolls_sideways_in_another_language(
    open_page: OpenPage, admin_session: SessionState, display: SimulatedDisplay, look: str
) -> None:
    locale, sign_out, width, scheme = LOOKS[look]
    size = {"width": width, "height": 844}
    watched = open_page(locale=locale, storage_state=admin_session, viewport=size, color_scheme=scheme)
    page = watched.open("/")
    page.get_by_role("button", name=sign_out).wait_for()
    one = f"/?d={uuid_of(display)}"
    views = ("incidents", "quiet", "availability", "batches", "logs", "conversions", "settings", "wall")
    tabs = ("logs", "commands", "health", "events")
    for address in ("/", one, *(f"{one}&tab={tab}" for tab in tabs), *(f"/?v={view}" for view in views)):
        watched.follow(address)
        expect(page.get_by_role("complementary" if one in address else "heading").first, address).to_be_visible()
        expect(page.locator("[aria-busy=true]:visible")).to_have_count(0)
        assert does_not_scroll_sideways(page), address
    watched.follow("/?v=settings")
    expect(page.locator("nav [aria-current=page]")).to_be_in_viewport(ratio=0.9)
    names = page.locator(".setting code")
    expect(names.first).to_be_visible()
    if width < 400:  # elsewhere a name is as high as the value beside it
        assert max(names.evaluate_all("all => all.map(one => one.offsetHeight)")) <= TWO_LINES


@pytest.mark.parametrize("language", ["de", "ja"])
def test_every_dialog_is_in_the_readers_language(
    open_page: OpenPage, admin_session: SessionState, display: SimulatedDisplay, language: str
) -> None:
    watched = open_page(locale=language, storage_state=admin_session)
    page = watched.page

    for address, *buttons in DIALOGS.values():
        dialog(watched, address.format(uuid=uuid_of(display)), buttons)
        is_german(page, language)
        assert does_not_scroll_sideways(page), buttons
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
