"""The rules of a channel: its valid addresses and secrets, its hours, and its address without secrets."""

import re
from collections.abc import Collection
from datetime import datetime, time, timedelta
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from shared.clients import zones_rules
from shared.errors import ChannelAddressRefused, ChannelRefused
from shared.vocabulary import ChannelKind, NotificationEvent, Weekday
from shared.words.sentences import Sentence

DAYS: Final = tuple(Weekday)  # as `date.weekday` counts them: Monday is 0
WEB: Final = ("http", "https")
SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{1,30}://[^\s]+", re.IGNORECASE)
SHORTEST_SECRET: Final = 16  # characters of the secret that signs a webhook
CRITICAL: Final = frozenset(
    {
        NotificationEvent.BRIDGE_SILENT,
        NotificationEvent.BREAKER_OPEN,
        NotificationEvent.INCIDENT_ESCALATED,
        NotificationEvent.CERTIFICATE_ENDING,
    }
)
"""Events that may be sent at all hours: recovery does not work meanwhile, or the trouble gets worse."""
CHOSEN: Final = frozenset(
    {NotificationEvent.CONVERSION_FAILED, NotificationEvent.DAILY_REPORT, NotificationEvent.WEEKLY_REPORT}
)
DEFAULT_EVENTS: Final = tuple(event for event in NotificationEvent if event not in CHOSEN)
"""All but the reports and a failed conversion: who uploads a presentation sees that on the page."""


class Hours(Struct, frozen=True):
    """The hours in which a channel gets messages, in local time."""

    time_zone: str
    weekdays: Collection[Weekday]
    """The days of `begin`."""
    begin: time
    end: time
    """On the next day, if it is not after `begin`."""


class OpenChannel(Struct, frozen=True):
    """A channel without its secrets."""

    id: int
    name: str
    events: list[str]
    delay_seconds: int
    sites: list[str] | None
    time_zone: str | None
    weekdays: list[Weekday] | None
    from_time: time | None
    to_time: time | None
    critical_passes: bool
    tells_since: datetime
    language: str

    @property
    def told_of(self) -> list[NotificationEvent]:
        """The events that the channel takes, in the order of the vocabulary."""
        return [event for event in NotificationEvent if event.value in self.events]

    @property
    def hours(self) -> Hours | None:
        """The hours in which it gets messages; None: at all times."""
        if self.time_zone is None or self.from_time is None or self.to_time is None:
            return None
        return Hours(self.time_zone, frozenset(self.weekdays or ()), self.from_time, self.to_time)


class KeptChannel(OpenChannel, frozen=True):
    """A channel with its secrets, which `repr` leaves out."""

    kind: ChannelKind
    url: str
    signing_secret: str | None
    enabled: bool
    created_by: str
    created_at: datetime
    changed_at: datetime
    last_delivered_at: datetime | None
    last_failed_at: datetime | None
    last_error: Sentence | None

    def __repr__(self) -> str:
        """The channel without its secrets."""
        return f"KeptChannel(id={self.id}, name={self.name!r})"


def are_on(hours: Hours | None, now: datetime) -> bool:
    """Whether `now` is within these hours; None means always."""
    if hours is None:
        return True
    local = now.astimezone(zones_rules.or_utc(hours.time_zone))
    today, yesterday = DAYS[local.weekday()], DAYS[(local - timedelta(days=1)).weekday()]
    at = local.time()
    if hours.begin < hours.end:
        return today in hours.weekdays and hours.begin <= at < hours.end
    return (today in hours.weekdays and at >= hours.begin) or (yesterday in hours.weekdays and at < hours.end)


def check_hours(hours: Hours | None) -> None:
    """Check the hours. Raises TimeZoneUnknown, or ChannelRefused when they have no weekday."""
    if hours is None:
        return
    if not hours.weekdays:
        raise ChannelRefused("channel_hours_need_weekday")
    zones_rules.known(hours.time_zone)


def check_address(kind: ChannelKind, url: str) -> None:
    """Check the form of an address. Raises ChannelAddressRefused, whose text does not have the address."""
    if kind is ChannelKind.APPRISE:
        if not SCHEME.fullmatch(url):
            raise ChannelAddressRefused("apprise_address")
        return
    try:
        parts = urlsplit(url)
        usable = parts.scheme in WEB and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isascii() or re.search(r"[\s\x00-\x1f]", url):
        raise ChannelAddressRefused("webhook_address")


def check_secret(kind: ChannelKind, signing_secret: str | None) -> None:
    """Check a secret. Raises ChannelRefused when it is too short, or the channel is not a webhook."""
    if signing_secret is None:
        return
    if kind is not ChannelKind.WEBHOOK:
        raise ChannelRefused("only_webhooks_signed")
    if len(signing_secret) < SHORTEST_SECRET:
        raise ChannelRefused("signing_secret_short", facts={"shortest": SHORTEST_SECRET})


def masked(kind: ChannelKind, url: str) -> str:
    """The address without its secrets.

    A webhook keeps scheme, host and port. An Apprise address keeps only its service, because its host may be a token.
    """
    scheme = url.partition(":")[0].lower()
    if kind is ChannelKind.APPRISE:
        return f"{scheme}://…"
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = "" if parts.port is None else f":{parts.port}"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}{port}/…"
