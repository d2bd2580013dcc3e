"""The gRPC service google.cloud.tasks.v2.CloudTasks, for the methods that the product and its people use."""

import hmac
from collections.abc import Callable
from typing import Any

import grpc
from google.cloud.tasks_v2.types import (
    CreateQueueRequest,
    CreateTaskRequest,
    DeleteQueueRequest,
    DeleteTaskRequest,
    GetQueueRequest,
    GetTaskRequest,
    HttpRequest,
    ListTasksRequest,
    ListTasksResponse,
    PauseQueueRequest,
    PurgeQueueRequest,
    Queue,
    ResumeQueueRequest,
    RetryConfig,
    Task,
)
from google.protobuf.empty_pb2 import Empty
from sqlalchemy import Connection, Engine, RowMapping
from sqlalchemy.exc import SQLAlchemyError

from deploy.parts.task_queue import messages, store, validation
from deploy.parts.task_queue.validation import (
    LOCATION_NAME,
    QUEUE_NAME,
    TASK_NAME,
    Permitted,
    Refusal,
    invalid,
    matched,
)
from shared.postgres.door import database_now, is_away, transaction
from shared.structured_log import event, failure

SERVICE = "google.cloud.tasks.v2.CloudTasks"
LARGEST_PAGE = 1000
LARGEST_FULL_PAGE = 100
PAGE_BYTES = 3 << 20  # under the 4 MiB that a client takes unless told otherwise


class CloudTasks:
    """The methods; each raises Refusal for any status but OK."""

    def __init__(self, engine: Engine, permitted: Permitted, on_change: Callable[[], None]) -> None:
        """`on_change` is called after anything that can make a task due."""
        self._engine = engine
        self._permitted = permitted
        self._on_change = on_change

    def create_task(self, request: CreateTaskRequest) -> Task:
        """A new task, unless its name is taken or was within 24 h."""
        parent, task = matched(QUEUE_NAME, request.parent, "parent"), request.task
        identifier = validation.task_id(parent, task.name)
        validation.check_task(task, self._permitted)
        deadline = validation.dispatch_deadline(task)
        with transaction(self._engine) as connection:
            now = database_now(connection)
            _queue_row(connection, parent)
            row = store.insert_task(
                connection,
                queue=parent,
                task_id=identifier,
                http_request=HttpRequest.serialize(task.http_request),
                retry_config=RetryConfig.serialize(task.retry_config) if "retry_config" in task else None,
                dispatch_deadline_ms=round(deadline.total_seconds() * 1000),
                scheduled_at=validation.schedule_time(task, now),
                now=now,
            )
            if row is None:
                raise Refusal(grpc.StatusCode.ALREADY_EXISTS, "A task of this name exists, or did within 24 h.")
        self._on_change()
        return messages.task_message(row, request.response_view)

    def get_task(self, request: GetTaskRequest) -> Task:
        """A task that waits or is under way."""
        queue, identifier = _task_parts(request.name)
        with transaction(self._engine) as connection:
            row = store.find_task(connection, queue, identifier)
        if row is None:
            raise _no_task()
        return messages.task_message(row, request.response_view)

    def list_tasks(self, request: ListTasksRequest) -> ListTasksResponse:
        """A page of tasks; fewer than asked for when they are large."""
        parent = matched(QUEUE_NAME, request.parent, "parent")
        full = request.response_view == Task.View.FULL
        limit = min(request.page_size or LARGEST_PAGE, LARGEST_FULL_PAGE if full else LARGEST_PAGE)
        if limit < 0 or not (request.page_token.isascii() and f"0{request.page_token}".isdigit()):
            raise invalid("page_size or page_token is not usable.")
        with transaction(self._engine) as connection:
            _queue_row(connection, parent)
            rows = store.list_tasks(connection, parent, int(f"0{request.page_token}"[:19]), limit + 1)
        return _page(rows[:limit], len(rows) > limit, request.response_view)

    def delete_task(self, request: DeleteTaskRequest) -> Empty:
        """Drop a task; its name stays taken for 24 h."""
        queue, identifier = _task_parts(request.name)
        with transaction(self._engine) as connection:
            if not store.bury_task(connection, queue, identifier, database_now(connection)):
                raise _no_task()
        return Empty()

    def create_queue(self, request: CreateQueueRequest) -> Queue:
        """A new queue, running."""
        parent = matched(LOCATION_NAME, request.parent, "parent")
        name = matched(QUEUE_NAME, request.queue.name, "Queue name")
        if not name.startswith(f"{parent}/queues/"):
            raise invalid(f"Queue name must start with {parent}/queues/.")
        validation.check_queue(request.queue)
        with transaction(self._engine) as connection:
            if not store.insert_queue(connection, name, messages.queue_settings(request.queue)):
                raise Refusal(grpc.StatusCode.ALREADY_EXISTS, "A queue of this name exists.")
            return messages.queue_message(_queue_row(connection, name))

    def get_queue(self, request: GetQueueRequest) -> Queue:
        """A queue with its settings and state."""
        name = matched(QUEUE_NAME, request.name, "name")
        with transaction(self._engine) as connection:
            return messages.queue_message(_queue_row(connection, name))

    def delete_queue(self, request: DeleteQueueRequest) -> Empty:
        """Drop a queue and its tasks. Unlike in the cloud its name is free at once."""
        name = matched(QUEUE_NAME, request.name, "name")
        with transaction(self._engine) as connection:
            if not store.delete_queue(connection, name):
                raise _no_queue()
            store.bury_queue_tasks(connection, name, database_now(connection))
        return Empty()

    def pause_queue(self, request: PauseQueueRequest) -> Queue:
        """Begin no more deliveries."""
        return self._set_queue(request.name, paused=True)

    def resume_queue(self, request: ResumeQueueRequest) -> Queue:
        """Deliver again."""
        return self._set_queue(request.name, paused=False)

    def purge_queue(self, request: PurgeQueueRequest) -> Queue:
        """Drop every task of a queue."""
        name = matched(QUEUE_NAME, request.name, "name")
        with transaction(self._engine) as connection:
            now = database_now(connection)
            row = store.set_queue(connection, name, purged_at=now)
            if row is None:
                raise _no_queue()
            store.bury_queue_tasks(connection, name, now)
        return messages.queue_message(row)

    def _set_queue(self, name: str, *, paused: bool) -> Queue:
        with transaction(self._engine) as connection:
            row = store.set_queue(connection, matched(QUEUE_NAME, name, "name"), paused=paused)
        if row is None:
            raise _no_queue()
        self._on_change()
        return messages.queue_message(row)


def _page(rows: Any, more: bool, view: Task.View) -> ListTasksResponse:
    page = ListTasksResponse()
    size = 0
    for row in rows:
        task = messages.task_message(row, view)
        size += Task.pb(task).ByteSize()
        if page.tasks and size > PAGE_BYTES:
            more = True
            break
        page.tasks.append(task)
        last = row["id"]
    if more and page.tasks:
        page.next_page_token = str(last)
    return page


def _task_parts(name: str) -> tuple[str, str]:
    queue, _, identifier = matched(TASK_NAME, name, "name").rpartition("/tasks/")
    return queue, identifier


def _queue_row(connection: Connection, name: str) -> RowMapping:
    row = store.find_queue(connection, name)
    if row is None:
        raise _no_queue()
    return row


def _no_queue() -> Refusal:
    return Refusal(grpc.StatusCode.NOT_FOUND, "The queue does not exist.")


def _no_task() -> Refusal:
    return Refusal(grpc.StatusCode.NOT_FOUND, "The task does not exist, or is done.")


class GenericHandler(grpc.GenericRpcHandler):  # type: ignore[type-arg] # generic only in the stubs
    """Names of methods to handlers, without generated code: the types of the client serialize themselves."""

    def __init__(self, api: CloudTasks, secret: str) -> None:
        """Only a caller that sends `secret` is served: nothing else on this port tells our own services from others."""
        self._bearer = f"Bearer {secret}".encode()
        self._handlers = {
            f"/{SERVICE}/{name}": grpc.unary_unary_rpc_method_handler(_guarded(method), request.deserialize, _serialize)
            for name, request, method in _methods(api)
        }

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[Any, Any]":
        """The handler; for the service's other methods one that says UNIMPLEMENTED."""
        if not self._is_ours(handler_call_details.invocation_metadata):
            return grpc.unary_unary_rpc_method_handler(_turn_away)
        method = handler_call_details.method
        known = self._handlers.get(method)
        return known or grpc.unary_unary_rpc_method_handler(_refuser(method.rpartition("/")[2]))

    def _is_ours(self, metadata: Any) -> bool:
        sent = [value for name, value in metadata or () if name == "authorization"]
        return len(sent) == 1 and hmac.compare_digest(sent[0].encode("utf-8", "surrogatepass"), self._bearer)


def _turn_away(_request: Any, context: grpc.ServicerContext) -> Any:
    return context.abort(grpc.StatusCode.UNAUTHENTICATED, "The queue's secret is missing or wrong.")


def _methods(api: CloudTasks) -> list[tuple[str, Any, Callable[[Any], Any]]]:
    return [
        ("CreateTask", CreateTaskRequest, api.create_task),
        ("GetTask", GetTaskRequest, api.get_task),
        ("ListTasks", ListTasksRequest, api.list_tasks),
        ("DeleteTask", DeleteTaskRequest, api.delete_task),
        ("CreateQueue", CreateQueueRequest, api.create_queue),
        ("GetQueue", GetQueueRequest, api.get_queue),
        ("DeleteQueue", DeleteQueueRequest, api.delete_queue),
        ("PauseQueue", PauseQueueRequest, api.pause_queue),
        ("ResumeQueue", ResumeQueueRequest, api.resume_queue),
        ("PurgeQueue", PurgeQueueRequest, api.purge_queue),
    ]


def _serialize(message: Any) -> bytes:
    """Empty is a plain protobuf message, the rest are proto-plus."""
    return message.SerializeToString() if isinstance(message, Empty) else type(message).serialize(message)


def _guarded(method: Callable[[Any], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
    """Turn refusals, and a database that is away, into a status."""

    def call(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(request)
        except Refusal as refusal:
            code, detail = refusal.code, refusal.detail
        except (SQLAlchemyError, OSError) as error:  # pg8000 lets a lost connection through as it came
            tell = event if is_away(error) else failure
            tell("task_queue_database", "the task queue cannot use its database", reason=type(error).__name__)
            code, detail = grpc.StatusCode.UNAVAILABLE, "The task queue cannot use its database."
        except Exception:  # noqa: BLE001 - grpc would send its text to the caller
            failure("task_queue_fault", "a call to the task queue failed")
            code, detail = grpc.StatusCode.INTERNAL, "The task queue failed."
        return context.abort(code, detail)

    return call


def _refuser(name: str) -> Callable[[Any, grpc.ServicerContext], Any]:
    def call(_request: Any, context: grpc.ServicerContext) -> Any:
        return context.abort(grpc.StatusCode.UNIMPLEMENTED, f"The local task queue does not offer {name}.")

    return call
