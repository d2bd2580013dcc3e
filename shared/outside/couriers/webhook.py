"""Post JSON to a URL: one connection, no redirects, one deadline for everything.

    POST <url>
    Content-Type: application/json
    Idempotency-Key: signage-<delivery>          the same at each try
    Signage-Signature: t=<unix time>,v1=<hex>    where the channel has a secret

`v1` is HMAC-SHA-256, keyed with the secret, of the time, a dot and the body's bytes.
"""

import base64
import hashlib
import hmac
import http.client
import json
import socket
import ssl
import time
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from shared.http_proxy import HttpProxy
from shared.outside.bounded_http import cut_at, over
from shared.outside.couriers import words
from shared.outside.couriers.addresses import AddressRefused, Reach, look_up
from shared.outside.couriers.letters import DeliveryAttempt, Letter, Result
from shared.outside.outbound import ProxyFault, connected
from shared.words.sentences import Sentence

AGAIN_STATUSES: Final = frozenset({408, 409, 421, 423, 425, 429})
GONE: Final = 410  # the receiver says that this address is gone for good
LONGEST_RETRY_AFTER: Final = timedelta(hours=1)


def post(url: str, signing_secret: str | None, letter: Letter, reach: Reach, deadline: timedelta) -> DeliveryAttempt:
    """Post the letter's facts. Raises nothing."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    until = time.monotonic() + deadline.total_seconds()
    try:
        addresses = look_up(host, _port(parts), reach)
        return _post_to(parts, addresses, letter, signing_secret, reach.proxy, until)
    except AddressRefused:
        return DeliveryAttempt(Result.REFUSED, words.receiver_forbidden())
    except socket.gaierror:
        return DeliveryAttempt(Result.AGAIN, words.receiver_unknown(receiver=host))
    except ssl.SSLCertVerificationError:
        return DeliveryAttempt(Result.AGAIN, words.receiver_untrusted(receiver=host))
    except (OSError, http.client.HTTPException, ValueError) as error:
        return DeliveryAttempt(Result.AGAIN, _trouble(error, host, until))


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _post_to(
    parts: SplitResult,
    addresses: list[str],
    letter: Letter,
    signing_secret: str | None,
    proxy: HttpProxy | None,
    until: float,
) -> DeliveryAttempt:
    """Post to the first of these addresses that accepts the connection."""
    raw = connected(addresses, _port(parts), until, proxy)
    with raw, cut_at(until, raw) as ended:
        connection = over(parts.scheme, parts.hostname or "", _port(parts), raw)
        body = json.dumps(letter.posted).encode()
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request("POST", target, body, _headers(parts, letter, body, signing_secret))
            answer = connection.getresponse()  # its body is not read: it is not used and may be endless
        finally:
            connection.close()
        if ended():  # http.client treats the end of the connection as the end of the headers
            raise TimeoutError
        return judged(answer.status, parts.hostname or "", answer.getheader("Retry-After"))


def _headers(parts: SplitResult, letter: Letter, body: bytes, signing_secret: str | None) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "signage-fleet",
        "Idempotency-Key": letter.key,
        "Connection": "close",
    }
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    headers["Host"] = shown if parts.port is None else f"{shown}:{parts.port}"
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    if signing_secret:
        headers["Signage-Signature"] = signature(signing_secret, int(time.time()), body)
    return headers


def signature(secret: str, at: int, body: bytes) -> str:
    """The signature for the receiver: the time (seconds since 1970), and the digest of time and body."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def judged(status: int, host: str, retry_after: str | None) -> DeliveryAttempt:
    """The result of an answer. A redirect counts as refused: it could lead anywhere."""
    if 200 <= status < 300:
        return DeliveryAttempt(Result.DELIVERED, words.receiver_answered(receiver=host, status=status))
    if 300 <= status < 400:
        return DeliveryAttempt(Result.REFUSED, words.receiver_redirects(receiver=host, status=status))
    if status == GONE:
        return DeliveryAttempt(Result.REFUSED, words.receiver_gone(receiver=host, status=status))
    answered = words.receiver_answered(receiver=host, status=status)
    if status >= 500 or status in AGAIN_STATUSES:
        return DeliveryAttempt(Result.AGAIN, answered, _wait(retry_after))
    return DeliveryAttempt(Result.REFUSED, answered)


def _wait(retry_after: str | None) -> timedelta | None:
    """The wait of a Retry-After header, an hour at most; None when it is missing or invalid."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after) if retry_after.strip().isdigit() else _seconds_until(retry_after)
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(timedelta(seconds=min(seconds, 1e6)), timedelta()), LONGEST_RETRY_AFTER)


def _seconds_until(date: str) -> float:
    return parsedate_to_datetime(date).timestamp() - time.time()


def _trouble(error: Exception, host: str, until: float) -> Sentence:
    """The fault in our own words, because the text of an exception may hold the URL."""
    if isinstance(error, ProxyFault):
        return words.proxy_fault(receiver=host, status=error.status)
    if isinstance(error, TimeoutError) or time.monotonic() >= until:
        return words.receiver_slow(receiver=host)
    if isinstance(error, ConnectionRefusedError):
        return words.receiver_refused_connection(receiver=host)
    if isinstance(error, ssl.SSLError):
        return words.receiver_without_tls(receiver=host)
    if isinstance(error, http.client.HTTPException):
        return words.receiver_without_http(receiver=host)
    return words.receiver_lost(receiver=host)
