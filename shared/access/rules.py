"""Who may do what: the forms of secrets, the order of roles, the limits on guessing. Pure."""

import base64
import hashlib
import hmac
import ipaddress
import math
import re
import zlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from shared.errors import ExpiryInThePast, ExpiryTooFar, Forbidden
from shared.vocabulary import ROLE_FOR, PrincipalKind, Role

ROLE_ORDER: Final = (Role.VIEWER, Role.OPERATOR, Role.ADMIN)  # each includes the rights of the roles before it
MOST_SITES: Final = 200  # of one person or token
TOKEN_ID_BYTES: Final = 6
TOKEN_SECRET_BYTES: Final = 32
TOKEN_USE_RESOLUTION: Final = timedelta(minutes=1)  # last_used_at is not written more often
SESSION_LASTS: Final = timedelta(hours=12)
SESSION_RESTS: Final = timedelta(hours=1)  # without any request; then it ends
ONE_TIME_PASSWORD_LASTS: Final = timedelta(days=3)
FAILURES_COUNT_FOR: Final = timedelta(minutes=15)
MOST_FAILURES: Final = 5  # of sign-ins from one address, and for one account from one address
MOST_FAILURES_OF_ACCOUNT: Final = 50  # from all addresses but those from which it signed in lately
ADDRESS_IS_KNOWN: Final = timedelta(days=30)  # after the last sign-in from there
REPEATS_ARE_ONE_LINE: Final = timedelta(hours=1)  # one audit line an hour for acts that a caller can repeat
LONGEST_TOKEN_LIFE: Final = timedelta(days=3653)
_TOKEN: Final = re.compile(r"(sgn_([0-9a-f]{12})_([0-9a-f]{64}))_([0-9a-f]{8})(?:\..{22})?")

MOSQUITTO_ITERATIONS: Final = 101  # what mosquitto 2.0 itself writes; the password is 32 random bytes
MOSQUITTO_SALT_BYTES: Final = 12


class AuditLine(Struct, frozen=True):
    """A line of the audit log: who did what to which target, and whether it was done or refused."""

    actor: str
    action: str
    target: str
    result: str
    request_id: str | None
    details: dict[str, Any]
    """JSON values without secrets."""


class Principal(Struct, frozen=True):
    """A caller whose proof of identity was accepted."""

    kind: PrincipalKind
    id: str
    """The user's number or the token's id."""
    name: str
    role: Role
    expires_at: datetime | None = None
    """When this proof expires; None: never."""
    must_change_password: bool = False
    is_one_time: bool = False
    """They signed in with a password that an admin handed over."""
    has_second_factor: bool = False
    recognised_at: datetime | None = None
    """The database's time when the proof was accepted."""
    sites: tuple[str, ...] | None = None
    """Where the role counts; None: at all sites."""
    by_provider: bool = False
    """They signed in at the provider: passwords and second factors are its business."""

    @property
    def actor(self) -> str:
        """The caller's name in the audit log. A token's has its id, because two tokens may have the same name."""
        return f"user:{self.name}" if self.kind is PrincipalKind.USER else f"token:{self.name}#{self.id}"

    def may(self, needed: Role) -> bool:
        """Whether the caller's role includes `needed`."""
        return ROLE_ORDER.index(self.role) >= ROLE_ORDER.index(needed)


def check_may(caller: Principal, needed: Role) -> None:
    """Raises Forbidden unless the caller's role includes `needed`."""
    if not caller.may(needed):
        raise Forbidden("role_needed", facts={"needed": needed.value, "role": caller.role.value})


def in_order(sites: Iterable[str] | None) -> list[str] | None:
    """Chosen sites as they are stored: each once, by name. None: all sites."""
    return None if sites is None else sorted(set(sites))


def check_may_send(caller: Principal, action: str) -> None:
    """Raises Forbidden unless the caller may send commands of this action; one of later code needs an admin."""
    check_may(caller, ROLE_FOR.get(action, Role.ADMIN))


def digest(secret: str) -> str:
    """The SHA-256 of a random secret, hex: what the database keeps of it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def matches(secret: str, stored_digest: str) -> bool:
    """Whether `stored_digest` is the digest of `secret`, in constant time."""
    return hmac.compare_digest(digest(secret), stored_digest)


def compose_token(token_id: str, secret: str) -> str:
    """The text of an API token, `sgn_<id>_<secret>_<crc32>`; the checksum distinguishes a typo from a guess."""
    stem = f"sgn_{token_id}_{secret}"
    return f"{stem}_{_checksum(stem)}"


def parse_token(text: str) -> tuple[str, str] | None:
    """Id and secret from a token's text; None when form or checksum is wrong."""
    match = _TOKEN.fullmatch(text)
    if match is None or _checksum(match[1]) != match[4]:
        return None
    return match[2], match[3]


def sealed(text: str, key: str) -> str:
    """A token or cookie with a seal. The gateway with this key takes its bearer for no stranger.

    Its nginx.conf computes the same. A seal gives no rights. Without a key there is none.
    """
    if not key:
        return text
    seal = hashlib.md5(f"{text} {key}".encode(), usedforsecurity=False).digest()
    return f"{text}.{base64.urlsafe_b64encode(seal).decode().rstrip('=')}"


def _checksum(stem: str) -> str:
    return f"{zlib.crc32(stem.encode()):08x}"


def is_live(now: datetime, expires_at: datetime | None, revoked_at: datetime | None) -> bool:
    """Whether a token or session is neither revoked nor expired."""
    return revoked_at is None and (expires_at is None or now < expires_at)


def check_expiry(now: datetime, expires_at: datetime | None) -> None:
    """Check the expiry of a new token. Raises ExpiryInThePast, ExpiryTooFar."""
    if expires_at is not None and expires_at <= now:
        raise ExpiryInThePast
    if expires_at is not None and expires_at - now > LONGEST_TOKEN_LIFE:
        raise ExpiryTooFar


def is_rested(now: datetime, last_seen_at: datetime, idle: timedelta | None) -> bool:
    """Whether a session was idle for too long."""
    return idle is not None and now - last_seen_at >= idle


def is_use_worth_noting(now: datetime, last_used_at: datetime | None) -> bool:
    """Whether the last noted use of a token is a minute ago."""
    return last_used_at is None or now - last_used_at >= TOKEN_USE_RESOLUTION


class Counter(Struct, frozen=True):
    """A counter of failed tries, and how many of them a window allows."""

    bucket: str
    allowed: int


def network_of(address: str) -> str:
    """The address that counts for a caller: of IPv6 the /64, because a host may use any address in it."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def sign_in_counters(username: str, address: str, *, is_known: bool) -> tuple[Counter, ...]:
    """The counters that a failed sign-in adds to.

    `is_known`: this account has recently signed in from this address. Then only failures of the two together count,
    so that other people's failures do not lock the person out.
    """
    network = network_of(address)
    both = Counter(f"account:{username} address:{network}", MOST_FAILURES)
    if is_known:
        return (both,)
    return both, Counter(f"address:{network}", MOST_FAILURES), Counter(f"account:{username}", MOST_FAILURES_OF_ACCOUNT)


def own_password_counters(cookie: str, address: str) -> tuple[Counter, ...]:
    """The counters for a signed-in person who enters the present password: session and address."""
    return Counter(f"session:{digest(cookie)}", MOST_FAILURES), Counter(f"address:{network_of(address)}", MOST_FAILURES)


def wait_after_failures(failures: Sequence[datetime], now: datetime, allowed: int) -> timedelta | None:
    """The wait until the next try, by the times of failed tries in one bucket; None: no wait."""
    recent = sorted(at for at in failures if at > now - FAILURES_COUNT_FOR)
    if len(recent) < allowed:
        return None
    return recent[len(recent) - allowed] + FAILURES_COUNT_FOR - now


def whole_seconds(wait: timedelta) -> int:
    """A wait in seconds for Retry-After: rounded up, at least 1."""
    return max(1, math.ceil(wait.total_seconds()))


def mosquitto_hash(password: str, salt: bytes, iterations: int = MOSQUITTO_ITERATIONS) -> str:
    """The hash of a password in mosquitto 2's password file: `$7$<iterations>$<salt>$<hash>`.

    PBKDF2 with SHA-512 and 64 bytes of result, salt and result in base64.
    """
    key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, iterations, dklen=64)
    return f"$7${iterations}${base64.b64encode(salt).decode()}${base64.b64encode(key).decode()}"


def mosquitto_matches(password: str, stored: str) -> bool:
    """Whether `stored` is the `mosquitto_hash` of `password`, in constant time."""
    _, _, iterations, salt, _ = stored.split("$")
    return hmac.compare_digest(mosquitto_hash(password, base64.b64decode(salt), int(iterations)), stored)
