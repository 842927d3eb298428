"""One collection with a few days of history and hostile pages in it, and clients at both doors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import evercrawl
from evercrawl.model.alerts import Alert, AlertFilter, Channel, Destination
from evercrawl.web.auth import AccessScope
from evercrawl.web.serve import ServeOptions, WebService
from tests.web.client import TestClient
from tests.web.history_fixture import create_history
from tests.web.hostile import PAGES, SCRIPT, haunt
from tests.web.inputs import ALERT

DAYS = 6


@dataclass
class Interface:
    """The interface of a collection, without a network."""

    service: WebService
    anybody: TestClient
    """Nobody has logged in."""
    operator: TestClient
    """Came by the one-time link."""
    replay: TestClient

    def with_token(self, scope: AccessScope) -> TestClient:
        secret = self.service.auth.add_token(f"a {scope.label} program", scope)
        return self.client(headers={"Authorization": f"Bearer {secret}"})

    def client(self, headers: dict[str, str] | None = None) -> TestClient:
        return TestClient(
            self.anybody.app, base_url=str(self.anybody.base_url), headers=headers, follow_redirects=False
        )

    @property
    def csrf(self) -> str:
        text = self.operator.get("/live").text
        return text.split('name="csrf" value="', 1)[1].split('"', 1)[0]


def opened(collection: Path, how: ServeOptions, flags: dict[str, object] | None = None) -> Interface:
    service = WebService(collection, how, flags=flags)
    interface, replay = service.apps()
    address = f"http://127.0.0.1:{service.ports[0]}"
    anybody = TestClient(interface, base_url=address, follow_redirects=False)
    operator = TestClient(interface, base_url=address, follow_redirects=False)
    answer = operator.get(service.first_link.removeprefix(service.address))
    assert answer.status_code == 303
    door = TestClient(replay, base_url=f"http://localhost:{service.ports[1]}", follow_redirects=False)
    return Interface(service, anybody, operator, door)


def closed(interface: Interface) -> None:
    for one in interface.service.sockets:
        one.close()
    for client in (interface.anybody, interface.operator, interface.replay):
        client.close()
    interface.service.state.crawl.close()
    interface.service.auth.close()


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    told = create_history(tmp_path_factory.mktemp("web") / "coast.evercrawl", days=DAYS, extra=PAGES)
    evercrawl.open(told).alerts.add(
        Alert(
            ALERT,
            AlertFilter(patterns=("https://harbour.example/*",), query=f'attack "{SCRIPT}"'),
            Destination(Channel.WEBHOOK, "https://me.example/%3Cscript%3E"),
        )
    )
    haunt(told)
    return told


@pytest.fixture(scope="module")
def web(story: Path) -> Iterator[Interface]:
    interface = opened(story, ServeOptions(port=0))
    yield interface
    closed(interface)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Interface]:
    """An empty collection of its own, for tests that change something."""
    from evercrawl.config import create_collection

    create_collection(tmp_path / "new.evercrawl", {"scope.seeds": ("https://harbour.example/",)})
    interface = opened(tmp_path / "new.evercrawl", ServeOptions(port=0))
    yield interface
    closed(interface)
