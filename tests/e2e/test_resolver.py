"""Name resolution with our own name server on loopback."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from evercrawl.adapters.http.connections import FetchFailed
from evercrawl.adapters.http.dns import Resolver
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Fault, Fetched
from evercrawl.model.settings import DnsSettings, HttpSettings
from tests.e2e.dns_server import NameServer, name_server
from tests.e2e.fetching import fetch, run
from tests.worlds.hostile.servers import serving


class HandClock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def resolver(server: NameServer, clock: HandClock | None = None, **dns: object) -> Resolver:
    settings = DnsSettings(servers=(server.address,), **dns)  # type: ignore[arg-type]
    return Resolver(settings, HttpSettings(), clock=clock or HandClock())


def test_concurrent_lookups_share_one_query_and_are_cached() -> None:
    async def job() -> None:
        async with name_server({"site.test": [["9.9.9.5", "2606:4700::1", "9.9.9.6"]]}) as server:
            names = resolver(server)
            found = await asyncio.gather(*[names.addresses("Site.test.", 80) for _ in range(20)])
            assert len(set(found)) == 1
            assert set(found[0][:2]) == {"9.9.9.5", "9.9.9.6"}
            assert found[0][2:] == ("2606:4700::1",)
            await names.addresses("site.test", 443)
            assert server.asked == {"site.test": 1}
            await names.close()

    run(job())


def test_a_name_that_turns_private_is_rejected_at_the_next_lookup() -> None:
    async def job() -> None:
        async with name_server({"site.test": [["9.9.9.5"], ["127.0.0.1"]]}, ttl=0) as server:
            clock = HandClock()
            names = resolver(server, clock)
            assert await names.addresses("site.test", 80) == ("9.9.9.5",)
            clock.seconds = 59.0
            assert await names.addresses("site.test", 80) == ("9.9.9.5",)
            clock.seconds = 61.0
            with pytest.raises(FetchFailed) as caught:
                await names.addresses("site.test", 80)
            assert caught.value.fault is Fault.PRIVATE_ADDRESS
            assert "127.0.0.1 is a loopback address" in caught.value.detail
            await names.close()

    run(job())


def test_private_addresses_in_a_set_are_dropped() -> None:
    async def job() -> None:
        async with name_server({"site.test": [["10.0.0.1", "9.9.9.5", "fd00::1"]]}) as server:
            names = resolver(server)
            assert await names.addresses("site.test", 80) == ("9.9.9.5",)
            await names.close()

    run(job())


def test_failures_are_cached_briefly() -> None:
    async def job() -> None:
        async with name_server({"empty.test": [[]]}, silent=frozenset({"silent.test"})) as server:
            clock = HandClock()
            names = resolver(server, clock, timeout=timedelta(seconds=0.3), attempts=1)
            for name in ("nowhere.test", "empty.test", "silent.test"):
                for _ in range(2):
                    with pytest.raises(FetchFailed) as caught:
                        await names.addresses(name, 80)
                    assert caught.value.fault is Fault.DNS
                    assert name in caught.value.detail
            asked = dict(server.asked)
            assert set(asked) == {"nowhere.test", "empty.test", "silent.test"}
            clock.seconds = 6.0
            with pytest.raises(FetchFailed):
                await names.addresses("silent.test", 80)
            assert server.asked["silent.test"] > asked["silent.test"]
            assert server.asked["nowhere.test"] == asked["nowhere.test"]
            await names.close()

    run(job())


def test_the_cache_is_bounded() -> None:
    async def job() -> None:
        answers = {f"s{number}.test": [["9.9.9.5"]] for number in range(5)}
        async with name_server(answers, ttl=0) as server:
            names = resolver(server, cache_entries=3)
            for name in [*answers, "s0.test", "s4.test"]:
                await names.addresses(name, 80)
            assert server.asked["s0.test"] == 2
            assert server.asked["s4.test"] == 1
            await names.close()

    run(job())


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "LOCALHOST.", "127.0.0.1", "[::1]", "[::ffff:7f00:1]"])
def test_localhost_is_rejected_without_a_lookup(host: str) -> None:
    async def job() -> None:
        async with name_server({}) as server:
            with pytest.raises(FetchFailed) as caught:
                await resolver(server).addresses(host, 80)
            assert caught.value.fault is Fault.PRIVATE_ADDRESS
            assert server.asked == {}

    run(job())


def test_overrides_apply_to_their_port_only_and_are_checked() -> None:
    async def job() -> None:
        override = ("a.test:80:9.9.9.9", "a.test:81:10.0.0.1", "[::2]:80:9.9.9.9")
        names = Resolver(DnsSettings(), HttpSettings(resolve=override))
        assert await names.addresses("a.test", 80) == ("9.9.9.9",)
        assert await names.addresses("[::2]", 80) == ("9.9.9.9",)
        with pytest.raises(FetchFailed) as caught:
            await names.addresses("a.test", 81)
        assert caught.value.fault is Fault.PRIVATE_ADDRESS

    run(job())


@pytest.mark.parametrize("entry", ["a.test", "a.test:80", "a.test:80:b.test", "a.test:x:127.0.0.1", ":80:127.0.0.1"])
def test_an_invalid_override_is_a_config_error(entry: str) -> None:
    with pytest.raises(ConfigError, match=r"http\.resolve"):
        Resolver(DnsSettings(), HttpSettings(resolve=(entry,)))


def test_name_servers_are_addresses_with_or_without_a_port() -> None:
    Resolver(DnsSettings(servers=("127.0.0.1", "127.0.0.1:5353", "::1", "[::1]:5353")), HttpSettings())
    for entry in ("ns.test", "127.0.0.1:x", "127.0.0.1:0", ""):
        with pytest.raises(ConfigError, match=r"dns\.servers"):
            Resolver(DnsSettings(servers=(entry,)), HttpSettings())


def test_the_next_address_is_tried_if_the_first_fails() -> None:
    async def job() -> None:
        async with serving({"body": "ok"}, host="127.0.0.2") as server:
            async with name_server({"site.test": [["127.0.0.3", "127.0.0.2"]]}) as names:
                dns = DnsSettings(servers=(names.address,))
                result = await fetch(f"http://site.test:{server.port}/", dns=dns)
            assert isinstance(result, Fetched), result
            assert result.exchange.ip == "127.0.0.2"

    run(job())
