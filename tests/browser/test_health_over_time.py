"""The health tab shows a day or a week: lines interrupted where no report arrived, and the same in words."""

import re

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect
from sqlalchemy import Engine

from displays.simulated.simulated import SimulatedDisplay
from extensions.history.health_store import bunch_of
from tests.browser.conftest import Enter, uuid_of
from tests.browser.test_every_page import violations
from tests.browser.watched import does_not_scroll_sideways
from tests.stack import Api, eventually

WAVE = f"""
    INSERT INTO client_health_history (bunch, at, clients, cpu, memory, disk, temperature)
    SELECT {bunch_of(":uuid")}, now() - n * interval '5 minutes' - interval '30 minutes', ARRAY[CAST(:uuid AS uuid)],
        ARRAY[CAST(CASE WHEN n = 20 THEN 970 ELSE 100 + mod(n, 7) * 10 END AS smallint)], ARRAY[CAST(500 AS smallint)],
        ARRAY[CAST(NULL AS smallint)], ARRAY[CAST(450 AS smallint)]
    FROM generate_series(1, 600) AS n WHERE n NOT BETWEEN 40 AND 75
"""


@pytest.fixture
def told(api: Api, database: Engine, display: SimulatedDisplay) -> str:
    """Return the uuid of a display with two days of history, a gap of three hours in it, and no value of its disk."""
    display.health(cpu_percent=12.0, memory_percent=50.0, temperature_celsius=45.0)
    uuid = uuid_of(display)
    eventually(lambda: api.get(f"/api/clients/{uuid}")["health"], "its health")
    with database.begin() as connection:
        connection.execute(sa.text(WAVE), {"uuid": uuid})
    return uuid


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (1360, "dark")])
def test_a_day_and_a_week_are_drawn_against_their_limits_and_said_in_words(
    enter: Enter, told: str, width: int, scheme: str
) -> None:
    page = enter(f"/?d={told}&tab=health", viewport={"width": width, "height": 800}, color_scheme=scheme).page
    over_time = page.get_by_role("region", name="Over time")

    line = over_time.get_by_role("img", name=re.compile("Processor over the last 24 hours: lowest 10.%, highest 97.%"))
    expect(line).to_be_visible()
    path = line.locator(".spark-line").first.get_attribute("d") or ""
    assert path.count("M") >= 2  # starts anew after the gap
    assert len(path) > 1000
    expect(line.locator(".spark-over")).to_have_count(1)
    expect(over_time).to_contain_text("not reported in this time")  # of the disk
    expect(over_time.get_by_role("img")).to_have_count(3)
    expect(over_time).to_contain_text(re.compile(r"Nothing was reported for 3 h \d+ min of this time"))
    assert violations(page) == []
    assert does_not_scroll_sideways(page)

    over_time.get_by_role("button", name="7 d").click()

    expect(over_time.get_by_role("img", name=re.compile("Processor over the last 7 days"))).to_be_visible()
    expect(over_time).to_contain_text("Each point is the mean of 35 min")
    assert violations(page) == []


def test_a_display_that_has_just_come_says_that_nothing_is_known_yet(
    enter: Enter, api: Api, display: SimulatedDisplay
) -> None:
    display.health(cpu_percent=12.0)
    uuid = uuid_of(display)
    eventually(lambda: api.get(f"/api/clients/{uuid}")["health"], "its health")

    page = enter(f"/?d={uuid}&tab=health").page

    over_time = page.get_by_role("region", name="Over time")
    expect(over_time).to_contain_text(re.compile("Nothing was reported in this time|always 12.%"))
    expect(page.get_by_text("Processor").first).to_be_visible()
