"""The gRPC service google.cloud.tasks.v2.CloudTasks, for the two methods that the product calls."""

import hmac
from collections.abc import Callable, Mapping
from typing import Any

import grpc
from google.cloud.tasks_v2.types import CreateTaskRequest, GetQueueRequest, HttpRequest, Queue, Task
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from deploy.parts.task_queue import messages, store, validation
from deploy.parts.task_queue.validation import QUEUE_NAME, Permitted, Refusal, matched
from shared.postgres.door import database_now, is_away, transaction
from shared.structured_log import event, failure

SERVICE = "google.cloud.tasks.v2.CloudTasks"


class CloudTasks:
    """The methods; each raises Refusal for any status but OK."""

    def __init__(
        self, engine: Engine, queues: Mapping[str, Queue], permitted: Permitted, on_change: Callable[[], None]
    ) -> None:
        """`queues` are given by full name; `on_change` is called after each new task."""
        self._engine = engine
        self._queues = queues
        self._permitted = permitted
        self._on_change = on_change

    def create_task(self, request: CreateTaskRequest) -> Task:
        """Store a new task. Raises Refusal, also when its name is taken or was taken within the last 24 h."""
        parent, task = matched(QUEUE_NAME, request.parent, "parent"), request.task
        identifier = validation.task_id(parent, task.name)
        validation.check_task(task, self._permitted)
        deadline = validation.dispatch_deadline(task)
        self._queue(parent)
        with transaction(self._engine) as connection:
            now = database_now(connection)
            row = store.insert_task(
                connection,
                queue=parent,
                task_id=identifier,
                http_request=HttpRequest.serialize(task.http_request),
                dispatch_deadline_ms=round(deadline.total_seconds() * 1000),
                scheduled_at=validation.schedule_time(task, now),
                now=now,
            )
            if row is None:
                raise Refusal(grpc.StatusCode.ALREADY_EXISTS, "A task of this name exists, or did within 24 h.")
        self._on_change()
        return messages.task_message(row)

    def get_queue(self, request: GetQueueRequest) -> Queue:
        """A queue with its settings. Fails while the database is away: the queue could not store a task."""
        queue = self._queue(matched(QUEUE_NAME, request.name, "name"))
        with transaction(self._engine) as connection:
            database_now(connection)
        return queue

    def _queue(self, name: str) -> Queue:
        if name not in self._queues:
            raise Refusal(grpc.StatusCode.NOT_FOUND, "The queue does not exist.")
        return self._queues[name]


class GenericHandler(grpc.GenericRpcHandler):  # type: ignore[type-arg] # generic only in the stubs
    """Maps method names to handlers, without generated code: the client library's types serialize themselves."""

    def __init__(self, api: CloudTasks, secret: str) -> None:
        """Callers must send `secret`: the port has no other authentication."""
        self._bearer = f"Bearer {secret}".encode()
        self._handlers = {
            f"/{SERVICE}/{name}": grpc.unary_unary_rpc_method_handler(_guarded(method), request.deserialize, _serialize)
            for name, request, method in _methods(api)
        }

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[Any, Any]":
        """The handler of the method; for the service's other methods one that answers UNIMPLEMENTED."""
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
    return [("CreateTask", CreateTaskRequest, api.create_task), ("GetQueue", GetQueueRequest, api.get_queue)]


def _serialize(message: Any) -> bytes:
    data: bytes = type(message).serialize(message)
    return data


def _guarded(method: Callable[[Any], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
    """Turn every error into a gRPC status."""

    def call(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(request)
        except Refusal as refusal:
            code, detail = refusal.code, refusal.detail
        except (SQLAlchemyError, OSError) as error:  # pg8000 raises OSError for a lost connection
            tell = event if is_away(error) else failure
            tell("task_queue_database", "the task queue cannot use its database", reason=type(error).__name__)
            code, detail = grpc.StatusCode.UNAVAILABLE, "The task queue cannot use its database."
        except Exception:  # noqa: BLE001 - grpc would send the exception's text to the caller
            failure("task_queue_fault", "a call to the task queue failed")
            code, detail = grpc.StatusCode.INTERNAL, "The task queue failed."
        return context.abort(code, detail)

    return call


def _refuser(name: str) -> Callable[[Any, grpc.ServicerContext], Any]:
    def call(_request: Any, context: grpc.ServicerContext) -> Any:
        return context.abort(grpc.StatusCode.UNIMPLEMENTED, f"The local task queue does not offer {name}.")

    return call
