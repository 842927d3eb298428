"""What may be asked with: typed parameters, read from text and described for programs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from evercrawl.errors import ConfigError
from evercrawl.model.time import parse_time

Kind = Literal["text", "url", "whole", "moment", "flag", "choice"]
LONGEST_TEXT = 8192
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


class BadRequest(Exception):
    """What was asked cannot be answered: the status, a message for people, and when to ask again."""

    def __init__(self, message: str, status: int = 400, *, again_s: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.again_s = again_s


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
        if written is None or (written == "" and self.kind != "flag"):
            if self.required:
                raise BadRequest(f"{self.name} is missing: {self.text}")
            written = self.default
            if not isinstance(written, str):
                return written
        if len(written) > LONGEST_TEXT:
            raise BadRequest(f"{self.name} is longer than {LONGEST_TEXT} characters")
        if "\x00" in written:
            raise BadRequest(f"{self.name} holds a character that cannot be used")
        return self._typed(written, now)

    def _typed(self, written: str, now: datetime) -> Any:
        match self.kind:
            case "whole":
                return self._whole(written)
            case "flag":
                return self._flag(written)
            case "moment":
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
            case "whole":
                found: dict[str, Any] = {"type": "integer", "minimum": self.least, "maximum": self.most}
            case "flag":
                found = {"type": "boolean"}
            case "choice":
                found = {"type": "string", "enum": list(self.choices)}
            case _:
                found = {"type": "string", "maxLength": LONGEST_TEXT}
        if self.required and found["type"] == "string" and self.kind != "choice":
            found["minLength"] = 1
        return found if self.default is None else found | {"default": self.default}


AFTER = Parameter("after", "Where the list goes on: `next` of the portion before.")


def place_of(after: str | None) -> int | None:
    """The number behind the point of `after`; BadRequest where it is none."""
    _, _, inside = (after or "").partition(".")
    if after and not (inside.isascii() and inside.isdigit()):
        raise BadRequest("after is not where a list can go on; begin without it")
    return int(inside[:15]) if inside else None


def limit(default: int = 50, most: int = 500) -> Parameter:
    """How many rows at most."""
    return Parameter("limit", "Most rows of one answer.", "whole", default=default, least=1, most=most)
