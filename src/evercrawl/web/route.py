"""What can be inputs: a table of views (to look at) and actions (to change something).

A view is one collector; from it come a page, its JSON twin and a path of the API. An action is one function;
from it come a form's target and a path of the API. The description of the API is made from the same table.
"""

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


@dataclass(frozen=True, slots=True)
class Inputs:
    """One request: its values by name, who asks, and at which host."""

    values: Mapping[str, Any]
    user: User
    host: str

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True, slots=True)
class View:
    """Something to look at; `collect` gives what the page and the JSON show."""

    name: str
    path: str
    text: str
    collect: Callable[[AppState, Inputs], dict[str, Any]]
    parameters: tuple[Parameter, ...] = ()
    scope: AccessScope = AccessScope.READ
    title: str = ""
    """In the navigation; empty: it is reached from elsewhere."""

    @property
    def twin(self) -> str:
        """The path of the JSON twin."""
        return f"{self.path}.json" if self.path != "/" else f"/{self.name}.json"

    @property
    def api_path(self) -> str:
        """The path in the API."""
        return f"{API}/{self.name}"


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What an action did, and which page shows it."""

    message: str
    show: str = "/"
    data: Mapping[str, Any] | None = None
    once: bool = False
    """The message holds a secret: it is shown here and now, and stands in no address."""
    told: Mapping[str, Any] | None = None
    """What goes into the book in place of what was inputs with; None: nothing has to be left out."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that changes the collection or the interface; it is written into the book."""

    name: str
    text: str
    do: Callable[[AppState, Inputs], ActionResult]
    parameters: tuple[Parameter, ...] = ()
    scope: AccessScope = AccessScope.OPERATE
    secret: frozenset[str] = frozenset()
    """Parameters whose values do not go into the book."""

    @property
    def path(self) -> str:
        """The target of forms."""
        return f"/do/{self.name}"

    @property
    def api_path(self) -> str:
        """The path in the API."""
        return f"{API}/{self.name}"


Kind = Literal["text", "url", "integer", "time", "bool", "choice"]
MAX_TEXT_CHARS = 8192
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


class BadRequest(Exception):
    """What was inputs cannot be answered: the status, a message for people, and when to ask again."""

    def __init__(self, message: str, status: int = 400, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a route."""

    name: str
    text: str
    kind: Kind = "text"
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 2**53

    def value(self, written: str | None, *, now: datetime) -> Any:
        """The typed value; BadRequest says what is wrong."""
        if written is None or (written == "" and self.kind != "bool"):
            if self.required:
                raise BadRequest(f"{self.name} is missing: {self.text}")
            written = self.default
            if not isinstance(written, str):
                return written
        if len(written) > MAX_TEXT_CHARS:
            raise BadRequest(f"{self.name} is longer than {MAX_TEXT_CHARS} characters")
        if "\x00" in written:
            raise BadRequest(f"{self.name} holds a character that cannot be used")
        return self._typed(written, now)

    def _typed(self, written: str, now: datetime) -> Any:
        match self.kind:
            case "integer":
                return self._whole(written)
            case "bool":
                return self._flag(written)
            case "time":
                return self._moment(written, now)
            case "choice" if written not in self.choices:
                raise BadRequest(f"{self.name} must be one of {', '.join(self.choices)}")
            case _:
                return written

    def _whole(self, written: str) -> int:
        if not written.isascii() or not written.isdigit() or len(written) > 16:
            raise BadRequest(f"{self.name} must be a whole number")
        number = int(written)
        if not self.least <= number <= self.most:
            raise BadRequest(f"{self.name} must be from {self.least} to {self.most}")
        return number

    def _flag(self, written: str) -> bool:
        if written.lower() in _TRUE:
            return True
        if written.lower() in _FALSE:
            return False
        raise BadRequest(f"{self.name} must be true or false")

    def _moment(self, written: str, now: datetime) -> datetime:
        try:
            return parse_time(written, now=now)
        except ConfigError as error:
            raise BadRequest(f"{self.name}: {error}") from error

    def schema(self) -> dict[str, Any]:
        """The parameter's JSON schema."""
        match self.kind:
            case "integer":
                found: dict[str, Any] = {"type": "integer", "minimum": self.least, "maximum": self.most}
            case "bool":
                found = {"type": "boolean"}
            case "choice":
                found = {"type": "string", "enum": list(self.choices)}
            case _:
                found = {"type": "string", "maxLength": MAX_TEXT_CHARS}
        if self.required and found["type"] == "string" and self.kind != "choice":
            found["minLength"] = 1
        return found if self.default is None else found | {"default": self.default}


AFTER = Parameter("after", "Where the list goes on: `next` of the portion before.")


def parse_cursor(after: str | None) -> int | None:
    """The number behind the point of `after`; BadRequest where it is none."""
    _, _, inside = (after or "").partition(".")
    if after and not (inside.isascii() and inside.isdigit()):
        raise BadRequest("after is not where a list can go on; begin without it")
    return int(inside[:15]) if inside else None


def limit(default: int = 50, most: int = 500) -> Parameter:
    """How many rows at most."""
    return Parameter("limit", "Most rows of one answer.", "integer", default=default, minimum=1, most=most)
