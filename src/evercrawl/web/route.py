"""What can be asked: a table of views (to look at) and actions (to change something).

A view is one collector; from it come a page, its JSON twin and a path of the API. An action is one function;
from it come a form's target and a path of the API. The description of the API is made from the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evercrawl.web.desk import Desk
from evercrawl.web.auth import AccessScope, User
from evercrawl.web.parameter import Parameter

API = "/api/v1"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its values by name, who asks, and at which host."""

    values: Mapping[str, Any]
    visitor: User
    host: str

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True, slots=True)
class View:
    """Something to look at; `collect` gives what the page and the JSON show."""

    name: str
    path: str
    text: str
    collect: Callable[[Desk, Asked], dict[str, Any]]
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
class Done:
    """What an action did, and which page shows it."""

    message: str
    show: str = "/"
    data: Mapping[str, Any] | None = None
    once: bool = False
    """The message holds a secret: it is shown here and now, and stands in no address."""
    told: Mapping[str, Any] | None = None
    """What goes into the book in place of what was asked with; None: nothing has to be left out."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that changes the collection or the interface; it is written into the book."""

    name: str
    text: str
    do: Callable[[Desk, Asked], Done]
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
