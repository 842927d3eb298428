"""IndexNow keys, batches and response codes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from evercrawl.adapters.http.dialer import PostResult
from evercrawl.errors import ConfigError
from evercrawl.sitemaps.indexnow_client import (
    STATUS_MEANINGS,
    create_key,
    read_key,
    submission_body,
    submit_urls,
    url_batches,
    validate_key,
)

KEY = "0123456789abcdef"


class Service:
    def __init__(self, *statuses: int | None) -> None:
        self.statuses = list(statuses)
        self.got: list[dict[str, object]] = []

    async def post(self, url: str, document: bytes) -> PostResult:
        self.got.append(json.loads(document))
        return PostResult(self.statuses.pop(0), "no answer", (("Retry-After", "120"),))


def announced(service: Service, urls: list[str]) -> list[int | None]:
    done = asyncio.run(submit_urls(service, urls, key=KEY, key_location=None, endpoint="https://in.test/"))
    assert all(one.meaning for one in done)
    return [one.status for one in done]


def test_a_key_and_its_file(tmp_path: Path) -> None:
    key, path = create_key(tmp_path)
    assert (path.name, path.read_text(), read_key(path)) == (f"{key}.txt", key, key)
    assert create_key(tmp_path)[0] != key
    for bad in ("short", "with space123", "x" * 129, "ümlaut-12345"):
        with pytest.raises(ConfigError):
            validate_key(bad)
    with pytest.raises(ConfigError):
        create_key(tmp_path / "nowhere")


def test_request_body() -> None:
    document = json.loads(submission_body("https://example.org", ["https://example.org/a"], key=KEY, key_location=None))
    assert document == {
        "host": "example.org",
        "key": KEY,
        "keyLocation": f"https://example.org/{KEY}.txt",
        "urlList": ["https://example.org/a"],
    }


def test_the_host_has_its_port() -> None:
    site = "http://example.org:8080"
    document = json.loads(submission_body(site, [f"{site}/a"], key=KEY, key_location=None))
    assert document["host"] == "example.org:8080"


def test_batches_have_one_host_and_at_most_ten_thousand_urls() -> None:
    urls = [f"https://example.org/{number}" for number in range(25_000)] + ["https://other.test/"] * 2
    sizes = [(site, len(portion)) for site, portion in url_batches(urls)]
    site = "https://example.org"
    assert sizes == [(site, 10_000), (site, 10_000), (site, 5_000), ("https://other.test", 1)]
    with pytest.raises(ConfigError):
        list(url_batches(["not a url"]))


@pytest.mark.parametrize("status", [400, 403, 422, 429, 500, None])
def test_nothing_is_sent_after_a_rejection(status: int | None) -> None:
    service = Service(status, 200)
    assert announced(service, ["https://a.test/", "https://b.test/"]) == [status]
    assert len(service.got) == 1


def test_both_success_codes() -> None:
    assert announced(Service(200, 202), ["https://a.test/", "https://b.test/"]) == [200, 202]
    assert set(STATUS_MEANINGS) == {200, 202, 400, 403, 422, 429}
