"""Notifications on the settings page: a channel from adding to removing it."""

import warnings
from collections.abc import Iterator
from typing import Any

import apprise
import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import Engine

from shared.tables import notification_channels
from shared.vocabulary import Role
from tests.browser.conftest import Enter
from tests.browser.people import session_with_role
from tests.receivers import Receiver, mailbox, receiver
from tests.stack import Api, Stack

SETTINGS = "/?v=settings"


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_left(database: Engine) -> Iterator[None]:
    yield
    with database.begin() as connection:
        connection.execute(sa.delete(notification_channels))


@pytest.fixture
def page(enter: Enter) -> Page:
    return enter(SETTINGS).page


def choose(page: Page, name: str, item: str) -> None:
    page.get_by_label(f"More about {name}").click()
    page.get_by_role("button", name=item, exact=True).click()


def new_channel(page: Page, name: str, kind: str) -> Locator:
    """Open the dialog of a new channel of this kind. Returns it."""
    page.get_by_role("button", name="Add a channel…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_label("Kind").select_option(kind)
    return dialog


def understood(database: Engine, name: str) -> Any:
    """What Apprise understands by the address of the saved channel."""
    with database.connect() as connection:
        query = sa.select(notification_channels.c.url).where(notification_channels.c.name == name)
        url = connection.execute(query).scalar_one()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a package that one of its plugins imports
        return apprise.Apprise.instantiate(url)


def test_a_mail_is_written_in_a_form_and_tried_before_it_is_saved(page: Page, database: Engine) -> None:
    with mailbox() as box:
        dialog = new_channel(page, "Office", "E-mail")
        dialog.get_by_label("Send to").fill("ada@shop.example, b+c@shop.example")
        dialog.get_by_label("Sender").fill("signage@shop.example")
        dialog.get_by_label("Mail server").fill("127.0.0.1")
        dialog.get_by_label("Encryption").select_option("none")
        dialog.get_by_label("Port", exact=True).fill(str(box.port))
        dialog.get_by_role("button", name="Send a test").click()

        expect(dialog.get_by_role("status")).to_have_text("Test delivered: mailto took it")
        assert [b"Test of Signage Fleet" in mail for mail in box.mails] == [True, True]
    dialog.get_by_role("button", name="Add", exact=True).click()
    row = page.locator("li.token").filter(has_text="Office")
    expect(row).to_contain_text("E-mail · mailto://…")
    mail = understood(database, "Office")
    assert [address for _, address in mail.targets] == ["ada@shop.example", "b+c@shop.example"]

    choose(page, "Office", "Change…")
    expect(dialog).to_contain_text("E-mail · mailto://…")
    dialog.get_by_role("button", name="Send a test").click()
    expect(dialog.get_by_role("status")).to_contain_text("Test failed: mailto refuses the connection")  # box is gone
    dialog.get_by_role("button", name="Another address…").click()
    dialog.get_by_label("Kind").select_option("Slack")
    dialog.get_by_label("URL", exact=True).fill("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXr")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Slack · slack://…")
    assert understood(database, "Office").token_b == "A1BRTD4JD"


WORKFLOW = (
    "https://prod-15.westeurope.logic.azure.com:443/workflows/643e69f83c8944438d68119179a10a64/triggers/manual"
    "/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=KODuebWbDGYFr0z0eu-6Rj8a"
)


def test_the_forms_of_teams_and_telegram_make_addresses_that_apprise_understands(page: Page, database: Engine) -> None:
    dialog = new_channel(page, "Floor", "Microsoft Teams")
    dialog.get_by_label("URL", exact=True).fill(WORKFLOW)
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("li.token").filter(has_text="Floor")).to_contain_text("Microsoft Teams · workflows://…")
    dialog = new_channel(page, "Night", "Telegram")
    dialog.get_by_label("Token of the bot").fill("123456789:abc_DEF-g")
    dialog.get_by_label("Chats").fill("-1001234567, @shops")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("li.token").filter(has_text="Night")).to_contain_text("Telegram · tgram://…")

    teams, telegram = understood(database, "Floor"), understood(database, "Night")
    assert (teams.workflow, teams.signature) == ("643e69f83c8944438d68119179a10a64", "KODuebWbDGYFr0z0eu-6Rj8a")
    assert (telegram.bot_token, [chat for chat, _ in telegram.targets]) == (
        "123456789:abc_DEF-g",
        [-1001234567, "@shops"],
    )


def test_a_url_that_is_not_of_slack_is_refused_before_anything_is_sent(page: Page, hook: Receiver) -> None:
    dialog = new_channel(page, "Wrong", "Slack")
    dialog.get_by_label("URL", exact=True).fill(hook.url)
    dialog.get_by_role("button", name="Send a test").click()

    assert not dialog.get_by_label("URL", exact=True).evaluate("field => field.checkValidity()")
    assert hook.posted == []


def test_a_channel_is_added_tried_changed_switched_off_and_removed(page: Page, hook: Receiver, api: Api) -> None:
    dialog = new_channel(page, "On call", "Webhook")
    dialog.get_by_label("URL", exact=True).fill(hook.url + "?key=T0K3N")
    dialog.get_by_label("Language of its messages").select_option("Deutsch")
    dialog.get_by_label("Only if it lasts for (minutes)").fill("5")
    dialog.locator("input[name=hours]").check()
    dialog.get_by_label("From", exact=True).fill("07:30")
    dialog.get_by_role("button", name="Add", exact=True).click()

    row = page.locator("li.token").filter(has_text="On call")
    expect(row).to_contain_text("Webhook · http://127.0.0.1:")
    expect(row).to_contain_text("after 5 min · all sites · Mon, Tue, Wed, Thu, Fri 07:30–18:00")
    expect(row).not_to_contain_text("T0K3N")

    choose(page, "On call", "Send a test")
    expect(row).to_contain_text("Test delivered: 200 from 127.0.0.1")
    assert [posted.json["title"] for posted in hook.posted] == ["Test von Signage Fleet"]
    hook.answer = lambda _posted: (401, {})
    choose(page, "On call", "Send a test")
    expect(row).to_contain_text("Test failed: 401 from 127.0.0.1")
    expect(row).to_contain_text("Last delivery failed: 401 from 127.0.0.1")

    choose(page, "On call", "Change…")
    dialog.get_by_label("Name", exact=True).fill("Night shift")
    dialog.get_by_role("button", name="Save").click()
    renamed = page.locator("li.token").filter(has_text="Night shift")
    expect(renamed).to_be_visible()
    [kept] = api.get("/api/notifications/channels")["items"]
    assert (kept["name"], kept["language"], kept["delay_seconds"]) == ("Night shift", "de", 300)
    assert kept["hours"]["begin"] == "07:30"

    choose(page, "Night shift", "Switch off")
    expect(renamed.locator(".tag")).to_have_text("Off")
    choose(page, "Night shift", "Deliveries…")
    expect(dialog).to_contain_text("Nothing yet.")
    dialog.get_by_role("button", name="Close").last.click()
    choose(page, "Night shift", "Remove…")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(renamed).to_have_count(0)


def test_what_the_service_refuses_is_said_in_the_dialog(enter: Enter) -> None:
    watched = enter(SETTINGS)
    watched.expect_answer(422, "/api/notifications/channels")
    dialog = new_channel(watched.page, "Nobody", "Webhook")
    dialog.get_by_label("URL", exact=True).fill("ftp://nobody.test/")
    dialog.get_by_role("button", name="Add", exact=True).click()

    expect(dialog.get_by_role("alert")).to_contain_text("http:// or https://")


def test_an_operator_sees_no_channels(enter: Enter, stack: Stack, database: Engine) -> None:
    page = enter(SETTINGS, storage_state=session_with_role(stack, database, "teller", Role.OPERATOR)).page

    expect(page.get_by_text("To tell nobody for a while")).to_be_visible()
    expect(page.get_by_role("heading", name="Notifications")).to_have_count(0)
