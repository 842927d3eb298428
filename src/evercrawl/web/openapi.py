"""The description of the API (OpenAPI 3.1), made from the table of routes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercrawl.model import __version__
from evercrawl.web.auth import AccessScope
from evercrawl.web.route import API, Action, Parameter, View
from evercrawl.web.views import ACTIONS, PROTOCOLS, VIEWS, ProtocolRoute

_ERRORS = {
    "400": "What was inputs cannot be read; `error` says why.",
    "401": "No token, or one that is worth nothing.",
    "403": "The scope does not suffice, or the request comes from another site.",
    "404": "The collection does not know it.",
    "409": "The collection is in use.",
    "413": "The request is too large.",
    "415": "The body is neither a form nor JSON.",
    "421": "The Host is not one of ours.",
    "429": "Too many requests.",
    "503": "The collection cannot be read now, or an answer is still being computed.",
}
_ERROR = {
    "type": "object",
    "required": ["schema", "status", "error"],
    "properties": {"schema": {"type": "string"}, "status": {"type": "integer"}, "error": {"type": "string"}},
}

_IN_PATH = {"url": "The page's URL, as it is.", "token": "The word that a subscription is known by."}


def description() -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, Any] = {}
    for view in VIEWS:
        paths.setdefault(view.api_path, {})["get"] = _view(view)
    for action in ACTIONS:
        paths.setdefault(action.api_path, {})["post"] = _action(action)
    for standard in PROTOCOLS:
        for method in standard.methods:
            paths.setdefault(standard.described_path, {})[method.lower()] = _standard(standard, method)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "evercrawl",
            "version": __version__,
            "description": "Everything that the pages of `evercrawl serve` show and do.",
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
        "tags": ["look"],
        "x-scope": view.scope.word,
        "parameters": [_parameter(one) for one in view.parameters],
        "responses": _answers({"application/json": {"schema": _answer(view.name)}}),
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
        "x-scope": action.scope.word,
        "requestBody": {"required": bool(required), "content": {"application/json": {"schema": body}}},
        "responses": _answers({"application/json": {"schema": _answer(action.name)}}),
    }


def _standard(standard: ProtocolRoute, method: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": f"{standard.name}-{method.lower()}" if len(standard.methods) > 1 else standard.name,
        "summary": standard.text,
        "tags": ["standards"],
        "x-scope": "none" if standard.scope is None else standard.scope.word,
        "parameters": [_parameter(one) for one in (standard.parameters if method == "GET" else ())],
        "responses": _answers({kind: {} for kind in standard.media_types}, more=standard.statuses),
    }
    if standard.in_path:
        found["parameters"].append(
            {
                "name": standard.in_path,
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1},
                "description": _IN_PATH[standard.in_path],
            }
        )
    if standard.scope is None:
        found["security"] = []
    if method == "POST" and not standard.body:
        found["requestBody"] = {"required": True, "content": {"application/octet-stream": {}}}
    elif method == "POST":
        properties = {one.name: one.schema() | {"description": one.text} for one in standard.body}
        schema = {"type": "object", "properties": properties}
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return found


def _parameter(one: Parameter) -> dict[str, Any]:
    found = {"name": one.name, "in": "query", "description": one.text, "required": one.required}
    return found | {"schema": one.schema()}


def _answer(name: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["schema"],
        "properties": {"schema": {"type": "string", "const": f"evercrawl.{name}/1"}},
    }


def _answers(content: dict[str, Any], *, more: Mapping[str, str] | None = None) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    found: dict[str, Any] = {"200": {"description": "As inputs.", "content": content}}
    found |= {status: {"description": text} for status, text in (more or {}).items()}
    for status, text in _ERRORS.items():
        found.setdefault(status, {"description": text, "content": error})
    return found


def scopes() -> dict[str, str]:
    """Every scope with what it allows."""
    return {
        AccessScope.READ.word: "look at everything but secrets",
        AccessScope.OPERATE.word: "start and stop crawls, ask for visits, see and change alerts",
        AccessScope.ADMIN.word: "change settings, tokens and the password",
    }


API_DESCRIPTION = f"{API}/openapi.json"
