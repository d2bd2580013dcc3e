"""E-mail and messengers: real receivers on loopback, by way of the child process that sends."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.outside import couriers
from shared.outside.couriers import messenger, words
from shared.outside.couriers.addresses import Reach
from shared.outside.couriers.letters import DeliveryAttempt, Letter, Result
from shared.words.reader import english as english_of
from tests.receivers import mailbox, receiver

HERE = Reach(loopback=True, private=True)
CLOUD = Reach(loopback=False, private=False)
LETTER = Letter("signage-7", "Lobby is silent", "Since noon.\nhttps://signage.test/", {"url": "https://signage.test/"})
TOKEN = "T0K3N-that-nobody-may-see"


def test_a_mail_is_sent_through_a_real_mail_server() -> None:
    with mailbox() as box:
        url = f"mailto://127.0.0.1:{box.port}/?mode=insecure&from=fleet@signage.test&to=anna@signage.test"
        outcome = couriers.send("apprise", url, None, LETTER, HERE)

    [mail] = box.mails
    assert outcome == DeliveryAttempt(Result.DELIVERED, words.receiver_took(receiver="mailto"))
    assert b"Subject: Lobby is silent" in mail
    assert b"https://signage.test/" in mail
    assert b"\r\nAuto-Submitted: auto-generated\r\n" in mail  # no vacation's reply, no loop with a ticket system
    assert b"\r\nX-Auto-Response-Suppress: All\r\n" in mail


def test_a_mail_server_that_knows_nobody_is_said_in_numbers() -> None:
    with mailbox() as box:
        box.rcpt = b"550 no such user " + TOKEN.encode()
        url = f"mailto://127.0.0.1:{box.port}/?mode=insecure&from=fleet@signage.test&to={TOKEN}@signage.test"
        outcome = couriers.send("apprise", url, None, LETTER, HERE)

    assert outcome == DeliveryAttempt(Result.REFUSED, words.receiver_answered(receiver="mailto", status=550))


def test_a_messenger_reaches_no_more_than_a_webhook() -> None:
    with receiver() as hook:
        url = f"json://127.0.0.1:{hook.server_address[1]}/"
        outcome = couriers.send("apprise", url, None, LETTER, CLOUD)

    assert outcome.result is Result.REFUSED
    assert hook.posted == []


def test_a_messenger_is_led_nowhere_else() -> None:
    with receiver() as hook, receiver() as inner:
        hook.answer = lambda _posted: (307, {"Location": inner.url})
        outcome = couriers.send("apprise", f"json://127.0.0.1:{hook.server_address[1]}/", None, LETTER, HERE)

    assert outcome.result is Result.REFUSED
    assert (len(hook.posted), inner.posted) == (1, [])


def test_a_messenger_that_hangs_is_ended_at_the_deadline() -> None:
    with receiver() as hook:
        hook.answer = lambda _posted: None
        url = f"json://127.0.0.1:{hook.server_address[1]}/"
        outcome = messenger.notify(url, LETTER, HERE, timedelta(seconds=2))

    assert outcome == DeliveryAttempt(Result.AGAIN, words.receiver_slow(receiver="json"))


def test_addresses_of_the_machine_itself_are_none() -> None:
    assert messenger.is_known("syslog://", HERE) is False


@pytest.mark.parametrize(
    ("said", "result", "english"),
    [
        ({"code": "delivered"}, Result.DELIVERED, "slack took it"),
        ({"status": 401, "http": True}, Result.REFUSED, "401 from slack"),
        ({"status": 429, "http": True}, Result.AGAIN, "429 from slack"),
        ({"status": 500, "http": True}, Result.AGAIN, "500 from slack"),
        ({"status": 451, "http": False}, Result.AGAIN, "451 from slack"),  # a temporary refusal of a mail server
        ({"status": 535, "http": False}, Result.REFUSED, "535 from slack"),
        ({"code": "unknown"}, Result.REFUSED, "this is no address that slack understands"),
        ({"code": "tls"}, Result.AGAIN, "slack does not speak TLS as expected, or its certificate is not trusted"),
        ({"code": TOKEN}, Result.AGAIN, "slack did not take it"),
    ],
)
def test_what_the_child_says_is_put_in_our_own_words(said: dict[str, Any], result: Result, english: str) -> None:
    outcome = messenger._outcome(said, "slack")

    assert (outcome.result, english_of(outcome.sentence)) == (result, english)


def test_what_a_display_calls_its_service_reaches_a_chat_room_as_text() -> None:
    unit = "@everyone <at>boss</at> [pay now](http://evil.example)"
    letter = Letter("signage-8", f"Lobby has a failed service ({unit})", f"It failed: {unit}", {"url": None})
    with receiver() as hook:
        couriers.send("apprise", f"json://127.0.0.1:{hook.server_address[1]}/", None, letter, HERE)

    [posted] = hook.posted
    text = f"{posted.json['title']} {posted.json['message']}"
    assert "everyone" in text
    assert not any(sign in text for sign in ("@", "<", "[", "://", "evil.example"))


READER = """
import sys
from shared.outside.couriers import messenger_child as child

class Plugin:
    def notify(self, **_):
        with open(sys.argv[1]) as file:
            return bool(file.read())

child._plugin = lambda url: Plugin()
child.main()
"""


@pytest.mark.parametrize(("is_a_packages", "code"), [(True, "delivered"), (False, "failed")])
def test_an_address_that_names_a_file_gets_none_but_those_of_packages(
    tmp_path: Path, is_a_packages: bool, code: str
) -> None:
    file = tmp_path / "secret"
    file.write_text("a secret of ours", encoding="utf-8")
    job = {
        "url": "x://",
        "title": "x",
        "text": "x",
        "reach": {"loopback": True, "private": True},
        "parent": os.getpid(),
    }
    done = subprocess.run(
        [sys.executable, "-c", READER, pytest.__file__ if is_a_packages else str(file)],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout)["code"] == code
