"""Whatever the description of the API allows is answered, and never with an error of ours."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from evercrawl.web.access_control import RateLimit
from evercrawl.web.auth import AccessScope
from evercrawl.web.openapi import OPENAPI_PATH, openapi_document
from evercrawl.web.serve import ServeOptions
from tests.web.client import TestClient
from tests.web.conftest import Interface, closed, opened

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis

EXAMPLES = 8
NOT_SENT = ("user-agent", "host", "accept-encoding", "authorization", "cookie")
UNDESCRIBED = (405,)


NOT_DONE = {"start-crawl", "look-at-sites", "add-sites", "set-password", "revoke-token"}
"""Actions that cannot be done at random: a process or requests for each, a slow hash for each, the test's own token."""


def _client(interface: Interface, scope: AccessScope) -> TestClient:
    client = interface.with_token(scope)
    client.app.rate = RateLimit(burst=1e9, per_s=1e9)
    return client


@pytest.fixture(scope="module")
def reader(web: Interface) -> TestClient:
    return _client(web, AccessScope.READ)


@pytest.fixture(scope="module")
def master(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """May do everything, with a copy of the collection."""
    copy = tmp_path_factory.mktemp("schema") / "own.evercrawl"
    shutil.copytree(story, copy, ignore=shutil.ignore_patterns("web.sqlite*"))
    interface = opened(copy, ServeOptions(port=0))
    yield _client(interface, AccessScope.ADMIN)
    closed(interface)


DOCUMENT = openapi_document()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


def _operations() -> list[tuple[str, str]]:
    return [(method, path) for path, methods in DOCUMENT["paths"].items() for method in methods]


def test_the_served_description_is_the_one_that_is_tested(reader: TestClient) -> None:
    assert reader.get(OPENAPI_PATH).json() == json.loads(json.dumps(DOCUMENT))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "path"), _operations())
def test_no_request_causes_a_server_error(reader: TestClient, master: TestClient, method: str, path: str):
    _ask_whatever_is_described(reader, method, path)
    if DOCUMENT["paths"][path][method]["operationId"] not in NOT_DONE:
        _ask_whatever_is_described(master, method, path)


def _ask_whatever_is_described(reader: TestClient, method: str, path: str) -> None:
    described = DOCUMENT["paths"][path][method]["responses"]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=SCHEMA[path][method.upper()].as_strategy())
    def ask(case) -> None:
        sent = case.as_transport_kwargs(base_url=str(reader.base_url))
        params = {name: value for name, value in (sent.get("params") or {}).items() if name != "follow"}
        headers = {name: value for name, value in (sent.get("headers") or {}).items() if name.lower() not in NOT_SENT}
        answer = reader.request(method.upper(), sent["url"], params=params, json=sent.get("json"), headers=headers)
        assert answer.status_code < 500 or answer.status_code == 503, answer.text
        _assert_as_described(answer, described, DOCUMENT["components"])

    ask()


def _assert_as_described(answer: Any, described: dict[str, Any], components: dict[str, Any]) -> None:
    if answer.status_code in UNDESCRIBED:
        return
    assert str(answer.status_code) in described, (answer.status_code, answer.text)
    content = described[str(answer.status_code)].get("content", {})
    kind = answer.headers.get("content-type", "").partition(";")[0]
    assert kind in content or not answer.content, (answer.status_code, kind)
    if kind in ("application/json", "application/problem+json") and content[kind].get("schema"):
        jsonschema_rs.validator_for({**content[kind]["schema"], "components": components}).validate(answer.json())
    if answer.status_code == 201 and "location" in answer.headers:
        assert answer.headers["location"].startswith("/api/v1/")


@pytest.mark.parametrize("body", [{"paused": "true"}, {"paused": 0}, {"paused": None}, {"refresh": None}])
def test_values_in_json_need_the_type_of_their_parameter(master: TestClient, body: dict[str, object]) -> None:
    answer = master.patch("/api/v1/runs/current", json=body)
    assert answer.status_code == 400
    assert answer.json()["detail"].endswith("must be true or false")


def test_a_whole_number_may_have_a_point(master: TestClient) -> None:
    marked = {"keys": "1", "label": "a page", "until": 1.0}
    assert master.post("/api/v1/read-marks", json=marked).status_code == 201
    assert master.post("/api/v1/read-marks", json=marked | {"until": "1"}).status_code == 400


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 201])
def test_an_idempotency_key_is_visible_ascii(master: TestClient, key: str) -> None:
    answer = master.post("/api/v1/verifications", headers={"Idempotency-Key": key.encode()})
    assert answer.status_code == 400
