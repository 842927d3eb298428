"""Views, actions and their parameters.
A view is one function that collects data; it has a page, its JSON and an API path. An action is one function that
changes something; it has a form target and an API path. The OpenAPI document is generated from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from evercrawl.errors import ConfigError
from evercrawl.model.time import parse_time
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope, User

API = "/api/v1"
MAX_TEXT_CHARS = 8192
ParameterKind = Literal["text", "url", "integer", "time", "bool", "choice"]
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


class BadRequest(Exception):
    """A request that gets an error: status, message, and when to retry."""

    def __init__(self, message: str, status: int = 400, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Inputs:
    """The parameters of a request, the user and the requested host."""

    values: Mapping[str, Any]
    user: User
    host: str

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True, slots=True)
class View:
    """A page; `collect` returns the data of the page and of its JSON."""

    name: str
    path: str
    text: str
    collect: Callable[[AppState, Inputs], dict[str, Any]]
    parameters: tuple[Parameter, ...] = ()
    scope: AccessScope = AccessScope.READ
    title: str = ""  # Label in the navigation; empty if the page is not listed there.

    @property
    def json_path(self) -> str:
        """Return the path of the page's JSON."""
        return f"{self.path}.json" if self.path != "/" else f"/{self.name}.json"

    @property
    def api_path(self) -> str:
        """Return the path in the API."""
        return f"{API}/{self.name}"


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What an action did, and the page that shows it."""

    message: str
    location: str = "/"
    data: Mapping[str, Any] | None = None
    has_secret: bool = False  # The message contains a secret: show it now, and put it in no URL.
    audit_values: Mapping[str, Any] | None = None
    """Values for the audit log in place of the inputs; None: log the inputs."""


@dataclass(frozen=True, slots=True)
class Action:
    """A change to the collection or the interface; the audit log records it."""

    name: str
    text: str
    run: Callable[[AppState, Inputs], ActionResult]
    parameters: tuple[Parameter, ...] = ()
    scope: AccessScope = AccessScope.OPERATE
    secret: frozenset[str] = frozenset()  # Parameters that the audit log leaves out.

    @property
    def path(self) -> str:
        """Return the target of forms."""
        return f"/do/{self.name}"

    @property
    def api_path(self) -> str:
        """Return the path in the API."""
        return f"{API}/{self.name}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A typed parameter of a route."""

    name: str
    text: str
    kind: ParameterKind = "text"
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 2**53

    def parse(self, text: str | None, *, now: datetime) -> Any:
        """Return the typed value; raise BadRequest if the text is not valid."""
        if text is None or (text == "" and self.kind != "bool"):
            if self.required:
                raise BadRequest(f"{self.name} is missing: {self.text}")
            text = self.default
            if not isinstance(text, str):
                return text
        if len(text) > MAX_TEXT_CHARS:
            raise BadRequest(f"{self.name} is longer than {MAX_TEXT_CHARS:,} characters")
        if "\x00" in text:
            raise BadRequest(f"{self.name} contains a null character")
        return self._parse_typed(text, now)

    def _parse_typed(self, text: str, now: datetime) -> Any:
        match self.kind:
            case "integer":
                return self._parse_integer(text)
            case "bool":
                return self._parse_bool(text)
            case "time":
                return self._parse_time(text, now)
            case "choice" if text not in self.choices:
                raise BadRequest(f"{self.name} must be one of {', '.join(self.choices)}")
            case _:
                return text

    def _parse_integer(self, text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 16:
            raise BadRequest(f"{self.name} must be a whole number")
        number = int(text)
        if not self.minimum <= number <= self.maximum:
            raise BadRequest(f"{self.name} must be between {self.minimum:,} and {self.maximum:,}")
        return number

    def _parse_bool(self, text: str) -> bool:
        if text.lower() in _TRUE:
            return True
        if text.lower() in _FALSE:
            return False
        raise BadRequest(f"{self.name} must be true or false")

    def _parse_time(self, text: str, now: datetime) -> datetime:
        try:
            return parse_time(text, now=now)
        except ConfigError as error:
            raise BadRequest(f"{self.name}: {error}") from error

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the parameter."""
        match self.kind:
            case "integer":
                found: dict[str, Any] = {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}
            case "bool":
                found = {"type": "boolean"}
            case "choice":
                found = {"type": "string", "enum": list(self.choices)}
            case _:
                found = {"type": "string", "maxLength": MAX_TEXT_CHARS}
        if self.required and found["type"] == "string" and self.kind != "choice":
            found["minLength"] = 1
        return found if self.default is None else found | {"default": self.default}


AFTER = Parameter("after", "Continue a list: `next` of the previous response.")


def parse_cursor(after: str | None) -> int | None:
    """Return the number after the point of `after`; raise BadRequest if it is not valid."""
    _, _, number = (after or "").partition(".")
    if after and not (number.isascii() and number.isdigit()):
        raise BadRequest("after is not valid; start the list without it")
    return int(number[:15]) if number else None


def limit(default: int = 50, maximum: int = 500) -> Parameter:
    """Return the parameter for the maximum number of rows."""
    return Parameter("limit", "Maximum number of rows.", "integer", default=default, minimum=1, maximum=maximum)
