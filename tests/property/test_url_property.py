"""Canonical URLs are stable and have keys of fixed size."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from evercrawl.core.url import canonical, join, key_of, parse, path_of, shard_of_site, site_of, site_parts

PARTS = st.text(st.sampled_from("aZ0.-_~%/?#&=:@[]\\ éßあ\t\n"), max_size=40)


@given(PARTS)
@example("//user:pass@host:0080/%7e%2f%c3%A9/../x?%41#y")
def test_the_canonical_form_is_its_own_canonical_form(rest: str):
    url = canonical("http://example.org/" + rest)
    if url is not None:
        assert canonical(url) == url
        assert "#" not in url
        assert url.isascii()


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_makes_the_parser_raise(base: str, reference: str):
    assert parse(base) is None or canonical(base) is None or key_of(canonical(base) or "")
    join(base, reference)


@given(PARTS)
def test_a_canonical_url_falls_into_site_and_path(rest: str):
    url = canonical("https://example.org:8443/" + rest)
    assert url is not None
    assert site_of(url) + path_of(url) == url
    assert site_parts(site_of(url)) == ("https", "example.org", 8443)
    assert len(key_of(url)) == 16
    assert 0 <= shard_of_site(site_of(url), 64) < 64


def test_keys_of_one_folder_are_adjacent():
    keys = [key_of(f"http://a.test/d/{name}") for name in ("x", "y?q=/z", "z.html")]
    assert len({key[:8] for key in keys}) == 1
    assert len(set(keys)) == 3
    assert key_of("http://a.test/e/x")[:8] != keys[0][:8]
