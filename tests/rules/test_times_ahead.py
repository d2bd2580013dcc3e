"""Every time that is stored: what becomes of it when the database's clock is set back."""

from typing import Final

import sqlalchemy as sa

from shared.postgres.set_back import never_ahead
from shared.tables import metadata

MENDED: Final = {
    "scheduler_status.last_tick_at": "the last step of the mending: until then the next tick repeats it",
    "client_commands": "expires_at, publish_lease_until, next_publish_at, lockout_before, result_deadline",
    "clients.lockout_until": "no longer than a lockout from now",
    "command_schedules.next_at": "the next time is reckoned again",
    "command_schedule_runs.due_at": "a time that comes again and had no batch is due again",
    "uploads": "writer_until, expires_at: no longer than a turn or an upload of now",
}
"""Deadlines and cursors that their own stores mend."""
LEFT: Final = {
    "somebody gave this end or begin, or it was given for so long": (
        *("api_tokens.expires_at", "enrolment_codes.expires_at", "user_sessions.expires_at", "users.one_time_until"),
        *("quiet_times.starts_at", "quiet_times.ends_at", "command_schedules.at"),
        *(
            "door_certificates.begins_at",
            "door_certificates.ends_at",
            "client_health.certificate_ends_at",
            "command_batch_members.lockout_until",
        ),
    ),
    "only whether it is set counts, or people and what is kept for long read it": (
        *("api_tokens.revoked_at", "api_tokens.last_used_at"),
        *("users.disabled_at", "users.last_sign_in_at"),
        *("user_sessions.created_at", "user_sessions.revoked_at", "provider_identities.created_at"),
        *("enrolment_codes.created_at", "enrolment_codes.used_at", "second_factors.begun_at"),
        *("second_factors.confirmed_at", "display_logins.created_at", "display_logins.revoked_at"),
        *("status_links.created_at", "status_links.ended_at", "status_links.last_used_at", "provider_tries.used_at"),
        *(
            "clients.created_at",
            "clients.deleted_at",
            "clients.mqtt_last_disconnect_at",
            "client_installs.first_seen_at",
        ),
        *("command_batches.created_at", "command_batches.finished_at", "command_batch_members.decided_at"),
        *("command_schedules.created_at", "command_schedules.cancelled_at", "quiet_times.created_at"),
        *("quiet_times.ended_at", "event_media.uploaded_at", "event_media.deleted_at", "conversions.created_at"),
        *("conversions.requested_at", "conversions.started_at", "conversions.finished_at", "uploads.created_at"),
        *("notification_channels.created_at", "notification_channels.changed_at", "expectations.set_at"),
        "screenshots_off.since",
        *("notification_channels.last_delivered_at", "notification_channels.last_failed_at", "client_hours.set_at"),
        *("notification_deliveries.finished_at", "broker_crashes.noticed_at", "broker_files_seen.at"),
        *("screenshots.failure_at", "screenshots.taken_at", "screenshots.stored_at"),
    ),
    "what its bearer plans before that time comes again is missed, and says so": (
        *("users.created_at", "api_tokens.created_at"),
    ),
    "history tells what was written at that time": (
        *("audit_log.at", "client_health_history.at", "client_log_hours.hour", "client_log_hours.last_error_at"),
        *("client_logs.client_time", "client_logs.received_at", "client_losses.at", "client_losses.since"),
        *("client_screen_changes.at", "client_state_changes.at", "client_state_changes.noticed_at"),
        *("incident_events.at", "incident_members.joined_at", "service_failure_events.at", "recovery_events.at"),
        *("dead_letters.first_at", "dead_letters.last_at"),
    ),
    "the next one replaces it within minutes": (
        *("client_health.received_at", "client_health.previous_at", "door_certificates.seen_at"),
        "scheduler_status.incidents_at",
    ),
    "the rule that reads it counts a time ahead as none": (
        *("bridge_status.connected_since", "bridge_status.last_commit_at", "bridge_status.canary_at"),
        *("display_logins.rotated_at", "log_gaps.looked_at"),
    ),
    "lasts longer by what the clock went back, and nobody is kept out": (
        *("user_sessions.last_seen_at", "sign_in_addresses.last_at"),
        *("log_marks.updated_at", "log_marks.over_at", "log_marks.doubted_at"),
    ),
}
"""Why -> the columns, or tables, that stay as they are."""


def test_of_every_time_somebody_decided_what_a_clock_set_back_does_to_it() -> None:
    times = {
        (table.name, column.name)
        for table in metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, sa.DateTime)
    }
    past = {(table.name, name) for table in metadata.sorted_tables for name in never_ahead(table)}
    named = {*MENDED, *(name for names in LEFT.values() for name in names)}

    def is_named(table: str, column: str) -> bool:
        return table in named or f"{table}.{column}" in named

    assert {at for at in times - past if not is_named(*at)} == set()
    assert {name for name in named if "." in name} <= {f"{table}.{column}" for table, column in times - past}
