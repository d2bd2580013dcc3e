"""A seed decides the demo fleet's displays, and the environment its settings."""

from pathlib import Path

import pytest

from displays.simulated.__main__ import BadSetting, settings_from
from displays.simulated.behaviours import MISCHIEF, cast
from displays.simulated.outage import LEAST, SILENT, dark_site


def test_the_same_seed_gives_the_same_cast_and_another_seed_another_one() -> None:
    assert cast(50, 1, 30) == cast(50, 1, 30)
    assert {role.uuid for role in cast(50, 1, 30)}.isdisjoint(role.uuid for role in cast(50, 2, 30))


def test_a_larger_fleet_begins_with_the_same_displays() -> None:
    assert [role.uuid for role in cast(60, 1, 30)][:50] == [role.uuid for role in cast(50, 1, 30)]


@pytest.mark.parametrize("count", [1, 10, 50, 1000])
def test_nobody_shares_a_uuid_or_stands_in_one_place_under_one_name(count: int) -> None:
    roles = cast(count, 7, 30)

    assert len({role.uuid for role in roles}) == count
    assert len({(role.site, role.name) for role in roles}) == count
    assert len({role.vitals["ip"] for role in roles}) == count


def test_most_are_healthy_every_mischief_is_there_and_few_are_ever_silent() -> None:
    mischiefs = [role.mischief for role in cast(50, 1, 30)]

    assert mischiefs.count("healthy") > 25
    assert set(mischiefs) == {*MISCHIEF, "healthy"}
    assert mischiefs.count("freezes") + mischiefs.count("goes silent") < 10


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("count", [3, 24, 50, 200])
def test_the_site_that_goes_dark_leaves_fewer_than_a_fifth_silent(count: int, seed: int) -> None:
    roles = cast(count, seed, 30)
    site = dark_site(roles)
    gone = [role for role in roles if role.site == site or role.mischief in SILENT]

    assert site is None or sum(role.site == site for role in roles) >= LEAST
    assert site is None or 5 * len(gone) < count
    assert dark_site(roles) == site


def test_the_demo_as_it_comes_has_a_site_that_goes_dark_and_a_small_one_has_none() -> None:
    assert dark_site(cast(50, 1, 30)) is not None
    assert dark_site(cast(12, 1, 30)) is None
    assert dark_site([]) is None


def test_settings_come_from_the_stack_and_the_environment_wins(tmp_path: Path) -> None:
    (tmp_path / "stack.env").write_text(
        "# the stack\nexport SIGNAGE_API_URL='http://127.0.0.1:8080'\nSIGNAGE_ADMIN_TOKEN=sgn_a\n", encoding="utf-8"
    )
    environ = {"LOCAL_STATE_DIR": str(tmp_path), "SIGNAGE_ADMIN_TOKEN": "sgn_b", "DEMO_DISPLAYS": "3"}

    settings = settings_from(environ)

    assert (settings.api_url, settings.admin_token) == ("http://127.0.0.1:8080", "sgn_b")
    assert (settings.displays, settings.seed, settings.heartbeat_seconds) == (3, 1, 30)
    assert settings.folder == tmp_path / "demo"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"SIGNAGE_API_URL": ""}, "SIGNAGE_API_URL"),
        ({"DEMO_DISPLAYS": "many"}, "DEMO_DISPLAYS"),
        ({"DEMO_HEARTBEAT_SECONDS": "4"}, "DEMO_HEARTBEAT_SECONDS"),
    ],
)
def test_a_bad_setting_is_named(tmp_path: Path, changes: dict[str, str], named: str) -> None:
    environ = {
        "LOCAL_STATE_DIR": str(tmp_path),
        "SIGNAGE_API_URL": "http://127.0.0.1:8080",
        "SIGNAGE_ADMIN_TOKEN": "sgn_a",
    }

    with pytest.raises(BadSetting, match=named):
        settings_from(environ | changes)
