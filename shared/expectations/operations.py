"""Use case: judge the screens that displays report by what should be on them."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace
from sqlalchemy import Connection

from shared.clients.reports.rules import HealthReport
from shared.clients.screens_rules import SeenPage
from shared.expectations import rules, store
from shared.expectations.store import OfClient
from shared.vocabulary import ScreenHealthStatus

_page = msgspec.json.Decoder(SeenPage).decode


def judge(connection: Connection, reports: Sequence[HealthReport]) -> Sequence[HealthReport]:
    """These reports, with the word of each screen as it is judged. It asks only for displays that tell their page."""
    told = {one.uuid for one in reports if one.page is not None or one.screen_health is ScreenHealthStatus.BLACK}
    expected = {one.uuid: one for one in store.of_clients(connection, told)} if told else {}
    return [_judged(report, expected[report.uuid]) if report.uuid in expected else report for report in reports]


def _judged(report: HealthReport, expected: OfClient) -> HealthReport:
    page = None if report.page is None else _page(report.page).after(expected.page)
    return replace(report, screen_health=rules.judged(report.screen_health, page, expected))
