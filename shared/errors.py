"""Errors of the product, as domain words without HTTP.

An error says a sentence: usually that of its class, `ClientNotFound` that of the code `client_not_found`; `says` holds
others, each with the types of its facts. The words stand in `shared/words/<language>/refusals.ftl`. `code` is the
snake_case word that scripts match; `functions/problems.py` turns each error into one problem document.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from shared.vocabulary import QuietPreset, Role
from shared.words.facts import By
from shared.words.reader import english
from shared.words.sentences import DECLARED, Sentence, as_given, declare


class ServiceError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "service_error"
    says: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Code of a sentence -> name and type of each of its facts. A subclass may use those of the classes above it."""
    is_for_people: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        """Declare the class's sentences."""
        super().__init_subclass__(**options)
        if cls.is_for_people:
            for code, facts in {usual_code(cls): {}, **vars(cls).get("says", {})}.items():
                declare(code, facts)

    def __init__(
        self, said: str | Sentence | None = None, *, facts: Mapping[str, Any] | None = None, **extras: Any
    ) -> None:
        """`said`: the code of a sentence of `says`; None: the usual one. `facts`: JSON values that it names.

        `extras` are the typed fields that the problem document carries beside the detail; the sentence may name them
        too.
        """
        self.sentence = said if isinstance(said, Sentence) else _sentence(said or usual_code(type(self)), extras, facts)
        self.extras = extras
        self.actor: str | None = None
        """The owner of a proof of identity that is known but no longer accepted. Only for the logs."""
        super().__init__()

    def __str__(self) -> str:
        return self.detail

    @property
    def detail(self) -> str:
        """The sentence in English, for logs."""
        return english(self.sentence)

    def of(self, actor: str) -> Self:
        """This error, with the name of its actor."""
        self.actor = actor
        return self


class ForOperators(ServiceError):
    """An error in the operator's log, or in the answer to another program: its text is English, without a code."""

    is_for_people = False

    def __init__(self, detail: str | None = None, **extras: Any) -> None:
        """`detail` None: the docstring."""
        super().__init__(as_given(text=detail or " ".join((self.__doc__ or "").split())), **extras)


def usual_code(error: type[ServiceError]) -> str:
    """The code of the usual sentence: `ClientNotFound` -> `client_not_found`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", error.__name__).lower()


def _sentence(code: str, extras: Mapping[str, Any], facts: Mapping[str, Any] | None) -> Sentence:
    given = {**extras, **(facts or {})}
    return Sentence(code, {name: given[name] for name in DECLARED[code]})


class ConfigurationError(ForOperators):
    """The configuration is not usable."""

    code = "configuration_error"


class AuthorityUnreadable(ServiceError):
    code = "configuration_error"
    says: ClassVar = {"authority_unreadable": {"error": str}}


class InvalidIdentity(ServiceError):
    code = "unauthenticated"
    says: ClassVar = {
        "sign_in_or_send_token": {},
        "only_bearer": {},
        "name_or_password_wrong": {},
        "rights_changed": {},
        "no_admin_any_more": {},
        "display_or_password_wrong": {},
        "display_login_missing": {},
    }


class Forbidden(ServiceError):
    code = "forbidden"
    says: ClassVar = {"role_needed": {"needed": Role, "role": Role}}


class SiteNotAllowed(Forbidden):
    code = "site_not_allowed"


class PersonUnknown(Forbidden):
    code = "person_unknown"
    says: ClassVar = {"email_unknown": {"email": str}}


class NoRoleAtProvider(Forbidden):
    code = "no_role_at_provider"


class GroupsLeftOut(Forbidden):
    code = "groups_left_out"


class NoSiteAtProvider(Forbidden):
    code = "no_site_at_provider"
    says: ClassVar = {"too_many_sites_at_provider": {"sites": int, "most": int}}


class DeniedByProvider(Forbidden):
    code = "denied_by_provider"


class TryOver(Forbidden):
    code = "try_over"


class PersonDisabled(Forbidden):
    code = "person_disabled"


class CrossSiteRequest(Forbidden):
    code = "cross_site_request"
    says: ClassVar = {
        "origin_of_another_site": {},
        "request_of_another_site": {},
    }


class PasswordChangeRequired(Forbidden):
    code = "password_change_required"


class SecondFactorRequired(InvalidIdentity):
    code = "second_factor_required"


class SecondFactorWrong(InvalidIdentity):
    code = "second_factor_wrong"


class SecondFactorSetupRequired(Forbidden):
    code = "second_factor_setup_required"


class TooManyAttempts(ServiceError):
    code = "too_many_attempts"
    says: ClassVar = {"password_changed_lately": {}}


class TooManyRequests(ServiceError):
    code = "too_many_requests"


class Busy(ServiceError):
    code = "busy"


class TooManyUploads(ServiceError):
    code = "too_many_uploads"


class NotFound(ServiceError):
    code = "not_found"


class NoProvider(NotFound):
    code = "no_provider"


class ClientNotFound(NotFound):
    code = "client_not_found"


class CommandNotFound(NotFound):
    code = "command_not_found"


class CommandBatchNotFound(NotFound):
    code = "command_batch_not_found"


class ScreenshotNotFound(NotFound):
    code = "screenshot_not_found"


class ExpectationNotFound(NotFound):
    code = "expectation_not_found"


class EventMediaNotFound(NotFound):
    code = "event_media_not_found"
    says: ClassVar = {"event_media_file_missing": {}}


class ConversionNotFound(NotFound):
    code = "conversion_not_found"
    says: ClassVar = {
        "converted_path_unknown": {},
        "converted_file_missing": {},
    }


class ThumbnailNotFound(NotFound):
    code = "thumbnail_not_found"


class TokenNotFound(NotFound):
    code = "token_not_found"


class SiteNotFound(NotFound):
    code = "site_not_found"


class StatusLinkNotFound(NotFound):
    code = "status_link_not_found"


class StatusLinkInvalid(NotFound):
    code = "status_link_invalid"


class IncidentNotFound(NotFound):
    code = "incident_not_found"


class ScheduleNotFound(NotFound):
    code = "schedule_not_found"


class QuietTimeNotFound(NotFound):
    code = "quiet_time_not_found"


class StateConflict(ServiceError):
    code = "state_conflict"


class ScreenshotNotWanted(StateConflict):
    code = "screenshot_not_wanted"


class CommandInFlight(StateConflict):
    code = "command_in_flight"


class CommandLockedOut(StateConflict):
    code = "locked_out"


class CommandNotCancellable(StateConflict):
    code = "not_cancellable"


class ScheduleOver(StateConflict):
    code = "schedule_over"


class CommandBatchOver(StateConflict):
    code = "command_batch_over"


class ClientNotListening(StateConflict):
    code = "client_not_listening"


class AlreadyTaken(StateConflict):
    code = "already_taken"
    says: ClassVar = {"already_taken": {"by": By}}


class NothingToTake(StateConflict):
    code = "nothing_to_take"


class FailureChanged(ServiceError):
    code = "failure_changed"


class Refused(ServiceError):
    code = "refused"
    says: ClassVar = {
        "signed_in_at_provider": {},
        "signed_in_by_proxy": {},
        "for_people_only": {},
        "password_changed_elsewhere": {},
        "signing_key_missing": {},
        "filter_unknown": {"names": list[str]},
        "ttl_out_of_range": {"least": int, "most": int},
        "too_many_opening_hours": {"most": int},
        "opening_hours_need_days": {},
        "opening_hours_are_times": {},
        "opening_hours_have_length": {},
    }


class ScreenshotsOff(Forbidden):
    code = "screenshots_off"


class NotCapable(Refused):
    code = "not_capable"


class ScheduleTimesRefused(Refused):
    code = "schedule_times_refused"
    says: ClassVar = {
        "schedule_once_or_weekly": {},
        "schedule_local_time": {},
        "schedule_until_too_far": {},
        "schedule_has_no_time": {},
        "schedule_once_takes_no_weekly": {},
        "schedule_at_in_future": {},
        "schedule_stays_as_it_is": {},
    }


class TooManySchedules(Refused):
    code = "too_many_schedules"


class InvalidWaves(Refused):
    code = "invalid_waves"


class NoClients(Refused):
    code = "no_clients"


class TooManyClients(Refused):
    code = "too_many_clients"


class IdempotencyKeyReused(Refused):
    code = "idempotency_key_reused"


class NotConvertible(Refused):
    code = "not_convertible"


class NotAPresentation(Refused):
    code = "not_a_presentation"
    says: ClassVar = {
        "presentation_damaged": {},
        "presentation_packed_oddly": {},
        "presentation_has_doctype": {},
    }


class Encrypted(Refused):
    code = "encrypted"


class TooLargeUnpacked(Refused):
    code = "too_large_unpacked"
    says: ClassVar = {
        "presentation_has_too_many_parts": {"most": int},
        "presentation_too_large": {"gibibytes": int},
        "presentation_part_too_large": {"mebibytes": int},
        "presentation_too_deep": {"most": int, "millions": int},
        "presentation_picture_too_large": {"megapixels": int},
        "picture_has_too_many_pixels": {"megapixels": int},
    }


class NameNotAccepted(Refused):
    code = "name_not_accepted"


class NoSlides(Refused):
    code = "no_slides"
    says: ClassVar = {"every_slide_hidden": {}}


class UnsupportedMediaType(ServiceError):
    code = "unsupported_media_type"
    says: ClassVar = {
        "body_must_be_json": {},
        "body_must_be_form": {},
        "body_must_be_picture": {"content_type": str},
        "body_must_be_part": {"content_type": str},
        "export_keynote": {},
        "accepted_names": {"accepted": list[str]},
        "content_is_another": {"kind": str},
        "pdf_without_end": {},
        "picture_without_size": {},
        "jpeg_incomplete": {},
    }


class UploadTooLarge(ServiceError):
    code = "too_large"
    says: ClassVar = {
        "file_too_large": {"limit_bytes": int},
        "screenshot_too_large": {"limit_bytes": int},
    }


class UploadNotFound(NotFound):
    code = "upload_not_found"


class UploadOffsetConflict(StateConflict):
    code = "upload_offset_conflict"


class UploadLocked(ServiceError):
    code = "upload_locked"


class VolumeFull(ServiceError):
    code = "volume_unavailable"
    says: ClassVar = {"upload_part_lost": {}}


class TaskQueueUnavailable(ServiceError):
    code = "task_queue_unavailable"


class BrokerUnavailable(ServiceError):
    code = "broker_unavailable"
    says: ClassVar = {
        "broker_busy": {},
        "broker_unreachable": {"error": str},
        "broker_silent": {},
        "broker_refused_connection": {"reason": str},
        "broker_without_qos": {},
        "no_time_to_publish": {},
        "broker_refused_message": {"reason": str},
    }


class ProviderUnavailable(ServiceError):
    code = "provider_unavailable"


class PublishUnanswered(BrokerUnavailable):
    """The message may still be delivered."""


class EnrolmentCodeInvalid(Refused):
    code = "enrolment_code_invalid"


class ClientDeleted(StateConflict):
    code = "client_deleted"


class PasswordNotAccepted(Refused):
    code = "password_not_accepted"
    says: ClassVar = {
        "password_length": {"shortest": int, "longest": int},
        "password_as_before": {},
        "password_guessed": {},
        "password_leaked": {},
    }


class UserNotFound(NotFound):
    code = "user_not_found"


class UsernameTaken(StateConflict):
    code = "username_taken"


class SiteExists(StateConflict):
    code = "site_exists"


class LastAdmin(StateConflict):
    code = "last_admin"


class AnotherUsername(StateConflict):
    code = "another_username"


class OwnAccount(StateConflict):
    code = "own_account"


class ExpiryInThePast(Refused):
    code = "expiry_in_the_past"


class ExpiryTooFar(Refused):
    code = "expiry_too_far"


class QuietTimesRefused(Refused):
    code = "quiet_times_refused"
    says: ClassVar = {
        "quiet_start_too_far": {},
        "quiet_hours_need_zone": {},
        "quiet_end_before_start": {},
        "quiet_end_in_past": {},
        "quiet_end_too_far": {},
        "quiet_too_long": {"preset": QuietPreset, "days": int},
        "quiet_only_of_custom": {},
        "quiet_needs_reason": {"preset": QuietPreset},
        "opening_hours_of_many": {},
        "quiet_needs_end": {"preset": QuietPreset},
        "leave_out_has_no_end": {},
        "quiet_takes_no_hours": {"preset": QuietPreset},
        "opening_hours_need_hours": {},
        "quiet_clock": {"text": str},
        "quiet_hours_need_days": {},
        "quiet_hours_length": {"days": int},
        "quiet_has_begun": {},
    }


class QuietTimeOver(StateConflict):
    code = "quiet_time_over"


class OpeningHoursExist(StateConflict):
    code = "opening_hours_exist"


class TimeZoneUnknown(Refused):
    code = "time_zone_unknown"
    says: ClassVar = {"zone_unknown": {"name": str}}


class ClientsUnknown(Refused):
    code = "clients_unknown"
    says: ClassVar = {"some_clients_unknown": {"count": int}}


class ChannelNotFound(NotFound):
    code = "channel_not_found"


class ChannelNameTaken(StateConflict):
    code = "channel_name_taken"


class ChannelAddressRefused(Refused):
    code = "channel_address_refused"
    says: ClassVar = {
        "apprise_refused": {},
        "webhook_address": {},
        "apprise_address": {},
    }


class ChannelRefused(Refused):
    code = "channel_refused"
    says: ClassVar = {
        "channel_hours_need_weekday": {},
        "only_webhooks_signed": {},
        "signing_secret_short": {"shortest": int},
    }


class SecondFactorUnknown(NotFound):
    code = "second_factor_unknown"


class SecondFactorStands(StateConflict):
    code = "second_factor_stands"


class SessionNotFound(NotFound):
    code = "session_not_found"
