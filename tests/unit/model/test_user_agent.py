"""The user agent."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.errors import ConfigError
from evercrawl.model.settings import IdentitySettings
from evercrawl.model.user_agent import user_agent


@pytest.mark.parametrize(
    ("contact", "agent"),
    [
        (None, "evercrawl/0.1.0"),
        ("  ", "evercrawl/0.1.0"),
        ("https://operator.example/bot", "evercrawl/0.1.0 (+https://operator.example/bot)"),
        ("you@org", "evercrawl/0.1.0 (+mailto:you@org)"),
        ("mailto:you@org.example", "evercrawl/0.1.0 (+mailto:you@org.example)"),
        ("https://operator.example/(bot)", "evercrawl/0.1.0 (+https://operator.example/%28bot%29)"),
    ],
)
def test_the_agent_names_product_and_contact(contact: str | None, agent: str) -> None:
    assert user_agent(IdentitySettings(contact=contact), "0.1.0") == agent


@pytest.mark.parametrize(
    "contact", ["me", "a b@c", "you@org\r\nX: y", "https://x/\r\ny", "ftp://x", "é@x", "https://x/\\"]
)
def test_an_invalid_contact_is_a_config_error(contact: str) -> None:
    with pytest.raises(ConfigError, match="contact"):
        user_agent(IdentitySettings(contact=contact), "0.1.0")


@pytest.mark.parametrize("product", ["", "two words", "a/b", "bot\n", "bot2"])
def test_an_invalid_product_is_a_config_error(product: str) -> None:
    with pytest.raises(ConfigError, match="product"):
        user_agent(IdentitySettings(product=product), "0.1.0")


@given(st.text(max_size=50), st.text(max_size=50))
def test_no_setting_adds_a_line(product: str, contact: str) -> None:
    try:
        agent = user_agent(IdentitySettings(product=product, contact=contact), "1")
    except ConfigError:
        return
    assert re.fullmatch(r"[ -~]+", agent)
    assert agent.count("(") == agent.count(")") <= 1
