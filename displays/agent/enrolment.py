"""`signage-display enrol`: exchange a code for this display's login, and start the agent. Run it as root, once."""

import contextlib
import json
import os
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from displays.agent import status
from displays.agent.players import Playing, playing
from displays.agent.settings import MACHINE, Places, check_unit
from displays.agent.user import account, as_agent
from displays.client import durable
from displays.client.credentials import Credentials, trusting

ANSWER_SECONDS: Final = 30.0
ANSWER_BYTES: Final = 256 * 1024
HEARD_SECONDS: Final = 60.0
NOT_NOW: Final = (429, 503)  # answers that leave the code unused: too many ask at once
AGAIN_SECONDS, TRIES = 5.0, 24
PLAYERS: Final = (
    *("signage-player.service", "kiosk.service", "chromium-kiosk.service", "player.service"),
    *("anthias-host-agent.service", "cage@tty1.service", "display-manager.service"),
)
"""The usual names of a unit that shows a playlist; the first one that the machine has becomes the player."""


class NotEnrolled(Exception):
    """The enrolment failed; the message says why, and what to do."""


class NotNow(NotEnrolled):
    """Too many ask at once; the code was not used."""


def enrol(places: Places, url: str, code: str, player: str = "", ca: str = "") -> None:
    """Enrol, start the agent, and wait for its first heartbeat. `ca` is a file. Raises NotEnrolled or BadSetting."""
    _check_root()
    where = _origin(url)
    if player:
        _check_player(player)
    ca_pem, trust = _authority(ca)
    _check_disk(places)  # a full disk must not cost the code, which works once
    login = _login_from(_redeem(where, code, trust), where, ca_pem)
    _save(places, login)
    plays = playing(places.root)
    if player or not places.configuration.exists():
        _write_configuration(places, player or _player_among(plays), plays)
    print(status.shown(f"Enrolled as {login.uuid}. Player: {_player_in_words(places)}"))
    if plays is not None and MACHINE in places.configuration.read_text(encoding="utf-8"):
        print("\n".join(status.shown(line) for line in plays.advice()))
    _start()
    _wait_until_heard(places)


def name_player(places: Places, unit: str) -> None:
    """Make `unit` the player. Raises NotEnrolled or BadSetting."""
    _check_root()
    _check_player(unit)
    _write_configuration(places, unit, playing(places.root))
    _systemctl("try-restart", "signage-display.service")


def _check_root() -> None:
    if os.geteuid() != 0:
        raise NotEnrolled("Only root can do that: run it with sudo.")


def _check_player(unit: str) -> None:
    """Raises NotEnrolled or BadSetting."""
    check_unit(unit)
    if _load_state(unit) != "loaded":
        raise NotEnrolled(
            f"There is no unit {unit} on this machine: systemctl list-units --all."
            " For a unit of one user (systemctl --user) name user@1000.service, with that user's number."
        )


def _origin(url: str) -> str:
    parts = urlsplit(url if "://" in url else f"https://{url}")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise NotEnrolled(f"{url!r} is no address of the service, such as https://signage.example.org")
    return f"{parts.scheme}://{parts.netloc}"


def _check_disk(places: Places) -> None:
    """Raises NotEnrolled if the agent's user cannot write into its folder. The folder above it is root's."""
    probe = places.state / ".probe"
    try:
        places.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chown(places.state, account().pw_uid, account().pw_gid)
        with as_agent():
            durable.replace_file(probe, b"x" * 4096)
            probe.unlink()
    except OSError as error:
        raise NotEnrolled(f"{places.state} cannot be written ({error.strerror}). The code was not used.") from None


def _authority(file: str) -> tuple[str | None, ssl.SSLContext]:
    """The certificate authority in this file, and trust in it beside the system's."""
    try:
        ca_pem = Path(file).read_text(encoding="ascii") if file else None
        return ca_pem, trusting(ca_pem)
    except (OSError, ValueError) as error:
        raise NotEnrolled(f"{file} holds no certificate authority: {error}. The code was not used.") from None


def _redeem(where: str, code: str, trust: ssl.SSLContext) -> Any:
    """The answer's JSON; asks again for two minutes while too many others ask. Raises NotEnrolled."""
    for _ in range(TRIES):
        with contextlib.suppress(NotNow):
            return _ask(where, code, trust)
        time.sleep(AGAIN_SECONDS)
    return _ask(where, code, trust)


def _ask(where: str, code: str, trust: ssl.SSLContext) -> Any:
    question = urllib.request.Request(  # noqa: S310 - http or https: _origin looked
        f"{where}/api/enroll",
        data=json.dumps({"code": code}).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(question, timeout=ANSWER_SECONDS, context=trust) as answer:  # noqa: S310  # nosec B310 - as above
            said = answer.read(ANSWER_BYTES)
    except urllib.error.HTTPError as refusal:
        if refusal.code in NOT_NOW:
            raise NotNow(f"The service cannot take the code now: {_detail(refusal)} Try again soon.") from None
        raise NotEnrolled(f"The service refuses the code: {_detail(refusal)}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = status.shown(str(getattr(error, "reason", error)))
        raise NotEnrolled(f"{where} cannot be reached: {reason}. If it used the code, create a new one.") from None
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        raise _stranger(where) from None


def _login_from(body: Any, where: str, ca_pem: str | None) -> Credentials:
    try:
        return Credentials.from_enrolment(body, where, ca_pem)
    except (KeyError, TypeError):
        raise _stranger(where) from None


def _stranger(where: str) -> NotEnrolled:
    return NotEnrolled(f"{where} answers, but with no login: is it the service? If it used the code, create a new one.")


def _detail(refusal: urllib.error.HTTPError) -> str:
    try:
        return status.shown(str(json.load(refusal)["detail"]))
    except (ValueError, KeyError, TypeError, OSError):
        return f"HTTP {refusal.code}"


def _save(places: Places, login: Credentials) -> None:
    try:
        with as_agent():
            login.save(places.credentials)
    except OSError as error:
        raise NotEnrolled(f"The login cannot be stored: {error}. The code was used; create a new one.") from None


def _write_configuration(places: Places, player: str, plays: Playing | None) -> None:
    """Write the player's line, and keep the lines that the machine's owner wrote. A page that can be seen is seen."""
    places.configuration.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    before = places.configuration.read_text(encoding="utf-8").splitlines() if places.configuration.exists() else []
    kept = [line for line in before if line.strip() != "[display]" and line.partition("=")[0].strip() != "player"]
    if plays is not None and plays.port and plays.unit == player and not any("devtools_port" in line for line in kept):
        kept.insert(0, f"devtools_port = {plays.port}")
    text = "\n".join(["[display]", f"player = {player}", *kept]) + "\n"
    durable.replace_file(places.configuration, text.encode())
    places.configuration.chmod(0o644)


def _player_among(plays: Playing | None) -> str:
    """The unit of what plays, if a restart of it restarts nothing else; otherwise a usual name."""
    if plays is not None and plays.is_alone:
        return plays.unit
    return next((unit for unit in PLAYERS if _load_state(unit) == "loaded"), MACHINE)


def _player_in_words(places: Places) -> str:
    text = places.configuration.read_text(encoding="utf-8")
    if MACHINE in text:
        return "no unit was found, so only the machine is watched. Name the unit: signage-display player UNIT"
    return text.partition("player = ")[2].partition("\n")[0]


def _load_state(unit: str) -> str:
    shown = subprocess.run(
        ("systemctl", "show", "--property=LoadState", "--value", unit), check=False, capture_output=True, text=True
    )
    return shown.stdout.strip()


def _start() -> None:
    _systemctl("enable", "--quiet", "--now", "signage-display-helper.socket")
    _systemctl("enable", "--quiet", "signage-display.service")
    _systemctl("restart", "signage-display.service")


def _systemctl(*arguments: str) -> None:
    done = subprocess.run(("systemctl", *arguments), check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise NotEnrolled(f"systemctl {' '.join(arguments)}: {done.stderr.strip()}")


def _wait_until_heard(places: Places) -> None:
    """Wait until the service takes a heartbeat. Raises NotEnrolled, with the agent's status, if it takes none."""
    deadline = time.monotonic() + HEARD_SECONDS
    known: dict[str, Any] | None = None
    while time.monotonic() < deadline:
        known = status.read(places.status)
        if known and known["heard_at"] is not None:
            print("\n".join(status.words(known, time.monotonic())))
            return
        time.sleep(0.2)
    said = "\n".join(status.words(known, time.monotonic())) if known else "The agent did not start."
    raise NotEnrolled(f"It is enrolled, but the service has not heard it yet.\n{said}\nTry: signage-display doctor")
