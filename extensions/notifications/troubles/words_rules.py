"""What messages about troubles say. `display` is a display's name with its site; names are shortened before."""

from enum import StrEnum

from shared.vocabulary import Door, HealthLimit, IncidentKind, NotificationEvent, RecoveryState, ScreenHealthStatus
from shared.words.facts import By, Lasting, Moment
from shared.words.sentences import Sentence, sentence


class DisplayTrouble(StrEnum):
    """What is wrong with a display."""

    SILENT = "stale"
    CRASHED = "crashed"
    SCREEN = "screen"
    SERVICE = "service"
    UNKNOWN = "unknown"


class Naming(StrEnum):
    """What may name a site, the gravest first."""

    PERSON = "person"
    TOKEN = "token"  # nosec B105 # noqa: S105
    CHANNEL = "channel"
    QUIET_TIME = "quiet_time"
    SCHEDULE = "schedule"
    STATUS_LINK = "status_link"
    PICTURES_OFF = "pictures_off"


@sentence
def fleet_unheard() -> Sentence: ...
@sentence
def fleet_unheard_recovery() -> Sentence: ...
@sentence
def place_fails(
    *, kind: IncidentKind, key: str, site: str | None, sites: int, displays: int, times: int, keeps: bool
) -> Sentence:
    """`site`: that of a subnet. `times`: in 24 hours. `keeps`: it fails again and again."""


@sentence
def all_back(*, displays: int) -> Sentence: ...
@sentence
def display_unwell(
    *, display: str, what: DisplayTrouble, unit: str | None, screen: ScreenHealthStatus | None, suspended: bool
) -> Sentence: ...
@sentence
def screen_fails(*, display: str, screen: ScreenHealthStatus) -> Sentence: ...
@sentence
def limit_passed(
    *, display: str, limit: HealthLimit, value: int, seconds: Lasting, is_over: bool, is_fast: bool, limit_at: str
) -> Sentence:
    """`value`: of a share or heat. `seconds`: until a certificate's end, or how wrong a clock is."""


@sentence
def connection_unsteady(*, display: str, losses: int) -> Sentence: ...
@sentence
def login_shared(*, display: str) -> Sentence: ...
@sentence
def login_shared_cause() -> Sentence: ...
@sentence
def breaker_holds(*, site: str | None) -> Sentence: ...
@sentence
def site_still_named(*, site: str, things: int) -> Sentence: ...
@sentence
def names_site(*, what: Naming, things: int) -> Sentence: ...
@sentence
def things_to_move(*, things: list[Sentence]) -> Sentence: ...
@sentence
def not_converted(*, file: str) -> Sentence: ...
@sentence
def certificate_ends(*, door: Door, seconds: Lasting | None) -> Sentence:
    """`seconds` None: it has ended."""


@sentence
def certificate_end(*, door: Door, at: Moment, has_ended: bool) -> Sentence: ...
@sentence
def recovery_does(*, state: RecoveryState) -> Sentence: ...
@sentence
def recovery_counted(*, what: Sentence, displays: int) -> Sentence: ...
@sentence
def recovery_about(*, what: list[Sentence]) -> Sentence: ...
@sentence
def got_worse(*, title: Sentence) -> Sentence: ...
@sentence
def got_over(*, title: Sentence) -> Sentence: ...
@sentence
def trouble_since(*, at: Moment, seconds: Lasting) -> Sentence: ...
@sentence
def displays_affected(*, displays: int, names: list[str], more: int) -> Sentence: ...
@sentence
def looks_after(*, by: By) -> Sentence: ...
@sentence
def looked_after(*, by: By) -> Sentence: ...
@sentence
def trouble_lasted(*, seconds: Lasting) -> Sentence: ...
@sentence
def trouble_was(*, cause: Sentence) -> Sentence: ...
@sentence
def many_troubles(*, event: NotificationEvent, displays: int, is_over: bool) -> Sentence: ...
@sentence
def and_more(*, more: int) -> Sentence: ...
@sentence
def channel_trial() -> Sentence: ...
@sentence
def channel_tried(*, by: By, channel: str) -> Sentence: ...
