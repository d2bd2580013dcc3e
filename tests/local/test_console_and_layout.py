"""The terminal's lines, the state directory, the ports."""

import io
import json
import re
from pathlib import Path

import pytest

from deploy.local.console import Console, readable, visible
from deploy.local.stack import Stack
from deploy.parts.components import PORTS
from deploy.parts.layout import BadSetting, Layout, layout_from, ports_from, write_file
from tests.api.hostile_texts import TEXTS
from tests.local.modes import mode


def test_every_line_of_a_service_carries_its_name() -> None:
    stream = io.StringIO()
    console = Console(stream)
    console.log("bridge", "one")
    console.say("two")
    console.close()

    assert stream.getvalue() == "bridge         │ one\ntwo\n"  # no colours: the output is no terminal


def test_a_structured_line_becomes_words_and_its_traceback_lines() -> None:
    line = {
        "time": "2026-01-01T00:00:00Z",
        "severity": "ERROR",
        "message": "a tick failed",
        "event": "tick",
        "status": 503,
        "reason": None,
        "exception": "Traceback\n  here",
    }

    assert readable(json.dumps(line)) == "ERROR a tick failed status=503\nTraceback\n  here"


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_leaves_out_what_went_well_and_a_file_gets_all() -> None:
    well = {"severity": "INFO", "message": "request answered", "status": 200}
    lines = [
        well,
        {**well, "status": 503},
        {**well, "severity": "ERROR"},
        {"severity": "INFO", "message": "ticked", "failed": []},
        {"severity": "INFO", "message": "ticked", "failed": ["recover"]},
        {"severity": "INFO", "message": "component started"},
    ]
    counts = []
    for stream in (Terminal(), io.StringIO()):
        console = Console(stream)
        for line in lines:
            console.log("api", json.dumps(line))
        console.close()
        counts.append(len(stream.getvalue().splitlines()))

    assert counts == [4, 6]


def test_what_is_awaited_is_told_once_and_after_the_line_that_brings_it() -> None:
    stream = io.StringIO()
    console = Console(stream)
    console.tell_after("all displays are started", lambda: console.say("first sign-in"))
    for words in ("one display is started", "all displays are started", "all displays are started"):
        console.log("demo-fleet", words)
    console.close()

    assert [line.rpartition("│ ")[2] for line in stream.getvalue().splitlines()] == [
        "one display is started",
        "all displays are started",
        "first sign-in",
        "all displays are started",
    ]


@pytest.mark.parametrize("text", ["plain", "{not json", '{"no": "message"}', "[1]", ""])
def test_any_other_line_stays_as_it_is(text: str) -> None:
    assert readable(text) == text


@pytest.mark.parametrize("text", [pytest.param(text, id=what) for what, text in TEXTS.items()])
def test_a_terminal_obeys_nothing_that_strangers_make_a_service_write(text: str) -> None:
    written = io.BytesIO()
    console = Console(io.TextIOWrapper(written, "utf-8"))
    line = {"severity": "ERROR", "message": text, "unit": text, "exception": f"Traceback\n  {text}"}
    console.log("api", json.dumps(line))
    console.log("gateway", f'referrer: "{text}"'.replace("\n", ""))
    console.say("the end")
    console.close()

    *lines, end = written.getvalue().decode().splitlines()
    assert end == "the end"
    assert all(one.startswith(("api            │ ", "gateway        │ ")) for one in lines)
    assert [one for one in lines if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", one)] == []
    assert sum("Traceback" in one for one in lines) == sum("referrer" in one for one in lines) == 1


def test_what_would_be_obeyed_is_shown_as_a_sign() -> None:
    assert visible("\x1b[31m\x9b\x7f\u202egpj\ud800\tä") == "␛[31m‹U+009B›␡‹U+202E›gpj‹U+D800›\tä"


def test_a_terminal_that_is_gone_does_not_matter() -> None:
    stream = io.StringIO()
    console = Console(stream)
    stream.close()

    console.say("to nobody")
    console.close()


def test_the_state_directory_and_its_secrets_are_for_their_owner_alone(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "state")
    layout.prepare()

    secret = layout.secret("name")

    assert len(secret) >= 32
    assert layout.secret("name") == secret
    assert mode(layout.root) == mode(layout.secrets) == 0o700
    assert mode(layout.secrets / "name") == 0o600


def test_a_folder_that_was_open_is_closed(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o755)

    Layout(tmp_path / "state").prepare()

    assert mode(tmp_path / "state") == 0o700


def test_somebody_elses_folder_is_neither_closed_nor_deleted(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    before = mode(tmp_path)

    with pytest.raises(BadSetting, match=r"LOCAL_STATE_DIR: .* holds other things"):
        Layout(tmp_path).prepare()
    with pytest.raises(BadSetting, match=r"LOCAL_STATE_DIR: .* holds other things"):
        Layout(tmp_path).check_ours()

    assert (mode(tmp_path), sorted(path.name for path in tmp_path.iterdir())) == (before, ["media"])


def test_a_folder_that_a_stack_has_used_is_used_again(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "state")
    layout.prepare()
    layout.lock.touch()

    layout.prepare()


def test_a_folder_that_cannot_be_made_is_named_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadSetting, match=r"LOCAL_STATE_DIR: .*/file/state cannot be used: Not a directory"):
        Layout(tmp_path / "file" / "state").prepare()


def test_an_empty_setting_means_the_default() -> None:
    assert layout_from({"LOCAL_STATE_DIR": ""}) == layout_from({})


def test_a_file_is_replaced_whole_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o644)

    write_file(path, "new")

    assert (path.read_text(), mode(path)) == ("new", 0o600)
    assert list(tmp_path.iterdir()) == [path]


def test_ports_have_defaults_and_can_be_set() -> None:
    assert ports_from({}) == dict(PORTS)
    assert ports_from({"GATEWAY_PORT": "9090", "API_PORT": ""}) == {**PORTS, "GATEWAY_PORT": 9090}


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"GATEWAY_PORT": "http"}, "GATEWAY_PORT: 'http' is no port"),
        ({"GATEWAY_PORT": "0"}, "GATEWAY_PORT"),
        ({"GATEWAY_PORT": "65536"}, "GATEWAY_PORT"),
        ({"GATEWAY_PORT": "8081"}, "GATEWAY_PORT and API_PORT are both 8081"),
    ],
)
def test_a_port_that_cannot_be_used_is_named(environ: dict[str, str], words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        ports_from(environ)


def test_the_gateway_listens_on_loopback_unless_a_container_asks_for_all_addresses(tmp_path: Path) -> None:
    state = {"LOCAL_STATE_DIR": str(tmp_path)}

    assert Stack(state).gateway_listens == "127.0.0.1"
    assert Stack({**state, "GATEWAY_LISTEN": "0.0.0.0"}).gateway_listens == "0.0.0.0"
    with pytest.raises(BadSetting, match=r"GATEWAY_LISTEN: '10\.0\.0\.1' is neither 127\.0\.0\.1 nor 0\.0\.0\.0"):
        _ = Stack({**state, "GATEWAY_LISTEN": "10.0.0.1"}).gateway_listens
