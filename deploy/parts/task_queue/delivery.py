"""Deliver a task once: its HTTP request, made like Cloud Tasks makes it."""

from dataclasses import dataclass
from datetime import timedelta

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from google.cloud.tasks_v2.types import HttpRequest
from sqlalchemy import RowMapping

from deploy.parts import deadline_http
from deploy.parts import identity as oidc
from deploy.parts.task_queue.validation import effective_method, encoded_url

# Headers that a task may not set: they are computed for each request, or Google's own.
RESERVED_HEADERS = {"host", "content-length", "transfer-encoding", "connection", "user-agent"}
RESERVED_PREFIXES = ("x-google-", "x-appengine-", "x-cloudtasks-")


@dataclass(frozen=True)
class Identity:
    """The key and the issuer of the deliveries' identity tokens."""

    key: RSAPrivateKey
    issuer: str


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended."""

    status: int | None
    """The HTTP status; None when no answer came."""
    failure: str
    """Why it failed, for people; empty after a 2xx."""
    retry_after: str | None = None
    """The answer's header Retry-After."""

    @property
    def succeeded(self) -> bool:
        """Whether the status is 2xx."""
        return self.status is not None and 200 <= self.status <= 299


def attempt(claimed: RowMapping, identity: Identity) -> Outcome:
    """Deliver a claimed task once, within its dispatch deadline. A fault of the worker is an Outcome, not an error."""
    request = HttpRequest.deserialize(claimed["http_request"])
    headers = _own_headers(request) | _task_headers(claimed)
    if "oidc_token" in request:
        audience = request.oidc_token.audience or request.url
        email = request.oidc_token.service_account_email
        headers["Authorization"] = f"Bearer {oidc.mint(identity.key, audience, email, identity.issuer)}"
    deadline = timedelta(milliseconds=claimed["dispatch_deadline_ms"])
    method = effective_method(request).name
    try:
        reply = deadline_http.request(method, encoded_url(request.url), headers, request.body, deadline)
    except deadline_http.DeadlineExceeded as error:
        return Outcome(None, f"DEADLINE_EXCEEDED: {error}")
    except deadline_http.NoReply as error:
        return Outcome(None, f"UNAVAILABLE: {error}")
    failure = "" if reply.succeeded else f"HTTP status code {reply.status}"
    return Outcome(reply.status, failure, reply.headers.get("retry-after"))


def _own_headers(request: HttpRequest) -> dict[str, str]:
    """The task's own headers, without the reserved ones; an identity token replaces its Authorization."""
    reserved = RESERVED_HEADERS | ({"authorization"} if "oidc_token" in request else set())
    return {
        name: value
        for name, value in request.headers.items()
        if name.lower() not in reserved and not name.lower().startswith(RESERVED_PREFIXES)
    }


def _task_headers(claimed: RowMapping) -> dict[str, str]:
    """The headers that tell the worker which task this is and how often it was tried, with short names."""
    headers = {
        "User-Agent": "Google-Cloud-Tasks",
        "X-CloudTasks-QueueName": claimed["queue"].rpartition("/")[2],
        "X-CloudTasks-TaskName": claimed["task_id"],
        "X-CloudTasks-TaskRetryCount": str(claimed["dispatch_count"] - 1),
        "X-CloudTasks-TaskExecutionCount": str(claimed["execution_count"]),
        "X-CloudTasks-TaskETA": f"{claimed['last_scheduled_at'].timestamp():.6f}",
    }
    if claimed["last_http_status"] is not None:
        headers["X-CloudTasks-TaskPreviousResponse"] = str(claimed["last_http_status"])
    if claimed["last_failure"]:
        headers["X-CloudTasks-TaskRetryReason"] = _header_text(claimed["last_failure"])
    return headers


def _header_text(text: str) -> str:
    return "".join(character if " " <= character <= "~" else "?" for character in text)[:200]
