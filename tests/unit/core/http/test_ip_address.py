"""Allowed and refused addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.core.http.ip_address import address_refusal

REFUSED = {
    "0.0.0.0": "unspecified",
    "10.1.2.3": "private",
    "100.64.0.1": "inner network",
    "100.127.255.255": "inner network",
    "127.0.0.1": "loopback",
    "127.255.0.1": "loopback",
    "169.254.1.1": "link-local",
    "169.254.169.254": "metadata",
    "168.63.129.16": "metadata",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.8": "reserved",
    "192.168.1.1": "private",
    "192.0.2.1": "documentation",
    "198.19.0.1": "benchmarks",
    "198.51.100.255": "documentation",
    "203.0.113.5": "documentation",
    "224.0.0.1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "::": "unspecified",
    "::1": "loopback",
    "::7f00:1": "obsolete",
    "::ffff:127.0.0.1": "IPv6 form",
    "::ffff:7f00:1": "IPv6 form",
    "64:ff9b::7f00:1": "loopback",
    "64:ff9b::a9fe:a9fe": "metadata",
    "64:ff9b:1::1": "reserved",
    "2002:7f00:1::": "loopback",
    "2002:a00:1::1": "private",
    "2001:0:0a00:1::1": "private",
    "2001:2::1": "reserved",
    "2001:db8::1": "documentation",
    "2001:db8:ffff::1": "documentation",
    "3fff:fff::1": "documentation",
    "5f00::1": "reserved",
    "100::1": "reserved",
    "100:0:0:1::1": "reserved",
    "64:ff9b::c000:201": "documentation",
    "2002:cb00:7105::1": "documentation",
    "::ffff:192.0.2.1": "IPv6 form",
    "fc00::1": "private",
    "fd00:ec2::254": "private",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "fec0::1": "site-local",
    "ff02::1": "multicast",
    "4000::1": "reserved",
    "localhost": "not an address",
    "": "not an address",
}


@pytest.mark.parametrize(("ip", "word"), REFUSED.items())
def test_internal_address_is_refused(ip: str, word: str) -> None:
    why = address_refusal(ip)
    assert why is not None
    assert word in why


@pytest.mark.parametrize(
    "ip",
    ["8.8.8.8", "172.32.0.1", "100.128.0.1", "203.0.114.1", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1"],
)
def test_a_public_address_is_allowed(ip: str) -> None:
    assert address_refusal(ip) is None


@given(st.ip_addresses(network="10.0.0.0/8"))
def test_no_form_of_a_private_address_gets_through(ip: object) -> None:
    number = int(ip)  # type: ignore[call-overload]
    hidden = f"{number >> 16:x}:{number & 0xFFFF:x}"
    for form in (str(ip), f"::{hidden}", f"::ffff:{hidden}", f"64:ff9b::{hidden}", f"2002:{hidden}::1"):
        assert address_refusal(form) is not None, form


@given(st.text(max_size=40))
def test_any_text_gives_a_result(text: str) -> None:
    address_refusal(text)
