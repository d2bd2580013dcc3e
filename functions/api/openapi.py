"""Make the OpenAPI 3.1 document from the declarations of the routes."""

from collections.abc import Iterable, Sequence
from inspect import cleandoc
from re import sub
from typing import Any, Final

import msgspec
from werkzeug.http import HTTP_STATUS_CODES  # the standard library's phrases differ between Python versions

from functions.api import idempotency
from functions.api.routing import FORM, JSON, Bound, Endpoint, Routes
from functions.problems import (
    PROBLEM_JSON,
    BodyTooLarge,
    DatabaseUnavailable,
    InternalError,
    InvalidField,
    MalformedJson,
    PathUnknown,
    UriTooLong,
    status_of,
)
from shared import errors
from shared.version import version
from shared.words.sentences import Sentence

TITLE: Final = "Signage Fleet API"
PATH_SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "uuid": {"type": "string", "format": "uuid"},
    "id": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
    "string": {"type": "string"},
    "path": {"type": "string"},
}


class Problem(msgspec.Struct, kw_only=True):
    """An RFC 9457 problem document; an error's own fields stand beside these."""

    type: str
    title: str
    status: int
    detail: str
    detail_code: str
    code: str
    request_id: str


class FieldProblem(msgspec.Struct, kw_only=True):
    """One field or parameter that is not as expected."""

    field: str
    why: Sentence


def document(blueprints: Sequence[Routes]) -> dict[str, Any]:
    """The whole document as JSON values."""
    endpoints = [endpoint for routes in blueprints for endpoint in routes.endpoints]
    schemas = _Schemas(endpoints)
    paths: dict[str, dict[str, Any]] = {}
    for routes in blueprints:
        for endpoint in routes.endpoints:
            path = paths.setdefault(_template(endpoint.path), {})
            path[endpoint.method.lower()] = _operation(routes, endpoint, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": version(), "description": _ABOUT},
        "servers": [{"url": "/"}],
        "tags": [{"name": routes.name, "description": routes.about} for routes in blueprints],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "headers": _ANSWER_HEADERS,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "bearerFormat": "sgn_<id>_<secret>_<crc32>[.<seal>]"},
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "signage_session",
                    "description": "Where the service is reached by TLS, the name is `__Host-signage_session`.",
                },
            },
        },
    }


_ABOUT: Final = (
    "Times are RFC 3339 in UTC. Errors are RFC 9457 problem documents whose `code` says which. "
    "Lists take `limit` and `cursor` and answer `items` and `next_cursor`. "
    "Sentences for people are in the language that Accept-Language prefers, or in English: scripts match on `code`. "
    "Changes made with the session cookie need the header `X-Requested-With: signage`. "
    "`x-sites` says what callers of chosen sites may do: `clients` and `lists` show them their sites only, `fleet` is "
    "refused (`site_not_allowed`), `none` is not about clients."
)


_ANSWER_HEADERS: Final[dict[str, Any]] = {
    "RequestId": {
        "description": "names this request in the logs: the caller's own id, or a new one",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{8,64}$"},
    },
    "Challenge": {"description": "how to authenticate", "required": True, "schema": {"type": "string"}},
    "RetryAfter": {"description": "seconds", "required": True, "schema": {"type": "integer", "minimum": 0}},
}


class _Schemas:
    """The JSON schema of every shape that the endpoints use, each once under components."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        shapes: list[Any] = [Problem, FieldProblem]
        for endpoint in endpoints:
            shapes += [s for s in (endpoint.body, endpoint.query, endpoint.answer) if _is_shape(s)]
        shapes, places = list(dict.fromkeys(shapes)), "#/components/schemas/{name}"
        found, components = msgspec.json.schema_components(shapes, schema_hook=_sentence, ref_template=places)
        self._of = dict(zip(shapes, found, strict=True))
        self.components: dict[str, Any] = dict(components)
        for schema in self.components.values():  # only Python 3.13 removes a docstring's indentation itself
            if "description" in schema:
                schema["description"] = cleandoc(schema["description"])
        _spell_out(self.components)
        self.components.get("Client", {})["x-go-name"] = "ListedDisplay"  # in Go `Client` is the generated client
        self.components["Problem"]["properties"]["errors"] = {
            "type": "array",
            "items": {"$ref": "#/components/schemas/FieldProblem"},
        }

    def of(self, shape: Any) -> dict[str, Any]:
        """The schema of a shape; a reference when the shape has a name."""
        return dict(self._of[shape])

    def properties(self, shape: Any) -> dict[str, Any]:
        """The fields of a Struct with their schemas."""
        return dict(self.components[self._of[shape]["$ref"].rsplit("/", 1)[1]])


def _spell_out(schema: Any) -> None:
    """Describe what generators of clients do not take: tuples as lists of some length, a choice's default in words."""
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _spell_out(inner)
    if isinstance(schema, dict) and "anyOf" in schema and schema.get("default") is not None:
        schema["description"] = f"by default {schema.pop('default')}"
    if isinstance(schema, dict) and isinstance(schema.get("prefixItems"), list):
        kinds = [kind for at, kind in enumerate(schema["prefixItems"]) if kind not in schema["prefixItems"][:at]]
        del schema["prefixItems"]
        schema["items"] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def _sentence(shape: type) -> dict[str, Any]:
    """The schema of a type that msgspec does not know: a sentence. Raises NotImplementedError for others."""
    if shape is not Sentence:
        raise NotImplementedError
    return {"type": "string"}


def _is_shape(shape: Any) -> bool:
    return shape is not None and shape is not type(None) and getattr(shape, "__module__", "") != "flask.wrappers"


def _operation(routes: Routes, endpoint: Endpoint, schemas: _Schemas) -> dict[str, Any]:
    text = " ".join((endpoint.handler.__doc__ or "").split())
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [routes.name],
        "summary": text.split(". ")[0].rstrip("."),
        "description": text,
        "parameters": _parameters(endpoint, schemas),
        "responses": _responses(endpoint, schemas),
        "security": [] if endpoint.role is None else [{"token": []}, {"session": []}],
        "x-role": "public" if endpoint.role is None else endpoint.role.value,
        "x-sites": endpoint.bound.name.lower(),
    }
    if content_type := endpoint.upload or endpoint.takes:
        operation["requestBody"] = _upload_body(content_type)
    elif endpoint.body is not None:
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schemas.of(endpoint.body)}}}
    return operation


_BYTES: Final[dict[str, Any]] = {"type": "string", "format": "binary"}
_TEXT: Final[dict[str, Any]] = {"type": "string"}
_FILE_FORM: Final = {
    "type": "object",
    "properties": {"file": {"type": "string", "contentMediaType": "application/octet-stream"}},
    "required": ["file"],
}


def _upload_body(content_type: str) -> dict[str, Any]:
    schema = _FILE_FORM if content_type == FORM else _BYTES
    return {"required": True, "content": {content_type: {"schema": schema}}}


def _parameters(endpoint: Endpoint, schemas: _Schemas) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": PATH_SCHEMAS[_converter(endpoint.path, name)]}
        for name in endpoint.path_parameters
    ]
    if endpoint.query is not None:
        shape = schemas.properties(endpoint.query)
        required = shape.get("required", [])
        found += [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in shape["properties"].items()
        ]
    found += [
        {
            "name": name,
            "in": "header",
            "required": header.required,
            "description": header.meaning,
            "schema": dict(header.schema),
        }
        for name, header in endpoint.headers.items()
    ]
    return found


def _responses(endpoint: Endpoint, schemas: _Schemas) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, meaning in endpoint.statuses.items():
        responses[str(status)] = {
            "description": meaning,
            "headers": _headers(status),
            **_content(endpoint, status, schemas),
        }
    for status, codes in sorted(_problems(endpoint).items()):
        responses[str(status)] = {
            "description": f"{HTTP_STATUS_CODES[status]}: {', '.join(sorted(codes))}",
            "headers": _headers(status),
            "content": {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
    return responses


def _headers(status: int) -> dict[str, Any]:
    """The headers that every answer of this status has."""
    found = {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}
    if status == 401:
        found["WWW-Authenticate"] = {"$ref": "#/components/headers/Challenge"}
    if status in {423, 429, 503}:
        found["Retry-After"] = {"$ref": "#/components/headers/RetryAfter"}
    return found


def _content(endpoint: Endpoint, status: int, schemas: _Schemas) -> dict[str, Any]:
    if status in {204, 303, 304} or endpoint.answer is type(None):
        return {}
    return {
        "content": {
            media_type: {"schema": schemas.of(endpoint.answer) if _is_shape(endpoint.answer) else _of_file(media_type)}
            for media_type in endpoint.produces
        }
    }


def _of_file(media_type: str) -> dict[str, Any]:
    return {"type": "object"} if media_type == JSON else _TEXT if media_type.startswith("text/") else _BYTES


def _problems(endpoint: Endpoint) -> dict[int, set[str]]:
    """The error codes by status: the endpoint's own, and the app's for every endpoint."""
    raised: list[type[errors.ServiceError]] = [*endpoint.raises, InvalidField, InternalError, UriTooLong]
    if endpoint.path_parameters:
        raised += [PathUnknown]
    if endpoint.role is not None:
        raised += [errors.InvalidIdentity, errors.Forbidden, errors.PasswordChangeRequired, DatabaseUnavailable]
        raised += [errors.SecondFactorSetupRequired]
        raised += [] if endpoint.bound is Bound.NONE else [errors.SiteNotAllowed]
    if endpoint.turns is not None:
        raised += endpoint.turns.refusals
    if endpoint.body is not None:
        raised += [MalformedJson, errors.UnsupportedMediaType]
    if idempotency.NAME in endpoint.headers:
        raised += [errors.IdempotencyKeyReused]
    if endpoint.method != "GET":
        raised += [BodyTooLarge, errors.CrossSiteRequest]
    found: dict[int, set[str]] = {}
    for error in raised:
        found.setdefault(status_of(error), set()).add(error.code)
    return found


def _template(path: str) -> str:
    return sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path)


def _converter(path: str, name: str) -> str:
    for part in path.split("<")[1:]:
        declared = part.split(">")[0]
        if declared.split(":")[-1] == name:
            return declared.split(":")[0] if ":" in declared else "string"
    raise LookupError(f"{path} has no parameter {name}")
