"""The limits of health: a bar for each with its limit, and the row of a display that passes one."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect
from sqlalchemy import Engine

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, uuid_of
from tests.browser.test_every_page import is_right_in_every_look, violations
from tests.stack import Api, eventually

PASSED = """
    INSERT INTO client_limits (client_uuid, kind, over_since, passed_at, value, limit_at)
    VALUES (:uuid, 'disk', now() - interval '20 min', now() - interval '15 min', 94, 90),
        (:uuid, 'certificate', now() - interval '2 days', now() - interval '2 days', 9.5, 14)
    ON CONFLICT (client_uuid, kind) DO UPDATE SET over_since = EXCLUDED.over_since, passed_at = EXCLUDED.passed_at
"""
"""The tick may have seen the measurements before: then it has written that they are over their limits from now on."""
CLOCK = r"\d\d:\d\d:\d\d"


@pytest.fixture
def told(api: Api, database: Engine, display: SimulatedDisplay) -> str:
    """Return the uuid of a display that passes two limits, and keeps the others or does not report them."""
    ends_at = datetime.now(UTC) + timedelta(days=9, hours=12)
    display.health(
        cpu_percent=12.0,
        memory_percent=50.0,
        disk_percent=94.4,
        certificate_ends_at=ends_at.isoformat(),
        under_voltage=False,
        disk_writable=False,
        refused=[{"what": "hours", "reason": "unknown_zone"}, {"what": "log_level", "reason": "odd"}],
    )
    uuid = uuid_of(display)
    eventually(lambda: api.get(f"/api/clients/{uuid}")["health"], "its health")
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE clients SET name = 'Foyer 3' WHERE uuid = :uuid"), {"uuid": uuid})
        connection.execute(sa.text(PASSED), {"uuid": uuid})
    return uuid


def test_each_limit_has_a_bar_with_its_mark_and_says_the_same_in_words(enter: Enter, told: str) -> None:
    page = enter(f"/?d={told}&tab=health").page

    gauges = page.locator(".health > .gauges > .gauge")
    expect(gauges).to_have_count(9)  # the processor, and eight limits
    expect(page.locator(".health > .note")).to_have_text(
        [
            (
                "Refused by the display: its opening hours: it does not know their time zone. "
                "Choose an older name of the zone, or update the display."
            ),
            "Refused by the display: its log level: odd",
        ]
    )
    for name, words in {
        "Disk": rf"94 % limit 90 % · past its limit since .*{CLOCK}",
        "Memory": "50 % limit 95 %",
        "Temperature": "not reported limit 80 °C",
        "Certificate": r"ends in 9 d \d+ h limit 14 days before the end · past its limit since",
        "Clock": "right|fast|slow",
        "Power": "enough voltage since the boot",
        "Writing": "the disk takes no writes",
        "Orders": "not all taken",
    }.items():
        gauge = gauges.filter(has=page.locator("dt", has_text=re.compile(f"^{name}$")))
        expect(gauge).to_contain_text(re.compile(words))
    disk = gauges.filter(has=page.locator("dt", has_text="Disk"))
    expect(disk.locator(".gauge-limit")).to_have_attribute("x", "90")
    expect(disk.locator(".gauge-over")).to_have_attribute("width", "94.4")
    certificate = gauges.filter(has=page.locator("dt", has_text="Certificate"))
    expect(certificate.locator(".gauge-over")).to_have_count(1)
    memory = gauges.filter(has=page.locator("dt", has_text="Memory"))
    expect(memory.locator(".gauge-over")).to_have_count(0)
    expect(memory.locator(".gauge-limit")).to_have_attribute("x", "95")
    heat = gauges.filter(has=page.locator("dt", has_text="Temperature"))
    expect(heat.locator("svg")).to_have_count(0)  # nothing is drawn of what is not known
    is_right_in_every_look(page, "the limits")


def test_a_display_that_passes_a_limit_is_orange_in_words_and_has_a_tile(enter: Enter, told: str) -> None:
    watched = enter()
    page = watched.page
    tile = page.locator(".tile.status-limit_passed")
    watched.look_until(tile.is_visible, "the tile")

    row = page.locator(".attention-row").filter(has_text="Foyer 3")
    expect(row).to_contain_text(re.compile(f"Past its limit: disk 94 % full, since {CLOCK}"))
    expect(row).to_contain_text("Past its limit: certificate ends in 9 d, since")
    expect(row).to_contain_text("Recovery does not act on this")
    tile.get_by_role("button").click()

    listed = page.locator("tbody tr").filter(has_text="Foyer 3")
    expect(listed.locator(".tag-orange")).to_have_text(["certificate ends in 9 d", "disk 94 % full"])
    assert "status=limit_passed" in page.url
    assert violations(page) == []
