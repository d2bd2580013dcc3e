"""The dashboard in other languages: its views in the looks that are narrow for words, and what of it is English."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import online_display, uuid_of
from tests.browser.watched import WatchedPage
from tests.stack import Api, eventually

ENGLISH: Final = (
    "the|and|of|is|are|not|no|this|with|since|until|show|save|close|site|sites|settings|logs|more|all|open|sent|new|add"
    "|remove|change|by|from|for|ago|never|none|running|silent|crashed|heartbeat|heartbeats|reboot|restart|sign|search"
    "|what|who|when|quiet|reason|hours|screen|loading|last|use|your|you|it"
)
"""Words of English that are no German ones."""
SERVER_SAYS: Final = "code, .notes, .setting-value, .audit-words, .audit-target, .token, .log-message"
"""Where data stand."""
SEEN: Final = """([words, skip, part]) => {
  const english = new RegExp(`(?<![\\\\p{L}.])(?:${words})(?![\\\\p{L}])`, "iu");
  const found = [];
  for (const one of document.querySelectorAll(`${part} *`)) {
    if (one.closest(skip) || one.matches("option[lang]")) continue;
    const own = [...one.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data).join(" ");
    const read = ["title", "aria-label", "placeholder", "alt"].map((name) => one.getAttribute(name) ?? "");
    const data = /^\\s*\\w+\\/\\S+\\s*$|#[0-9a-f]{12}\\b|scripts on this machine|X-Forwarded-For/;
    found.push(...[own, ...read].filter((text) => english.test(text) && !data.test(text)));
  }
  return found;
}"""
"""The texts of the page, read or heard, that have an English word in them; zones, tokens, headers are data."""
TABS: Final = ("logs", "commands", "health", "events")
VIEWS: Final = ("incidents", "quiet", "availability", "batches", "logs", "conversions", "settings", "wall")
LOOKS: Final[dict[str, dict[str, Any]]] = {
    "Japanese on a phone": {"locale": "ja-JP", "width": 320, "color_scheme": "dark"},
    "German on a phone": {"locale": "de-DE", "width": 320, "color_scheme": "light"},
    "German on a phone, dark": {"locale": "de-DE", "width": 390, "color_scheme": "dark"},
    "German": {"locale": "de-DE", "width": 1440, "color_scheme": "light"},
    "German, dark": {"locale": "de-DE", "width": 1440, "color_scheme": "dark"},
    "Japanese": {"locale": "ja-JP", "width": 1440, "color_scheme": "light"},
}
SIGN_OUT: Final = {"de": "Abmelden", "ja": "サインアウト"}
TWO_LINES: Final = 50


@contextmanager
def busy_display(api: Api, folder: Path) -> Iterator[SimulatedDisplay]:
    """A display with content in every tab of its panel, whose service has failed."""
    with online_display(api, folder) as online:
        online.log("error", "Fehler")
        online.display.vitals.update(cpu_percent=97.0)
        online.health()
        online.service_failed("kiosk.service")
        path = f"/api/clients/{uuid_of(online)}"
        eventually(lambda: api.get(path)["service_failed_at"] and api.get(path)["health"], "all that it said")
        yield online


def english_on(page: Page, part: str = "#app") -> list[str]:
    """The texts in this part of the page that are English once it has come to rest."""
    expect(page.locator("[aria-busy=true]:visible")).to_have_count(0)
    asked = [ENGLISH, SERVER_SAYS, part]
    with suppress(AssertionError):  # the service's own English stays until the words for it are there
        eventually(lambda: not page.evaluate(SEEN, asked), "words of that language")
    found: list[str] = page.evaluate(SEEN, asked)
    return found


def language_of(page: Page) -> str:
    """The language that the page says it is in."""
    found: str = page.evaluate("document.documentElement.lang")
    return found


def options_of(look: str) -> dict[str, Any]:
    """The options of a page with this look."""
    options = dict(LOOKS[look])
    return {"viewport": {"width": options.pop("width"), "height": 844}, **options}


def walk(watched: WatchedPage, uuid: str) -> Iterator[str]:
    """Go through the tabs of this display and every view, ending at the settings; yield each address when it rests."""
    page, one = watched.page, f"/?d={uuid}"
    addresses = ("/", one, *(f"{one}&tab={tab}" for tab in TABS), *(f"/?v={view}" for view in VIEWS), "/?v=settings")
    for address in addresses:
        watched.follow(address)
        expect(page.get_by_role("complementary" if one in address else "heading").first, address).to_be_visible()
        expect(page.locator("[aria-busy=true]:visible")).to_have_count(0)
        yield address


def highest_name_of_a_setting(page: Page) -> int:
    """The height of the name of a setting that takes most lines, in pixels."""
    names = page.locator(".setting code")
    expect(names.first).to_be_visible()
    return int(max(names.evaluate_all("all => all.map(one => one.offsetHeight)")))
