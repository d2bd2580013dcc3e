"""How the screen may look, by the service: what is understood, and what a disk keeps."""

from pathlib import Path

import pytest

from displays.client import contract
from displays.client.contract import BadMessage, LookOrder
from displays.client.look import LookKeeper

ALLOWED, NEVER, NONE = LookOrder("a", True), LookOrder("b", False), LookOrder(None, False)


@pytest.mark.parametrize(
    ("payload", "order"),
    [
        (b'{"version": "a", "black": "allowed"}', ALLOWED),
        (b'{"version": "b", "black": "never"}', NEVER),
        (b'{"version": "b"}', NEVER),
        (b'{"v": 1, "version": null}', NONE),
        (b"{}", NONE),
    ],
)
def test_a_setting_is_understood(payload: bytes, order: LookOrder) -> None:
    assert contract.parse_look(payload) == order


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b'{"version": "a", "black": true}', "not_understood"),
        (b'{"version": "a", "black": []}', "not_understood"),
        (b'{"version": 7}', "not_understood"),
        (b'{"v": 2, "version": "a"}', "unsupported_version"),
        (b'{"version": "' + b"a" * 250 + b'"}', "not_understood"),
        (b"null", "not_understood"),
    ],
)
def test_what_is_no_setting_is_refused_with_a_word(payload: bytes, reason: str) -> None:
    with pytest.raises(BadMessage) as refusal:
        contract.parse_look(payload)

    assert refusal.value.reason == reason


@pytest.mark.parametrize("order", [ALLOWED, NEVER, NONE])
def test_a_setting_survives_a_power_cut(tmp_path: Path, order: LookOrder) -> None:
    path = tmp_path / "look.json"
    LookKeeper(path).take(LookOrder("before", black_is_allowed=True))
    LookKeeper(path).take(order)

    again = LookKeeper(path)

    assert (again.order, again.kept_version) == (order, order.version)


def test_a_setting_that_the_disk_refuses_holds_and_is_not_named(tmp_path: Path) -> None:
    keeper = LookKeeper(tmp_path / "no folder" / "look.json")

    keeper.take(ALLOWED)

    assert (keeper.order, keeper.kept_version) == (ALLOWED, None)


@pytest.mark.parametrize("content", [b"", b"\0" * 90, b'{"version": "a", "bl'])
def test_a_damaged_file_is_no_setting(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "look.json").write_bytes(content)

    assert LookKeeper(tmp_path / "look.json").order == NONE
