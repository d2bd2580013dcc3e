"""Measure every gauge at one moment, from the database: so no count is lost when an instance stops."""

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from shared.commands import rules as commands_rules
from shared.config import Config
from shared.conversions.rules import timeouts
from shared.leadership import rules as leadership_rules
from shared.leadership import store as leadership_store
from shared.overview import store as overview_store
from shared.overview.gauges import rules, store
from shared.overview.gauges.rules import Gauge, age_seconds, by_word, plain
from shared.overview.rules import TICK
from shared.vocabulary import (
    COMMAND_RANKS,
    TERMINAL_RANK,
    WITHOUT_PICTURE,
    ClientStatus,
    CommandAction,
    CommandState,
    ConversionStatus,
    DeadLetterReason,
    DeliveryState,
    HealthLimit,
    IncidentKind,
)

OPEN_STATES: Final = [state.value for state, rank in COMMAND_RANKS.items() if rank < TERMINAL_RANK]
UNDER_WAY: Final = (ConversionStatus.PENDING.value, ConversionStatus.PROCESSING.value)
ENDS: Final = {
    CommandState.SUCCEEDED.value: (),
    CommandState.FAILED.value: (commands_rules.PUBLISH_DENIED, commands_rules.REBOOT_DID_NOT_HAPPEN),
    CommandState.REJECTED.value: (),
    CommandState.EXPIRED.value: (commands_rules.NEVER_PUBLISHED, commands_rules.NO_SUBSCRIBER, commands_rules.NO_ACK),
    CommandState.TIMED_OUT.value: (commands_rules.NO_RESULT,),
    CommandState.CANCELLED.value: (commands_rules.NO_SUBSCRIBER, commands_rules.ALREADY_REBOOTED),
}
"""Final state of a command -> the reasons in the service's own words. A display's or person's text is no label."""


def measure(connection: Connection, now: datetime, config: Config) -> list[Gauge]:
    """Measure all gauges, in the order of `rules.MEANINGS`."""
    found = [
        *_fleet(connection),
        *_commands(connection, now),
        *_recovery(connection, now, config),
        *_conversions(connection, now, config),
        *_messages(connection, now),
        *_tick(connection, now),
        *_listening(connection, now),
        *_room(connection, config["MEDIA_ROOT"]),
    ]
    order = list(rules.MEANINGS)
    return sorted(found, key=lambda gauge: order.index(gauge.name))


def _fleet(connection: Connection) -> Iterator[Gauge]:
    counts = overview_store.counts(connection)
    yield by_word("clients", "status", rules.words_of(ClientStatus), counts.of_each)
    yield plain("clients_service_failed", counts.service_failed)
    yield plain("clients_service_mended", counts.service_mended)
    yield by_word("clients_screen_failed", "screen", WITHOUT_PICTURE, store.failing_screens(connection))
    yield by_word("clients_over_limit", "limit", rules.words_of(HealthLimit), store.over_limits(connection))


def _commands(connection: Connection, now: datetime) -> Iterator[Gauge]:
    rows = store.open_commands(connection, now)
    waiting = min((row.oldest_waiting for row in rows if row.oldest_waiting), default=None)
    oldest = {row.state: age_seconds(now, row.oldest) for row in rows}
    yield by_word("commands_open", "state", OPEN_STATES, {row.state: row.count for row in rows})
    yield by_word("commands_oldest_seconds", "state", OPEN_STATES, oldest)
    yield plain("outbox_waiting", sum(row.waiting for row in rows))
    yield plain("outbox_oldest_seconds", age_seconds(now, waiting, never=0))
    yield plain("outbox_leases", sum(row.leased for row in rows))
    ended = store.ended_commands(connection, now - rules.RECENTLY)
    yield rules.by_state_and_reason("commands_ended_last_15m", ENDS, ended)
    pictures = store.screenshots(connection, now - rules.STORM)
    yield by_word("screenshots_last_30m", "picture", ("stored", "missing"), pictures)


def _recovery(connection: Connection, now: datetime, config: Config) -> Iterator[Gauge]:
    fleet, sites = store.open_breakers(connection)
    sent = store.recovery_commands(connection, now - rules.STORM)
    yield plain("recovery_enabled", config["CRASH_RECOVERY_ENABLED"])
    yield by_word("recovery_commands_last_30m", "action", rules.words_of(CommandAction), sent)
    yield by_word("breakers_open", "scope", ("fleet", "site"), {"fleet": fleet, "site": sites})
    yield by_word("incidents_open", "kind", rules.words_of(IncidentKind), store.open_incidents(connection))


def _conversions(connection: Connection, now: datetime, config: Config) -> Iterator[Gauge]:
    lease = timeouts(timedelta(seconds=config["CONVERSION_DEADLINE_SECONDS"])).lease
    rows = {row.status: row for row in store.conversions_by_status(connection, now - lease)}
    counts = {status: row.count for status, row in rows.items()}
    over = sum(row.leases_over for row in rows.values())
    running = counts.get(ConversionStatus.PROCESSING, 0) - over
    oldest = {status: age_seconds(now, row.oldest) for status, row in rows.items()}
    yield by_word("conversions", "status", rules.words_of(ConversionStatus), counts)
    yield by_word("conversions_oldest_seconds", "status", UNDER_WAY, oldest)
    yield by_word("conversion_leases", "lease", ("running", "over"), {"running": running, "over": over})


def _messages(connection: Connection, now: datetime) -> Iterator[Gauge]:
    rows = {row.state: row for row in store.deliveries(connection, now - rules.A_DAY)}
    pending = rows.get(DeliveryState.PENDING)
    due = age_seconds(now, pending.oldest_due, never=0) if pending else 0
    counts = {state: row.count for state, row in rows.items()}
    since = now - rules.RECENTLY
    letters = store.dead_letters_by_reason(connection, since)
    yield by_word("dead_letters_last_15m", "reason", rules.words_of(DeadLetterReason), letters)
    yield by_word("notifications_last_day", "state", rules.words_of(DeliveryState), counts)
    yield plain("notifications_overdue_seconds", due)
    yield plain("notification_channels_failing", store.failing_channels(connection))
    yield plain("sign_in_failures_last_15m", store.sign_in_failures(connection, since))


def _tick(connection: Connection, now: datetime) -> Iterator[Gauge]:
    last = overview_store.scheduler(connection)
    yield plain("tick_age_seconds", age_seconds(now, last.last_tick_at))
    yield plain("tick_duration_seconds", (last.duration_ms or 0) / 1000)
    yield plain("tick_period_seconds", TICK.total_seconds())
    yield plain("tick_failed_steps", len(last.did.get("failed", ())))


def _listening(connection: Connection, now: datetime) -> Iterator[Gauge]:
    status = leadership_store.bridge_status(connection)
    is_silent = leadership_rules.is_bridge_silent(status, now)
    yield plain("listening", not is_silent)
    yield plain("canary_age_seconds", age_seconds(now, status.canary_at))
    yield plain("last_commit_age_seconds", age_seconds(now, status.last_commit_at))
    opened, most, memory_bytes = store.broker_files(connection)
    yield plain("broker_open_files", opened)
    yield plain("broker_open_files_limit", most)
    yield plain("broker_memory_bytes", memory_bytes)
    yield plain("broker_crashes_last_day", store.broker_crashes_since(connection, now - rules.A_DAY))
    yield from rules.certificates(now, store.certificates(connection, now - leadership_rules.CERTIFICATE_KNOWN_FOR))


def _room(connection: Connection, media_root: Path) -> Iterator[Gauge]:
    """The gauges of database and volume. A missing volume has no sample, so that an alert can use `absent`."""
    yield plain("database_size_bytes", store.database_size(connection))
    try:
        volume = os.statvfs(media_root)
    except OSError:
        return
    yield plain("media_volume_size_bytes", volume.f_blocks * volume.f_frsize)
    yield plain("media_volume_free_bytes", volume.f_bavail * volume.f_frsize)
