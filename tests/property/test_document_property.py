"""Any bytes can be parsed."""

from __future__ import annotations

import ada_url
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.core.document.encoding import detect_charset
from evercrawl.core.document.html import parse_document
from evercrawl.core.document.links import parse_refresh, parse_srcset
from evercrawl.core.document.reference import ReferenceResolver
from evercrawl.model.settings import ParseSettings

LIMITS = ParseSettings()
TOKENS = (
    "<a href= <a href=' ' \" > / # ? http:// // .. <base href= <meta <meta http-equiv=refresh content="
    " charset= <p> </p> <div> <table> <td> <script> </script> <noscript> </noscript> <template> <svg>"
    " <title> <!-- --> <link rel= canonical alternate srcset= <img <iframe src= é \0 &#xD800; &amp; x y z"
)
PIECES = st.sampled_from(TOKENS.split()) | st.text(max_size=5)
MARKUP = st.lists(PIECES, max_size=60).map(" ".join).map(lambda text: text.encode("utf-8", "surrogatepass"))
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(("Content-Type", "Link", "Refresh", "X-Robots-Tag", "Content-Language")),
        st.sampled_from(("text/html", "text/html; charset=", "application/xhtml+xml", "text/plain"))
        | st.text(max_size=30),
    ),
    max_size=4,
).map(tuple)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400) | MARKUP, HEADERS)
def test_any_bytes_give_a_document(body: bytes, headers: tuple[tuple[str, str], ...]) -> None:
    document = parse_document("http://site.test/a/b?c", headers, body, agent="evercrawl", limits=LIMITS)
    urls = [link.url for link in document.links]
    assert len(set(urls)) == len(urls)
    for url in (*urls, *document.embeds, *(other.url for other in document.alternates)):
        assert url.startswith(("http://", "https://"))
        assert "#" not in url
        assert ada_url.normalize_url(url) == url
    document.text.encode()
    (document.title or "").encode()


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(
        (
            "http://h.test/",
            "http://h.test/a/b",
            "http://h.test/a/b.d/c/e",
            "https://h.test:8/a/?q/r",
            "http://h.test/a/b#c",
        )
    ),
    st.text(alphabet="abA0.-_~/?%:@#\\ é&;|", max_size=12)
    | st.lists(st.sampled_from(("../", "./", "..", ".", "/", "a/", "b.html", "%2e")), max_size=6).map("".join),
)
def test_fast_resolution_follows_the_standard(base: str, reference: str) -> None:
    try:
        wanted: str | None = ada_url.join_url(base, reference).partition("#")[0]
    except ValueError:
        wanted = None
    if wanted is not None and not wanted.startswith(("http://", "https://")):
        wanted = None
    resolver = ReferenceResolver("http://other.test/", base, "utf-8")
    assert resolver.resolve(reference) == wanted
    assert resolver.resolve(reference) == wanted


@given(st.binary(max_size=200))
def test_any_bytes_have_an_encoding(body: bytes) -> None:
    assert detect_charset(body, None).encoding


@given(st.text(max_size=40))
def test_attribute_parsers_accept_anything(text: str) -> None:
    parse_refresh(text)
    assert all(parse_srcset(text))
