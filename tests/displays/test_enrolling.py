"""What `signage-display enrol` makes of whoever answers the code."""

import http.server
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from displays.agent import enrolment
from displays.agent.enrolment import NotEnrolled, _login_from, _redeem
from displays.agent.settings import Places
from displays.client.credentials import trusting
from tests.displays.gateways import served


class Stranger(http.server.BaseHTTPRequestHandler):
    """Answers a code with what its class says."""

    status, said = 409, json.dumps({"detail": "no\x1b]0;owned\x07\nEnrolled as root"})

    def do_POST(self) -> None:  # http.server's name
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.said.encode())


def refused(handler: type[Stranger]) -> str:
    """The words with which a code is given up at whoever answers so."""
    with served(handler) as port:
        where = f"http://127.0.0.1:{port}"
        try:
            _login_from(_redeem(where, "A-CODE", trusting()), where, None)
        except NotEnrolled as refusal:
            return str(refusal)
    raise AssertionError("it was taken")


def test_a_refusal_of_whoever_answers_there_is_shown_as_text() -> None:
    said = refused(Stranger)

    assert "owned" in said
    assert said.isprintable()


MQTT = '{"host": "h", "port": 1, "tls": true, "ca_pem": null}'
WHOLE = f'{{"uuid": "u", "username": "u", "password": "p", "topic_root": "t", "mqtt": {MQTT}}}'


def test_a_refused_code_is_not_asked_for_again() -> None:
    assert "refuses the code: no" in refused(Stranger)


def test_a_code_is_brought_again_while_too_many_others_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enrolment, "AGAIN_SECONDS", 0.0)
    answers = [429, 503, 503, 200]

    class Crowded(Stranger):
        def do_POST(self) -> None:  # http.server's name
            self.status = answers.pop(0)
            super().do_POST()

    Crowded.said = WHOLE

    with served(Crowded) as port:
        assert _redeem(f"http://127.0.0.1:{port}", "A-CODE", trusting()) == json.loads(WHOLE)
    assert answers == []


def test_a_crowd_that_stays_is_told_and_the_code_is_not_called_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enrolment, "AGAIN_SECONDS", 0.0)

    class Crowded(Stranger):
        status, said = 503, json.dumps({"detail": "Why."})

    assert "cannot take the code now: Why. Try again soon." in refused(Crowded)


@pytest.mark.parametrize(
    "said",
    [
        *("", "<html>Welcome", "[]", "{}", "null", '"text"', "[" * 100_000, '{"mqtt": []}', '{"mqtt": {}}'),
        *(WHOLE.replace('"uuid": "u"', '"uuid": ["u"]'), WHOLE.replace('"port": 1', '"port": "1"')),
        WHOLE.replace('"port": 1', '"port": 99999'),
    ],
)
def test_an_answer_that_is_no_login_is_a_sentence(said: str) -> None:
    class Portal(Stranger):
        status = 200

    Portal.said = said

    assert "answers, but with no login: is it the service?" in refused(Portal)


NAMING: dict[str, Callable[[Places, str], None]] = {
    "enrol": lambda places, unit: enrolment.enrol(places, "http://127.0.0.1:9", "A-CODE", player=unit),
    "player": enrolment.name_player,
}


@pytest.mark.parametrize("command", NAMING)
def test_a_player_that_is_no_unit_of_the_machine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Before the code is used, too: the address answers nothing."""
    monkeypatch.setattr(enrolment, "_check_root", lambda: None)
    monkeypatch.setattr(enrolment, "_load_state", lambda _unit: "not-found")

    with pytest.raises(NotEnrolled, match=r"no unit touchkio\.service .* For a unit of one user .* name user@1000"):
        NAMING[command](Places(tmp_path), "touchkio.service")

    assert not Places(tmp_path).configuration.exists()
