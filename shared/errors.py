"""Errors of the product, as domain words without HTTP.

The docstring of a class is its usual sentence, written for the person who reads it; `says` holds others, each by its
code. Facts stand in them in braces. `code` is the snake_case word that scripts match; `functions/problems.py` turns
each error into one problem document. The page words the sentences in other languages: `dashboard/lib/words/`.

`nosec B105`: bandit takes a sentence for a password where its code has that word.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

from shared.sentences import Phrased, Phrases, plain

REFUSALS: Final = Phrases()
"""Every sentence of every error that a person may read: of `says`, and of a docstring by the class's name."""


class ServiceError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "service_error"
    says: ClassVar[Mapping[str, str]] = {}
    """Code of a sentence -> its English. A subclass may use those of the classes above it."""
    is_for_people: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        """Add the class's sentences to REFUSALS."""
        super().__init_subclass__(**options)
        own = {usual_code(cls): _usual(cls), **vars(cls).get("says", {})} if cls.is_for_people else {}
        for code, english in own.items():
            REFUSALS.template(code, english)

    def __init__(
        self, said: str | Phrased | None = None, *, facts: Mapping[str, Any] | None = None, **extras: Any
    ) -> None:
        """`said`: the code of a sentence of `says`; None: the usual one. `facts`: JSON values that it names.

        `extras` are the typed fields that the problem document carries beside the detail; the sentence may name them
        too.
        """
        if not isinstance(said, Phrased):
            said = REFUSALS.said(said or usual_code(type(self)), {**extras, **(facts or {})})
        self.sentence = said
        self.detail = said.english
        self.extras = extras
        self.actor: str | None = None
        """The owner of a proof of identity that is known but no longer accepted. Only for the logs."""
        super().__init__(self.detail)

    def of(self, actor: str) -> Self:
        """This error, with the name of its actor."""
        self.actor = actor
        return self


class ForOperators(ServiceError):
    """An error in the operator's log, or in the answer to another program: its text is English, without a code."""

    is_for_people = False

    def __init__(self, detail: str | None = None, **extras: Any) -> None:
        """`detail` None: the docstring."""
        super().__init__(plain(detail or _usual(type(self))), **extras)


def usual_code(error: type[ServiceError]) -> str:
    """The code of the usual sentence: `ClientNotFound` -> `client_not_found`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", error.__name__).lower()


def _usual(error: type[ServiceError]) -> str:
    return " ".join((error.__doc__ or "").split())


class ConfigurationError(ForOperators):
    """The configuration is not usable."""

    code = "configuration_error"


class AuthorityUnreadable(ServiceError):
    """DISPLAYS_CA_FILE cannot be read ({error})."""

    code = "configuration_error"


class InvalidIdentity(ServiceError):
    """The caller's proof of identity was not accepted."""

    code = "unauthenticated"
    says: ClassVar = {
        "sign_in_or_send_token": "Sign in, or send an API token as Authorization: Bearer.",  # nosec B105
        "only_bearer": "Only Authorization: Bearer with an API token is accepted.",
        "name_or_password_wrong": "Name or password is wrong.",  # nosec B105
        "rights_changed": "Your rights have changed; sign in again.",
        "no_admin_any_more": "You are no admin any more; sign in again.",
        "display_or_password_wrong": "The display or its password is wrong.",  # nosec B105
        "display_login_missing": "Send the display's uuid and password as Authorization: Basic.",
    }


class Forbidden(ServiceError):
    """Your role does not allow this."""

    code = "forbidden"
    says: ClassVar = {
        "role_needed": "This needs the role {needed}; yours is {role}.",
    }


class SiteNotAllowed(Forbidden):
    """Your rights are for some sites only; this reaches beyond them."""

    code = "site_not_allowed"


class PersonUnknown(Forbidden):
    """Your e-mail address is not known to this service yet; ask an admin to add you by that address."""

    code = "person_unknown"
    says: ClassVar = {
        "email_unknown": "{email} may not use this service yet; ask an admin to add you by that address.",
    }


class NoRoleAtProvider(Forbidden):
    """The sign-in service knows you, but gives you no role here; ask those who manage it."""

    code = "no_role_at_provider"


class GroupsLeftOut(Forbidden):
    """Your groups are too many for the sign-in service to send; those who manage it can send app roles instead."""

    code = "groups_left_out"


class NoSiteAtProvider(Forbidden):
    """The sign-in service gives you a role here, but no site; ask those who manage it."""

    code = "no_site_at_provider"
    says: ClassVar = {
        "too_many_sites_at_provider": "The sign-in service gives you {sites} sites; {most} are possible here.",
    }


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
    says: ClassVar = {
        "origin_of_another_site": "The Origin header does not name this service.",
        "request_of_another_site": "The browser says that this request comes from another site.",
    }


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
    says: ClassVar = {
        "password_changed_lately": "A display changes its password once a minute at most.",  # nosec B105
    }


class TooManyRequests(ServiceError):
    """Too many requests at once; try again in a moment."""

    code = "too_many_requests"


class Busy(ServiceError):
    """Too many other requests are under way; try again in a moment."""

    code = "busy"


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
    says: ClassVar = {
        "event_media_file_missing": "The file is recorded but not on the media volume.",
    }


class ConversionNotFound(NotFound):
    """This medium has no conversion."""

    code = "conversion_not_found"
    says: ClassVar = {
        "converted_path_unknown": "There is no converted file at this path.",
        "converted_file_missing": "The PDF is recorded but not on the media volume; ask for the conversion again.",
    }


class ThumbnailNotFound(NotFound):
    """This medium has no picture of its first page: it is no presentation, or its conversion has made none yet."""

    code = "thumbnail_not_found"


class TokenNotFound(NotFound):
    """There is no API token with this id."""

    code = "token_not_found"


class SiteNotFound(NotFound):
    """No display is at this site, and nothing else bears its name."""

    code = "site_not_found"


class StatusLinkNotFound(NotFound):
    """There is no link to a status page with this id."""

    code = "status_link_not_found"


class StatusLinkInvalid(NotFound):
    """This link is not valid."""

    code = "status_link_invalid"


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


class AlreadyTaken(StateConflict):
    """{name} is on it already."""

    code = "already_taken"


class NothingToTake(StateConflict):
    """It is over: there is nothing to look after."""

    code = "nothing_to_take"


class FailureChanged(ServiceError):
    """The display has failed again since this page was loaded; look at the new failure first."""

    code = "failure_changed"


class Refused(ServiceError):
    """The request is well-formed but a rule refuses it."""

    code = "refused"
    says: ClassVar = {
        "signed_in_at_provider": "You signed in at the sign-in service; password and second factor are there.",
        "signed_in_by_proxy": (
            "You are signed in by the proxy in front of this service; passwords and sign-out are there."
        ),
        "for_people_only": "This is for people who signed in; an API token is ended by DELETE /api/tokens/<id>.",
        "password_changed_elsewhere": "The password was changed elsewhere in the meantime; sign in again.",  # nosec B105
        "signing_key_missing": "A second factor needs the setting SIGNING_KEY, which is not set here.",
        "filter_unknown": "This version does not know a filter by {names}.",
        "ttl_out_of_range": "ttl_seconds must be {least} to {most}.",
        "too_many_opening_hours": "Opening hours have at most {most} times.",
        "opening_hours_need_days": "Each time of opening hours names its days, each of them once.",
        "opening_hours_are_times": "Opening hours are times such as 08:00; the end may be 24:00.",
        "opening_hours_have_length": (
            "Opening hours end at another time than they begin; a whole day is 00:00 to 24:00."
        ),
    }


class ScreenshotsOff(Forbidden):
    """Nobody may see the screens of this site: an admin can change that."""

    code = "screenshots_off"


class NotCapable(Refused):
    """This display says that it cannot do this."""

    code = "not_capable"


class ScheduleTimesRefused(Refused):
    """A schedule cannot have these times."""

    code = "schedule_times_refused"
    says: ClassVar = {
        "schedule_once_or_weekly": "A schedule is either once, with `at`, or weekly, with `weekdays`.",
        "schedule_local_time": "local_time must be a time of the day such as 03:00.",
        "schedule_until_too_far": "until must be within five years.",
        "schedule_has_no_time": "No time is left until the last date.",
        "schedule_once_takes_no_weekly": "local_time and until go with weekdays, not with `at`.",
        "schedule_at_in_future": "at must be in the future, within five years.",
        "schedule_stays_as_it_is": "A schedule stays once or weekly: cancel it, and make another one.",
    }


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
    says: ClassVar = {
        "presentation_damaged": "The presentation is damaged.",
        "presentation_packed_oddly": "The presentation is packed in a way that its format does not allow.",
        "presentation_has_doctype": "The presentation holds a document type definition.",
    }


class Encrypted(Refused):
    """The presentation is protected by a password; save it without one and upload it again."""

    code = "encrypted"


class TooLargeUnpacked(Refused):
    """The presentation is too large once unpacked."""

    code = "too_large_unpacked"
    says: ClassVar = {
        "presentation_has_too_many_parts": "The presentation has more than {most} parts.",
        "presentation_too_large": "Unpacked, the presentation has more than {gibibytes} GiB.",
        "presentation_part_too_large": "Unpacked, one part of the presentation has more than {mebibytes} MiB.",
        "presentation_too_deep": (
            "The presentation nests elements deeper than {most} levels, or has more than {millions} million of them."
        ),
        "presentation_picture_too_large": "One picture of the presentation has more than {megapixels} megapixels.",
        "picture_has_too_many_pixels": "The picture has more than {megapixels} megapixels.",
    }


class NameNotAccepted(Refused):
    """A file needs a name that people can read."""

    code = "name_not_accepted"


class NoSlides(Refused):
    """The presentation has no slides."""

    code = "no_slides"
    says: ClassVar = {
        "every_slide_hidden": "Every slide of this presentation is hidden.",
    }


class UnsupportedMediaType(ServiceError):
    """Files of this type are not accepted."""

    code = "unsupported_media_type"
    says: ClassVar = {
        "body_must_be_json": "The body must be JSON, sent as Content-Type: application/json.",
        "body_must_be_form": "The body must be multipart/form-data with the file in the field `file`.",
        "body_must_be_picture": "A picture is sent as Content-Type: {content_type}.",
        "body_must_be_part": "Parts of an upload are sent as Content-Type: {content_type}.",
        "export_keynote": "Export the Keynote file as PowerPoint and upload that.",
        "accepted_names": "Accepted are files named {accepted}.",
        "content_is_another": "The file's name says {kind}, but its content does not.",
        "pdf_without_end": "The PDF has no end: it is cut off, or not a PDF.",
        "picture_without_size": "The picture has no size: it is cut off, or not a picture.",
        "jpeg_incomplete": "The body is not a complete JPEG.",
    }


class UploadTooLarge(ServiceError):
    """The file is larger than an upload may be."""

    code = "too_large"
    says: ClassVar = {
        "file_too_large": "A file may have {limit_bytes:,} bytes at most.",
        "screenshot_too_large": "A picture may have {limit_bytes:,} bytes at most.",
    }


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
    says: ClassVar = {
        "upload_part_lost": "The media volume has lost a part of this upload; send the file anew.",
    }


class TaskQueueUnavailable(ServiceError):
    """The task queue cannot be reached."""

    code = "task_queue_unavailable"


class BrokerUnavailable(ServiceError):
    """The MQTT broker cannot be reached."""

    code = "broker_unavailable"
    says: ClassVar = {
        "broker_busy": "Other messages kept the connection to the broker busy.",
        "broker_unreachable": "The MQTT broker cannot be reached ({error}).",
        "broker_silent": "The MQTT broker did not answer the connection.",
        "broker_refused_connection": "The MQTT broker refused the connection (reason code 0x{reason:02x}).",
        "broker_without_qos": "The MQTT broker takes QoS 0 only.",
        "no_time_to_publish": "No time was left to publish.",
        "broker_refused_message": "The MQTT broker refused the message (reason code 0x{reason:02x}).",
    }


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
    says: ClassVar = {
        "password_length": "A password has {shortest} to {longest} characters.",  # nosec B105
        "password_as_before": "The new password is the same as the present one.",  # nosec B105
        "password_guessed": (  # nosec B105
            "That password is among the first that somebody would try: it is little more than frequent words, your own"
            " name, years, repetitions or neighbours on the keyboard. Add words of your own."
        ),
        "password_leaked": "This password is in a list of leaked passwords, which attackers try first.",  # nosec B105
    }


class UserNotFound(NotFound):
    """There is no person with this id."""

    code = "user_not_found"


class UsernameTaken(StateConflict):
    """This name is taken already, perhaps with other capitals."""

    code = "username_taken"


class SiteExists(StateConflict):
    """There is a site of this name. Say that both shall become one, or choose another name."""

    code = "site_exists"


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
    says: ClassVar = {
        "quiet_start_too_far": "starts_at must be within five years.",
        "quiet_hours_need_zone": "hours and time_zone go together.",
        "quiet_end_before_start": "ends_at must be after starts_at.",
        "quiet_end_in_past": "ends_at must be in the future.",
        "quiet_end_too_far": "ends_at must be within five years.",
        "quiet_too_long": "A {preset} lasts {days} days at most.",
        "quiet_only_of_custom": "quiet goes with the preset custom, and with no other one.",
        "quiet_needs_reason": "A {preset} needs a reason.",
        "opening_hours_of_many": "opening_hours are of the fleet, a site or a tag.",
        "quiet_needs_end": "A {preset} needs ends_at, so that a forgotten one ends by itself.",
        "leave_out_has_no_end": "leave_out has no ends_at: it lasts until somebody ends it; a hold may have one.",
        "quiet_takes_no_hours": "A {preset} takes no hours.",
        "opening_hours_need_hours": "opening_hours need hours.",
        "quiet_clock": "{text!r} is no time of the day such as 09:30.",
        "quiet_hours_need_days": "Each of the hours needs a day of the week.",
        "quiet_hours_length": "Weekly hours end after they begin, within {days} days.",
        "quiet_has_begun": "starts_at cannot change: it has begun.",
    }


class QuietTimeOver(StateConflict):
    """The quiet time is over, or somebody ended it; make another one."""

    code = "quiet_time_over"


class OpeningHoursExist(StateConflict):
    """There are opening hours for these displays already; change those. `quiet_time_id` names them."""

    code = "opening_hours_exist"


class TimeZoneUnknown(Refused):
    """There is no such time zone."""

    code = "time_zone_unknown"
    says: ClassVar = {
        "zone_unknown": "There is no time zone {name!r}; name one such as Europe/Rome.",
    }


class ClientsUnknown(Refused):
    """Some of these clients do not exist; `uuids` names them."""

    code = "clients_unknown"
    says: ClassVar = {
        "some_clients_unknown": "{count} of these clients do not exist.",
    }


class ChannelNotFound(NotFound):
    """There is no notification channel with this id."""

    code = "channel_not_found"


class ChannelNameTaken(StateConflict):
    """Another notification channel has this name."""

    code = "channel_name_taken"


class ChannelAddressRefused(Refused):
    """A notification channel cannot have this address."""

    code = "channel_address_refused"
    says: ClassVar = {
        "apprise_refused": "Apprise does not understand this address, or it does not lead to people.",
        "webhook_address": "A webhook's address is http:// or https:// with a host.",
        "apprise_address": "An address of Apprise begins with its service, such as mailto:// or slack://.",
    }


class ChannelRefused(Refused):
    """These settings do not fit a notification channel."""

    code = "channel_refused"
    says: ClassVar = {
        "channel_hours_need_weekday": "Its hours need a weekday.",
        "only_webhooks_signed": "Only messages to a webhook are signed.",
        "signing_secret_short": "The secret that signs must have {shortest} characters or more.",  # nosec B105
    }


class SecondFactorUnknown(NotFound):
    """There is no second factor."""

    code = "second_factor_unknown"


class SecondFactorStands(StateConflict):
    """There is a second factor already; remove it first."""

    code = "second_factor_stands"


class SessionNotFound(NotFound):
    """None of your sessions has this id, or it has ended."""

    code = "session_not_found"
