"""Regular expressions that people write, in settings, filters and requests, matched in linear time by RE2.
They know no look-around and no references to groups: both may take exponential time on the URLs of others."""

from __future__ import annotations

from typing import Final, Protocol

import re2

MAX_EXPRESSION_CHARS: Final = 10_000


class Expression(Protocol):
    """A compiled regular expression."""

    @property
    def pattern(self) -> str:
        """The expression as it was written."""
        ...

    def search(self, text: str) -> object | None:
        """Return a match if the expression is found in the text."""
        ...

    def fullmatch(self, text: str) -> object | None:
        """Return a match if the expression is the whole text."""
        ...


def compile_expression(expression: str) -> Expression:
    """Compile a regular expression; raise ValueError with what is wrong about it."""
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise ValueError(f"it has more than {MAX_EXPRESSION_CHARS} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: Expression = re2.compile(expression, options)
    except re2.error as error:
        message = error.args[0] if error.args else ""
        raise ValueError(message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)) from error
    except UnicodeEncodeError as error:
        raise ValueError("it is not valid Unicode") from error
    return compiled
