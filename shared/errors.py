"""Errors of the product, as domain words without HTTP.

The docstring of a class is its default message, written for the person who reads it. `code` is the
snake_case word that scripts match; `functions/problems.py` turns each into one problem document.
"""

from typing import Any, ClassVar, Self


class ServiceError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "service_error"

    def __init__(self, detail: str | None = None, **extras: Any) -> None:
        """`extras` are the typed fields that the problem document carries beside the detail."""
        self.detail = detail or " ".join((self.__doc__ or "").split())
        self.extras = extras
        self.actor: str | None = None
        """The owner of a proof of identity that is known but no longer accepted. Only for the logs."""
        super().__init__(self.detail)

    def of(self, actor: str) -> Self:
        """This error, with the name of its actor."""
        self.actor = actor
        return self


class ConfigurationError(ServiceError):
    """The configuration is not usable."""

    code = "configuration_error"


class InvalidIdentity(ServiceError):
    """The caller's proof of identity was not accepted."""

    code = "unauthenticated"


class Forbidden(ServiceError):
    """Your role does not allow this."""

    code = "forbidden"


class SiteNotAllowed(Forbidden):
    """Your rights are for some sites only; this reaches beyond them."""

    code = "site_not_allowed"


class PersonUnknown(Forbidden):
    """Your e-mail address is not known to this service yet; ask an admin to add you by that address."""

    code = "person_unknown"


class NoRoleAtProvider(Forbidden):
    """The sign-in service knows you, but gives you no role here; ask those who manage it."""

    code = "no_role_at_provider"


class NoSiteAtProvider(Forbidden):
    """The sign-in service gives you a role here, but no site; ask those who manage it."""

    code = "no_site_at_provider"


class DeniedByProvider(Forbidden):
    """The sign-in service did not let you in."""

    code = "denied_by_provider"


class TryOver(Forbidden):
    """This sign-in began in another browser or too long ago, or it is done already; sign in again."""

    code = "try_over"


class PersonDisabled(Forbidden):
    """Your account here is disabled; ask an admin."""

    code = "person_disabled"


class CrossSiteRequest(Forbidden):
    """A change by session cookie must carry the header X-Requested-With: signage and come from our own pages."""

    code = "cross_site_request"


class PasswordChangeRequired(Forbidden):
    """Set a new password before anything else: POST /api/users/me/password."""

    code = "password_change_required"


class SecondFactorRequired(InvalidIdentity):
    """The password is right; send `code` too: the six digits of your app, or a recovery code."""

    code = "second_factor_required"


class SecondFactorWrong(InvalidIdentity):
    """The code is wrong, was used already, or is not the present one."""

    code = "second_factor_wrong"


class SecondFactorSetupRequired(Forbidden):
    """Set up a second factor before you go on."""

    code = "second_factor_setup_required"


class TooManyAttempts(ServiceError):
    """Too many failed attempts; wait before the next one."""

    code = "too_many_attempts"


class TooManyUploads(ServiceError):
    """Other uploads are running; try again in a moment."""

    code = "too_many_uploads"


class NotFound(ServiceError):
    """There is nothing with this id."""

    code = "not_found"


class NoProvider(NotFound):
    """People sign in with a password here; no sign-in service is set up (SSO_ISSUER)."""

    code = "no_provider"


class ClientNotFound(NotFound):
    """There is no client with this uuid."""

    code = "client_not_found"


class CommandNotFound(NotFound):
    """There is no command with this id."""

    code = "command_not_found"


class CommandBatchNotFound(NotFound):
    """There is no batch of commands with this id."""

    code = "command_batch_not_found"


class ScreenshotNotFound(NotFound):
    """There is no picture with this id."""

    code = "screenshot_not_found"


class EventMediaNotFound(NotFound):
    """There is no event media with this id."""

    code = "event_media_not_found"


class ConversionNotFound(NotFound):
    """This medium has no conversion."""

    code = "conversion_not_found"


class ThumbnailNotFound(NotFound):
    """This medium has no picture of its first page: it is no presentation, or its conversion has made none yet."""

    code = "thumbnail_not_found"


class TokenNotFound(NotFound):
    """There is no API token with this id."""

    code = "token_not_found"


class IncidentNotFound(NotFound):
    """There is no incident with this id."""

    code = "incident_not_found"


class ScheduleNotFound(NotFound):
    """There is no schedule with this id."""

    code = "schedule_not_found"


class QuietTimeNotFound(NotFound):
    """There is no quiet time with this id."""

    code = "quiet_time_not_found"


class StateConflict(ServiceError):
    """The state does not allow this now."""

    code = "state_conflict"


class ScreenshotNotWanted(StateConflict):
    """Nobody waits for this picture: it was not asked for, or that is over, or no failure is known."""

    code = "screenshot_not_wanted"


class CommandInFlight(StateConflict):
    """The client already has an open command; wait for it to end or cancel it."""

    code = "command_in_flight"


class CommandLockedOut(StateConflict):
    """A restart or reboot was sent to this client lately; it is locked until it has had time to come back."""

    code = "locked_out"


class CommandNotCancellable(StateConflict):
    """The command may already have reached the display, so it can no longer be cancelled."""

    code = "not_cancellable"


class ScheduleOver(StateConflict):
    """The schedule is over: it has no next time. `batch_id` names the batch of its last time."""

    code = "schedule_over"


class CommandBatchOver(StateConflict):
    """The batch is over; it can no longer be paused, resumed or aborted."""

    code = "command_batch_over"


class ClientNotListening(StateConflict):
    """This display is not connected, so it did not get the message; try again when it is online."""

    code = "client_not_listening"


class FailureChanged(ServiceError):
    """The display has failed again since this page was loaded; look at the new failure first."""

    code = "failure_changed"


class Refused(ServiceError):
    """The request is well-formed but a rule refuses it."""

    code = "refused"


class ScreenshotsOff(Forbidden):
    """Nobody may see the screens of this site: an admin can change that."""

    code = "screenshots_off"


class NotCapable(Refused):
    """This display says that it cannot do this."""

    code = "not_capable"


class ScheduleTimesRefused(Refused):
    """A schedule cannot have these times."""

    code = "schedule_times_refused"


class TooManySchedules(Refused):
    """So many schedules have a next time that no other one is taken; cancel some first."""

    code = "too_many_schedules"


class InvalidWaves(Refused):
    """Waves are up to 20 numbers or shares such as 10%, with `rest` at the end; the limit is a number or a share."""

    code = "invalid_waves"


class NoClients(Refused):
    """No client matches, so there is nothing to send."""

    code = "no_clients"


class TooManyClients(Refused):
    """A batch has at most 10,000 clients; narrow the filter."""

    code = "too_many_clients"


class IdempotencyKeyReused(Refused):
    """This Idempotency-Key was used before with another request."""

    code = "idempotency_key_reused"


class NotConvertible(Refused):
    """Only presentations can be converted to PDF."""

    code = "not_convertible"


class NotAPresentation(Refused):
    """The file's content is not a presentation of the kind its name says."""

    code = "not_a_presentation"


class Encrypted(Refused):
    """The presentation is protected by a password; save it without one and upload it again."""

    code = "encrypted"


class TooLargeUnpacked(Refused):
    """The presentation is too large once unpacked."""

    code = "too_large_unpacked"


class NameNotAccepted(Refused):
    """A file needs a name that people can read."""

    code = "name_not_accepted"


class NoSlides(Refused):
    """The presentation has no slides."""

    code = "no_slides"


class UnsupportedMediaType(ServiceError):
    """Files of this type are not accepted."""

    code = "unsupported_media_type"


class UploadTooLarge(ServiceError):
    """The file is larger than an upload may be."""

    code = "too_large"


class UploadNotFound(NotFound):
    """There is no such upload: it was ended, or it was not finished within a day."""

    code = "upload_not_found"


class UploadOffsetConflict(StateConflict):
    """The upload continues at another byte; `upload_offset` says at which."""

    code = "upload_offset_conflict"


class UploadLocked(ServiceError):
    """The upload is being joined to one file, or another request writes it; ask for its offset and continue there."""

    code = "upload_locked"


class VolumeFull(ServiceError):
    """The media volume is full or not writable; nothing was stored."""

    code = "volume_unavailable"


class TaskQueueUnavailable(ServiceError):
    """The task queue cannot be reached."""

    code = "task_queue_unavailable"


class BrokerUnavailable(ServiceError):
    """The MQTT broker cannot be reached."""

    code = "broker_unavailable"


class ProviderUnavailable(ServiceError):
    """The sign-in service does not answer as it should at the moment; try again, or sign in with a password."""

    code = "provider_unavailable"


class PublishUnanswered(BrokerUnavailable):
    """The MQTT broker did not answer this message; it may still be delivered."""


class EnrolmentCodeInvalid(Refused):
    """This enrolment code is not valid, was used before, or has expired; ask for a new one."""

    code = "enrolment_code_invalid"


class ClientDeleted(StateConflict):
    """This client was deleted; its uuid is not used again."""

    code = "client_deleted"


class PasswordNotAccepted(Refused):
    """The new password is too short, easily guessed, or the same as before."""

    code = "password_not_accepted"


class UserNotFound(NotFound):
    """There is no person with this id."""

    code = "user_not_found"


class UsernameTaken(StateConflict):
    """This name is taken already, perhaps with other capitals."""

    code = "username_taken"


class LastAdmin(StateConflict):
    """This is the last admin who can sign in; another admin must set a password of their own first."""

    code = "last_admin"


class AnotherUsername(StateConflict):
    """The account has another username than the one in the body; nothing was changed."""

    code = "another_username"


class OwnAccount(StateConflict):
    """Another admin has to do this to your account."""

    code = "own_account"


class ExpiryInThePast(Refused):
    """The time at which this would expire has passed already."""

    code = "expiry_in_the_past"


class ExpiryTooFar(Refused):
    """A token lives at most ten years; leave the time out for one that does not expire."""

    code = "expiry_too_far"


class QuietTimesRefused(Refused):
    """A quiet time cannot have these times, or not this reason or choice."""

    code = "quiet_times_refused"


class QuietTimeOver(StateConflict):
    """The quiet time is over, or somebody ended it; make another one."""

    code = "quiet_time_over"


class OpeningHoursExist(StateConflict):
    """There are opening hours for these displays already; change those. `quiet_time_id` names them."""

    code = "opening_hours_exist"


class TimeZoneUnknown(Refused):
    """There is no such time zone."""

    code = "time_zone_unknown"


class ClientsUnknown(Refused):
    """Some of these clients do not exist; `uuids` names them."""

    code = "clients_unknown"


class ChannelNotFound(NotFound):
    """There is no notification channel with this id."""

    code = "channel_not_found"


class ChannelNameTaken(StateConflict):
    """Another notification channel has this name."""

    code = "channel_name_taken"


class ChannelAddressRefused(Refused):
    """A notification channel cannot have this address."""

    code = "channel_address_refused"


class ChannelRefused(Refused):
    """These settings do not fit a notification channel."""

    code = "channel_refused"


class SecondFactorUnknown(NotFound):
    """There is no second factor."""

    code = "second_factor_unknown"


class SecondFactorStands(StateConflict):
    """There is a second factor already; remove it first."""

    code = "second_factor_stands"


class SessionNotFound(NotFound):
    """None of your sessions has this id, or it has ended."""

    code = "session_not_found"
