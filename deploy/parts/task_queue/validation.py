"""Validate a new task, with the refusals and statuses of Cloud Tasks."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote, urlsplit

import grpc
from google.cloud.tasks_v2.types import HttpMethod, HttpRequest, Task

QUEUE_NAME = re.compile(r"projects/[A-Za-z0-9:.-]+/locations/[A-Za-z0-9-]+/queues/[A-Za-z0-9-]{1,100}")
TASK_NAME = re.compile(QUEUE_NAME.pattern + r"/tasks/[A-Za-z0-9_-]{1,500}")
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")

MAX_TASK_BYTES = 1 << 20
MAX_HEADER_BYTES = 80 * 1024
MAX_URL_LENGTH = 2083
DEFAULT_DEADLINE = timedelta(minutes=10)
SHORTEST_DEADLINE = timedelta(seconds=15)
LONGEST_DEADLINE = timedelta(minutes=30)
FURTHEST_SCHEDULE = timedelta(days=30)
METHODS_WITH_BODY = {HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH}


class Refusal(Exception):
    """A call that ends with a status other than OK."""

    def __init__(self, code: grpc.StatusCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def invalid(detail: str) -> Refusal:
    """INVALID_ARGUMENT; `detail` says what was expected."""
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, detail)


def not_offered(what: str) -> Refusal:
    """UNIMPLEMENTED, for a setting that would have no effect here."""
    return Refusal(grpc.StatusCode.UNIMPLEMENTED, f"The local task queue does not offer {what}.")


def matched(pattern: re.Pattern[str], name: str, field: str) -> str:
    """The resource name, if it matches the pattern. Raises Refusal."""
    if not pattern.fullmatch(name):
        raise invalid(f"{field} {name[:200]!r} is not of the form {pattern.pattern}.")
    return name


def task_id(parent: str, name: str) -> str:
    """The last part of the task's name; random when the task has no name. Raises Refusal."""
    if not name:
        return secrets.token_hex(10)
    matched(TASK_NAME, name, "Task name")
    queue, _, identifier = name.rpartition("/tasks/")
    if queue != parent:
        raise invalid(f"Task name must start with {parent}/tasks/.")
    return identifier


@dataclass(frozen=True)
class Permitted:
    """The identities and addresses that a task may use."""

    accounts: frozenset[str]
    """The identities; in the cloud, the "act as" permission."""
    targets: frozenset[str] | None
    """The addresses, with all paths below; a token's audience must be the same address. None: any."""


def check_task(task: Task, permitted: Permitted) -> None:
    """Check a new task, except its name and its times. Raises Refusal."""
    if "app_engine_http_request" in task:
        raise not_offered("App Engine tasks")
    if "retry_config" in task:
        raise not_offered("a retry config of a task's own")
    if "http_request" not in task:
        raise invalid("Task.http_request is required.")
    if Task.pb(task).ByteSize() > MAX_TASK_BYTES:
        raise invalid(f"The task is larger than {MAX_TASK_BYTES} bytes.")
    request = task.http_request
    _check_url(request.url)
    _check_headers(dict(request.headers))
    if request.body and effective_method(request) not in METHODS_WITH_BODY:
        raise invalid("A body is allowed only with POST, PUT and PATCH.")
    _check_target(request, permitted.targets)
    _check_identity(request, permitted.accounts)


def effective_method(request: HttpRequest) -> HttpMethod:
    """The HTTP method; the default is POST."""
    return HttpMethod(request.http_method or HttpMethod.POST)


def encoded_url(url: str) -> str:
    """The address, with characters escaped that a request line may not have."""
    return quote(url, safe="%/:?#[]@!$&'()*+,;=~-._")


def _check_url(url: str) -> None:
    encoded = encoded_url(url)
    if not url.lower().startswith(("http://", "https://")):
        raise invalid("HttpRequest.url must start with http:// or https://.")
    if len(encoded) > MAX_URL_LENGTH:
        raise invalid(f"HttpRequest.url is longer than {MAX_URL_LENGTH} characters.")
    try:
        parts = urlsplit(encoded)
        usable = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable:
        raise invalid("HttpRequest.url has no usable host and port.")


def _check_target(request: HttpRequest, targets: frozenset[str] | None) -> None:
    if targets is None:
        return
    below = [one for one in targets if request.url == one or request.url.startswith((f"{one}/", f"{one}?"))]
    if not below:
        raise Refusal(grpc.StatusCode.PERMISSION_DENIED, "The queue delivers to the product's own functions only.")
    if "oidc_token" in request and request.oidc_token.audience not in below:
        raise Refusal(grpc.StatusCode.PERMISSION_DENIED, "A task's token is for the function that it is delivered to.")


def _check_headers(headers: Mapping[str, str]) -> None:
    if sum(len(name) + len(value) for name, value in headers.items()) >= MAX_HEADER_BYTES:
        raise invalid("The headers must be smaller than 80 KB.")
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
            raise invalid(f"Header {name[:100]!r} is not a legal HTTP header.")


def _check_identity(request: HttpRequest, mintable: frozenset[str]) -> None:
    if "oauth_token" in request:
        raise not_offered("OAuth tokens")
    if "oidc_token" not in request:
        return
    email = request.oidc_token.service_account_email
    if not email:
        raise invalid("OidcToken.service_account_email is required.")
    if email not in mintable:
        raise Refusal(grpc.StatusCode.PERMISSION_DENIED, f"The queue may not act as {email[:200]!r}.")


def schedule_time(task: Task, now: datetime) -> datetime:
    """When the first attempt is due, now at the earliest. Raises Refusal."""
    if "schedule_time" not in task:
        return now
    try:
        wanted: datetime = Task.pb(task).schedule_time.ToDatetime(now.tzinfo)
    except (ValueError, OverflowError):
        raise invalid("Task.schedule_time is no time.") from None
    if wanted > now + FURTHEST_SCHEDULE:
        raise invalid("Task.schedule_time is more than 30 days away.")
    return max(wanted, now)


def dispatch_deadline(task: Task) -> timedelta:
    """The timeout of one attempt. Raises Refusal."""
    if "dispatch_deadline" not in task:
        return DEFAULT_DEADLINE
    try:
        deadline: timedelta = task.dispatch_deadline  # type: ignore[assignment] # the stubs say Duration
    except (ValueError, OverflowError):
        raise invalid("Task.dispatch_deadline is no duration.") from None
    if not SHORTEST_DEADLINE <= deadline <= LONGEST_DEADLINE:
        raise invalid("Task.dispatch_deadline must be in the interval [15s, 1800s].")
    return deadline
