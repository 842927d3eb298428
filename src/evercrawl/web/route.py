"""Views, actions and their parameters.
A view is one function that collects data; it has a page, its JSON and a resource of the API. An action is one function
that changes something; it has a form target and a method of a resource. The OpenAPI document is generated from them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from evercrawl.errors import ConfigError
from evercrawl.model.table import TableColumn
from evercrawl.model.time import parse_time
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope, User

API = "/api/v1"
MAX_TEXT_CHARS = 8192
_SLOT = re.compile(r"\{(\w+)\}")
ParameterKind = Literal["text", "url", "integer", "time", "bool", "choice", "texts", "list"]
_TIME_PATTERN = "^(|now|today|yesterday|[0-9.]+ ?[A-Za-z]+( ago)?|[0-9]{4}[-0-9]*([ T][0-9:.]+(Z|[+-][0-9:]+)?)?)$"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


class BadRequest(Exception):
    """A request that gets an error: status, message, and when to retry."""

    def __init__(
        self, message: str, status: int = 400, *, retry_after_s: int | None = None, back: str = "", offer: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after_s = retry_after_s
        self.offer = offer  # A URL that the error page offers to add.
        self.back = back  # The page that shows the problem beside its form; browsers are sent there.


@dataclass(frozen=True, slots=True)
class Inputs:
    """The parameters of a request, the user and the requested host."""

    values: Mapping[str, Any]
    user: User
    host: str
    is_page: bool = False  # A person waits for the answer, who can see it grow.

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True, slots=True)
class View:
    """A page; `collect` returns the data of the page and of its JSON, and gives it its name and description."""

    path: str  # Empty if there is only a resource.
    resource: str  # Such as /sites/{name}, below the API; empty if there is only a page.
    collect: Callable[[AppState, Inputs], dict[str, Any]]
    parameters: tuple[Parameter, ...] = ()
    scope: AccessScope = AccessScope.READ
    title: str = ""  # Label in the navigation; empty if the page is not listed there.
    group: str = ""  # Group in the navigation; empty: always visible.
    is_used: Callable[[AppState], bool] | None = None  # The navigation hides the page while this is false.
    table: str = ""  # Field of the JSON that has the rows, if the page is a table.
    columns: tuple[TableColumn, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the page, its template and its resource."""
        return _name_of(self.collect)

    @property
    def text(self) -> str:
        """Return what it shows, in a sentence."""
        return inspect.getdoc(self.collect) or ""

    @property
    def json_path(self) -> str:
        """Return the path of the page's JSON."""
        return f"{self.path}.json" if self.path != "/" else f"/{self.name}.json"

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the page, of its JSON, and of the CSV of a table."""
        return (self.path, self.json_path, *([f"{self.path}.csv"] if self.table else []))


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What an action did, and the page that shows it."""

    message: str
    location: str = "/"
    data: Mapping[str, Any] | None = None
    resource: str = ""  # What was created or started, below the API.
    has_secret: bool = False  # The message contains a secret: show it now, and put it in no URL.
    audit_values: Mapping[str, Any] | None = None
    """Values for the audit log in place of the inputs; None: log the inputs."""


@dataclass(frozen=True, slots=True)
class Action:
    """A change to the collection or the interface, named and described by its function; the audit log records it."""

    operation: str  # Method and resource of the API, such as POST /alerts.
    run: Callable[[AppState, Inputs], ActionResult]
    parameters: tuple[Parameter, ...] = ()
    scope: AccessScope = AccessScope.OPERATE
    secret: frozenset[str] = frozenset()  # Parameters that the audit log leaves out.
    status: int = 200  # Of a success: 201 created, 202 started, 204 without a body.

    @property
    def name(self) -> str:
        """Return the name of the action in forms and in the audit log."""
        return _name_of(self.run)

    @property
    def text(self) -> str:
        """Return what it does, in a sentence."""
        return inspect.getdoc(self.run) or ""

    @property
    def path(self) -> str:
        """Return the target of forms."""
        return f"/do/{self.name}"

    @property
    def method(self) -> str:
        """Return the method in the API."""
        return self.operation.partition(" ")[0]

    @property
    def resource(self) -> str:
        """Return the resource in the API."""
        return self.operation.partition(" ")[2]


def _name_of(handler: Callable[..., object]) -> str:
    return handler.__name__.replace("_", "-")


def path_parameters(resource: str) -> tuple[str, ...]:
    """Return the names in braces."""
    return tuple(_SLOT.findall(resource))


def resource_path(resource: str, **values: object) -> str:
    """Return the path of a resource in the API, with the values percent-encoded."""
    return API + _SLOT.sub(lambda slot: quote(str(values[slot[1]]), safe=""), resource)


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
    longest: int = MAX_TEXT_CHARS
    pattern: str = ""  # For the schema; whoever reads the value explains what is wrong with it.

    def parse(self, text: str | None, *, now: datetime) -> Any:
        """Return the typed value; raise BadRequest if the text is not valid."""
        if text is None or (text == "" and self.kind != "bool"):
            if self.required:
                raise BadRequest(f"{self.name} is missing: {self.text}")
            text = self.default
            if not isinstance(text, str):
                return () if self.kind == "texts" else text
        if len(text) > self.longest:
            raise BadRequest(f"{self.name} is longer than {self.longest:,} characters")
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
        digits = text.removeprefix("-") if self.minimum < 0 else text
        if not digits.isascii() or not digits.isdigit() or len(digits) > 16:
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
            case "texts":
                found = {"type": "array", "items": {"type": "string", "maxLength": self.longest}}
            case "time":
                found = {"type": "string", "maxLength": self.longest, "pattern": _TIME_PATTERN}
            case _:
                found = {"type": "string", "maxLength": self.longest}
        if self.required and found["type"] == "string" and self.kind != "choice":
            found["minLength"] = 1
        if self.pattern:
            found["pattern"] = f"^{self.pattern}$"
        return found if self.default is None else found | {"default": self.default}


URL_PARAMETER = Parameter("url", "URL of the page.", "url", required=True)
SITE_PARAMETER = Parameter("name", "Origin or host of the site, such as https://example.org.", required=True)
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
