"""The OpenAPI 3.1 document, generated from `views`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from evercrawl.model import __version__
from evercrawl.web.auth import AccessScope
from evercrawl.web.endpoints import KEY_PATTERN, MAX_KEY_CHARS
from evercrawl.web.route import API, Action, Parameter, View, path_parameters
from evercrawl.web.table_page import row_schema
from evercrawl.web.views import PROTOCOLS, ProtocolRoute, operations

_ERRORS = {
    "400": "The request is not valid; `detail` says why.",
    "401": "The token is missing or not valid.",
    "403": "The scope is not sufficient, or the request comes from another site.",
    "404": "The collection does not know it.",
    "409": "The collection is in use, or it exists already.",
    "413": "The request is too large.",
    "415": "The body is neither a form nor JSON.",
    "421": "The host is unknown.",
    "422": "A value is not valid; `detail` says why.",
    "429": "Too many requests.",
    "503": "The collection cannot be read now, or the answer is still being computed.",
}
_SUCCESS = {
    200: "Success.",
    201: "Created; `Location` is the new resource.",
    202: "Started; `Location` is where to look.",
    204: "Done; there is no body.",
}
_PROBLEM = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Repeat a request with the same key, and it is done once; the first response is sent again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS, "pattern": f"^{KEY_PATTERN.pattern}$"},
}

_IN_PATH = {
    "url": "URL of the page, not escaped.",
    "token": "Token of the subscription.",
    "id": "Key of the task.",
    "name": "Name of the backup.",
}


def openapi_document(
    *,
    base: str = "",
    known: Mapping[str, Mapping[str, View | Action]] | None = None,
    protocols: Sequence[ProtocolRoute] = PROTOCOLS,
) -> dict[str, Any]:
    """Return the OpenAPI document of a collection, below `base`, or of other operations and protocols."""
    paths: dict[str, Any] = {}
    for path, found in (operations() if known is None else known).items():
        paths[API + path] = {
            method.lower(): _view(one) if isinstance(one, View) else _action(one) for method, one in found.items()
        }
    for protocol in protocols:
        for method in protocol.methods:
            paths.setdefault(protocol.openapi_path, {})[method.lower()] = _protocol(protocol, method)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "evercrawl",
            "version": __version__,
            "description": "Everything that `evercrawl serve` shows and does.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base or "/"}],
        "security": [{"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Scopes: read, operate, admin."},
                "session": {"type": "apiKey", "in": "cookie", "name": "evercrawl_session_PORT"},
            },
            "schemas": {"Problem": _PROBLEM},
        },
    }


def _view(view: View) -> dict[str, Any]:
    return {
        "operationId": view.name,
        "summary": view.text,
        "tags": ["view"],
        "x-scope": view.scope.label,
        "parameters": _parameters(view.parameters, view.resource),
        "responses": _responses({"application/json": {"schema": _view_schema(view)}}),
    }


def _view_schema(view: View) -> dict[str, Any]:
    found = _response_schema(view.name)
    if view.table:
        rows = {"type": "array", "items": row_schema(view.columns)}
        cursor = {"type": ["string", "null"]}
        found["properties"] |= {view.table: rows, "next": cursor, "previous": cursor, "complete": {"type": "boolean"}}
        found["required"] = [*found["required"], view.table, "next", "previous", "complete"]
    return found


def _action(action: Action) -> dict[str, Any]:
    in_path = path_parameters(action.resource)
    sent = tuple(one for one in action.parameters if one.name not in in_path)
    described = tuple(one for one in action.parameters if one.name in in_path)
    content = {"application/json": {"schema": _response_schema(action.name)}}
    found: dict[str, Any] = {
        "operationId": action.name,
        "summary": action.text,
        "tags": ["change"],
        "x-scope": action.scope.label,
        "parameters": _parameters(action.parameters if action.method == "DELETE" else described, action.resource),
        "responses": _responses(content, status=action.status),
    }
    if action.method == "POST":
        found["parameters"].append(_KEY)
    if action.method != "DELETE" and sent:
        properties = {one.name: one.schema() | {"description": one.text} for one in sent}
        required = [one.name for one in sent if one.required]
        body = {"type": "object", "additionalProperties": False, "properties": properties}
        if required:
            body["required"] = required
        found["requestBody"] = {"required": bool(required), "content": {"application/json": {"schema": body}}}
    return found


def _parameters(parameters: Sequence[Parameter], resource: str) -> list[dict[str, Any]]:
    in_path = path_parameters(resource)
    return [_parameter(one, in_path=one.name in in_path) for one in parameters]


def _protocol(protocol: ProtocolRoute, method: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": f"{protocol.name}-{method.lower()}" if len(protocol.methods) > 1 else protocol.name,
        "summary": protocol.text,
        "tags": ["protocols"],
        "x-scope": "none" if protocol.scope is None else protocol.scope.label,
        "parameters": [_parameter(one) for one in (protocol.parameters if method == "GET" else ())],
        "responses": _responses({kind: {} for kind in protocol.media_types}, more=protocol.statuses),
    }
    if protocol.in_path:
        found["parameters"].append(
            {
                "name": protocol.in_path,
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1},
                "description": _IN_PATH[protocol.in_path],
            }
        )
    if protocol.scope is None:
        found["security"] = []
    if method == "POST" and not protocol.body:
        found["requestBody"] = {"required": True, "content": {"application/octet-stream": {}}}
    elif method == "POST":
        properties = {one.name: one.schema() | {"description": one.text} for one in protocol.body}
        schema = {"type": "object", "properties": properties}
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return found


def _parameter(one: Parameter, *, in_path: bool = False) -> dict[str, Any]:
    found = {"name": one.name, "in": "query", "description": one.text, "required": one.required}
    if in_path:
        found |= {"in": "path", "required": True, "description": f"{one.text} Percent-encoded."}
        return found | {"schema": {"minLength": 1} | one.schema() if one.kind in ("text", "url") else one.schema()}
    return found | {"schema": one.schema()}


def _response_schema(name: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["schema"],
        "properties": {"schema": {"type": "string", "const": f"evercrawl.{name}/1"}},
    }


def _responses(content: dict[str, Any], *, status: int = 200, more: Mapping[str, str] | None = None) -> dict[str, Any]:
    error: dict[str, Any] = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    found: dict[str, Any] = {str(status): {"description": _SUCCESS[status], "content": content}}
    if status == HTTPStatus.NO_CONTENT:
        del found[str(status)]["content"]
    if more is not None:
        error["text/html"] = {}  # For browsers.
        found |= {code: {"description": text, "content": content} for code, text in more.items() if code < "400"}
    errors = {**_ERRORS, **{code: text for code, text in (more or {}).items() if code >= "400"}}
    found |= {code: {"description": text, "content": error} for code, text in sorted(errors.items())}
    return found


def scopes() -> dict[str, str]:
    """Return what each scope allows."""
    return {
        AccessScope.READ.label: "read everything except alerts and secrets",
        AccessScope.OPERATE.label: "start, pause and stop crawls, request visits, manage alerts and rules, remove",
        AccessScope.ADMIN.label: "change settings, mail, tokens and the password; make and restore backups",
    }


OPENAPI_PATH = f"{API}/openapi.json"
