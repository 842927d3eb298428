"""The OpenAPI 3.1 document, generated from `views`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercrawl.model import __version__
from evercrawl.web.auth import AccessScope
from evercrawl.web.route import API, Action, Parameter, View
from evercrawl.web.views import ACTIONS, PROTOCOLS, VIEWS, ProtocolRoute

_ERRORS = {
    "400": "A parameter is not valid; `error` says why.",
    "401": "The token is missing or not valid.",
    "403": "The scope is not sufficient, or the request comes from another site.",
    "404": "The collection does not know it.",
    "409": "The collection is in use.",
    "413": "The request is too large.",
    "415": "The body is neither a form nor JSON.",
    "421": "The host is unknown.",
    "429": "Too many requests.",
    "503": "The collection cannot be read now, or the answer is still being computed.",
}
_ERROR = {
    "type": "object",
    "required": ["schema", "status", "error"],
    "properties": {"schema": {"type": "string"}, "status": {"type": "integer"}, "error": {"type": "string"}},
}

_IN_PATH = {"url": "URL of the page, not escaped.", "token": "Token of the subscription."}


def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    paths: dict[str, Any] = {}
    for view in VIEWS:
        paths.setdefault(view.api_path, {})["get"] = _view(view)
    for action in ACTIONS:
        paths.setdefault(action.api_path, {})["post"] = _action(action)
    for protocol in PROTOCOLS:
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
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Scopes: read, operate, admin."},
                "session": {"type": "apiKey", "in": "cookie", "name": "evercrawl_session_PORT"},
            },
            "schemas": {"Error": _ERROR},
        },
    }


def _view(view: View) -> dict[str, Any]:
    return {
        "operationId": view.name,
        "summary": view.text,
        "tags": ["view"],
        "x-scope": view.scope.label,
        "parameters": [_parameter(one) for one in view.parameters],
        "responses": _responses({"application/json": {"schema": _response_schema(view.name)}}),
    }


def _action(action: Action) -> dict[str, Any]:
    properties = {one.name: one.schema() | {"description": one.text} for one in action.parameters}
    required = [one.name for one in action.parameters if one.required]
    body = {"type": "object", "additionalProperties": False, "properties": properties}
    if required:
        body["required"] = required
    return {
        "operationId": action.name,
        "summary": action.text,
        "tags": ["change"],
        "x-scope": action.scope.label,
        "requestBody": {"required": bool(required), "content": {"application/json": {"schema": body}}},
        "responses": _responses({"application/json": {"schema": _response_schema(action.name)}}),
    }


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


def _parameter(one: Parameter) -> dict[str, Any]:
    found = {"name": one.name, "in": "query", "description": one.text, "required": one.required}
    return found | {"schema": one.schema()}


def _response_schema(name: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["schema"],
        "properties": {"schema": {"type": "string", "const": f"evercrawl.{name}/1"}},
    }


def _responses(content: dict[str, Any], *, more: Mapping[str, str] | None = None) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    found: dict[str, Any] = {"200": {"description": "Success.", "content": content}}
    found |= {status: {"description": text} for status, text in (more or {}).items()}
    for status, text in _ERRORS.items():
        found.setdefault(status, {"description": text, "content": error})
    return found


def scopes() -> dict[str, str]:
    """Return what each scope allows."""
    return {
        AccessScope.READ.label: "read everything except alerts and secrets",
        AccessScope.OPERATE.label: "start and stop crawls, request visits, manage alerts and rules",
        AccessScope.ADMIN.label: "change settings, tokens and the password",
    }


OPENAPI_PATH = f"{API}/openapi.json"
