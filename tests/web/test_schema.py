"""Whatever the description of the API allows is answered, and never with an error of ours."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from evercrawl.web.keyring import Scope
from evercrawl.web.openapi import API_DESCRIPTION, description
from evercrawl.web.rate import RateLimit
from tests.web.client import TestClient
from tests.web.conftest import Interface

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis

EXAMPLES = 15
NOT_SENT = ("user-agent", "host", "accept-encoding", "authorization", "cookie")
UNDESCRIBED = (405,)


@pytest.fixture(scope="module")
def reader(web: Interface) -> TestClient:
    client = web.with_token(Scope.READ)
    client.app.rate = RateLimit(burst=1e9, per_s=1e9)
    return client


def _operations() -> list[tuple[str, str]]:
    return [(method, path) for path, methods in description()["paths"].items() for method in methods]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "path"), _operations())
def test_no_request_makes_an_error_of_ours(reader: TestClient, method: str, path: str):
    schema = schemathesis.openapi.from_dict(reader.get(API_DESCRIPTION).json())
    known = {int(status) for status in description()["paths"][path][method]["responses"]}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=schema[path][method.upper()].as_strategy())
    def ask(case) -> None:
        sent = case.as_transport_kwargs(base_url=str(reader.base_url))
        params = {name: value for name, value in (sent.get("params") or {}).items() if name != "follow"}
        headers = {
            name: value for name, value in (sent.get("headers") or {}).items() if name.lower() not in NOT_SENT
        }
        answer = reader.request(
            method.upper(), sent["url"], params=params, json=sent.get("json"), headers=headers
        )
        assert answer.status_code < 500 or answer.status_code == 503, answer.text
        assert answer.status_code in known or answer.status_code in UNDESCRIBED, answer.status_code

    ask()
