"""Sign-in at an OpenID Connect provider: what a try is made of, and what a person's claims give. Pure."""

import base64
import hashlib
import hmac
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from shared.access.rules import MOST_SITES, ROLE_ORDER, in_order
from shared.errors import GroupsLeftOut, NoRoleAtProvider, NoSiteAtProvider
from shared.names import folded, folded_each, hides
from shared.vocabulary import Role

SECRET_BYTES: Final = 32
TRY_LASTS: Final = timedelta(minutes=10)  # the person signs in at the provider in this time
CLOCKS_DIFFER: Final = timedelta(minutes=1)  # the clocks of two instances of ours
ALL_SITES: Final = "*"
LONGEST_SITE: Final = 100  # characters
LONGEST_NAME: Final = 64
LONGEST_SUBJECT: Final = 255  # as OpenID Connect says
_COOKIE: Final = re.compile(r"(\d{1,12})\.([A-Za-z0-9_-]{43})", re.ASCII)
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9._@+-]+")
_TWO_LETTERS: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe"}
    | {"ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ł": "l", "Ł": "L", "ð": "d", "þ": "th", "ı": "i"}
)
"""Letters that Unicode does not take apart into a Latin letter and its accent, and German umlauts."""


class SignInTry(Struct, frozen=True):
    """A sign-in that a browser began. Its cookie holds all of it, so any instance can finish it.

    State, nonce and verifier derive from the secret. Whoever sees one of them learns neither the secret nor the others.
    """

    secret: str
    began_at: int
    """Unix time, in seconds."""

    @property
    def cookie(self) -> str:
        """The value of the cookie."""
        return f"{self.began_at}.{self.secret}"

    @property
    def state(self) -> str:
        """Comes back with the browser: only the browser that began can finish."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """Stands in the identity token: it was made for this try."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """Goes with the code (PKCE): only who began can redeem it."""
        return self._derived("verifier")

    @property
    def challenge(self) -> str:
        """What the provider hears of the verifier at first (S256)."""
        return _base64(hashlib.sha256(self.verifier.encode()).digest())

    def _derived(self, purpose: str) -> str:
        # The time is inside, so a browser cannot make an old try a young one.
        return _base64(hmac.new(self.secret.encode(), f"{purpose}\0{self.began_at}".encode(), hashlib.sha256).digest())


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def read_try(cookie: str, state: str, now: datetime) -> SignInTry | None:
    """The try of this cookie. None: malformed, too old, or `state` is of another one."""
    match = _COOKIE.fullmatch(cookie)
    if match is None:
        return None
    found = SignInTry(match[2], int(match[1]))
    age = now.timestamp() - found.began_at
    is_young = -CLOCKS_DIFFER.total_seconds() <= age <= TRY_LASTS.total_seconds()
    is_mine = hmac.compare_digest(found.state.encode(), state.encode("utf-8", "surrogatepass"))
    return found if is_young and is_mine else None


# --- what the claims give ---


class ProviderPerson(Struct, frozen=True):
    """A person as the provider describes them at this sign-in."""

    issuer: str
    subject: str
    name: str
    """The name for a new account; it may be taken."""
    role: Role
    sites: list[str] | None
    """None: all sites."""


def person_of(
    claims: Mapping[str, Any], role_claim: str, roles: Mapping[str, Role], sites_claim: str = ""
) -> ProviderPerson:
    """The person of these verified claims. Raises GroupsLeftOut, NoRoleAtProvider, NoSiteAtProvider."""
    if any(_is_left_out(claims, claim) for claim in (role_claim, sites_claim) if claim):
        raise GroupsLeftOut
    values = _names(texts_of(claims, role_claim))
    given = {role for value, role in roles.items() if folded(value) in values}
    if not given:
        raise NoRoleAtProvider
    sites = _sites(_names(texts_of(claims, sites_claim))) if sites_claim else None
    return ProviderPerson(claims["iss"], claims["sub"], name_of(claims), max(given, key=ROLE_ORDER.index), sites)


def texts_of(claims: Mapping[str, Any], name: str) -> list[str]:
    """The texts of a claim: one, or a list. `a.b` is also the claim `b` inside the object `a`.

    An e-mail address that the provider has not verified counts as missing: anybody could enter another's.
    """
    if folded(name) == "email" and claims.get("email_verified") is not True:
        return []
    found: Any = _inside(claims, [name] if _named(claims, name) is not None else name.split("."))
    many: Sequence[Any] = found if isinstance(found, list) else [found]
    return [one for one in many if isinstance(one, str)]


def _is_left_out(claims: Mapping[str, Any], name: str) -> bool:
    """Whether the provider only says where this claim could be asked for: Entra does above 200 groups."""
    elsewhere = claims.get("_claim_names")
    return name not in claims and isinstance(elsewhere, Mapping) and name in elsewhere


def _names(values: Iterable[str]) -> list[str]:
    """Fold these values. A value with hidden characters is left out: it could pass for the name of another group."""
    return folded_each(value for value in values if not hides(value))


def _inside(claims: Any, path: Sequence[str]) -> Any:
    for name in path:
        claims = _named(claims, name) if isinstance(claims, Mapping) else None
    return claims


def _named(claims: Mapping[str, Any], name: str) -> Any:
    """The claim of this name; the name itself comes before others that mean the same."""
    if name in claims:
        return claims[name]
    return next((value for other, value in claims.items() if folded(other) == folded(name) and not hides(other)), None)


def _sites(values: Sequence[str]) -> list[str] | None:
    if ALL_SITES in values:
        return None
    sites = in_order(value for value in values if len(value) <= LONGEST_SITE)
    if not sites:
        raise NoSiteAtProvider
    if len(sites) > MOST_SITES:
        raise NoSiteAtProvider("too_many_sites_at_provider", facts={"sites": len(sites), "most": MOST_SITES})
    return sites


def name_of(claims: Mapping[str, Any]) -> str:
    """A user name from the claims, in the letters that user names have."""
    for claim in ("preferred_username", "email", "sub"):
        given = claims.get(claim)
        name = _NOT_IN_A_NAME.sub("-", _latin(given) if isinstance(given, str) else "")
        if name := name.lstrip("._@+-")[:LONGEST_NAME]:
            return name
    return "person"


def _latin(text: str) -> str:
    """The text without accents: jörg.müller becomes joerg.mueller, françois francois."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", text).translate(_TWO_LETTERS))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def other_name(name: str, mark: str) -> str:
    """A name for a person whose own one is taken. `mark`: random letters and digits."""
    return f"{name[: LONGEST_NAME - len(mark) - 1]}+{mark}"
