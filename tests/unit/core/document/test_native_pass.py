"""The native pass gives the same document as the reference, for real pages and for damaged ones.
Run as a script over folders of HTML files: python -m tests.unit.core.document.test_native_pass FOLDER…"""

from __future__ import annotations

import sys
from base64 import b32encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evercrawl.core.change import snapshot
from evercrawl.core.document import bounds, native_pass
from evercrawl.core.document.bounds import HARMLESS_BYTES, truncate_markup
from evercrawl.core.document.html import parse_document
from evercrawl.core.duplicates import minhash
from evercrawl.core.traps import novelty
from evercrawl.model.document import Document
from evercrawl.model.settings import ParseSettings
from tests.fuzz.mutation import mutate
from tests.unit.core.document.test_interface_lines import CONTENT, SOFTWARE
from tests.unit.test_app_pages import load_pages

pytestmark = pytest.mark.skipif(not native_pass.is_native(), reason="evercrawl-native is not installed: make native")
HEADERS = (("Content-Type", "text/html"),)
DAMAGED = 1500
MAX_BYTES = 600_000  # Larger pages are parsed in a process of their own.
AWKWARD = (
    b"<p>\xff\xfe broken \xe2\x82 <a href='\xff'>x</a>",
    "<main><h1>Ünïcode</h1><p>Straße ŉ ǰ İ.</p><h2><a href=/q>１２３</a></h2></main>".encode(),
    b"<title>x</title><svg><title>y</title><a xlink:href=/x>z</a></svg>",
    b"<noscript><a href=n>n</a></noscript><meta http-equiv=refresh content='0;url=/r'><base href=/b/><a href=c>d</a>",
    b"<a href='#a'>1</a><a href='x#a'>2</a><a href='x'>3</a><a rel=nofollow href=y>4</a><a href=y>5</a>",
    b"<a href=i><img><img alt='the  image'></a><a href=j></a><area href=k alt=area><iframe src=/l title=m></iframe>",
    b'<script type=\' Application/LD+json\'>{"@type": "Article", "datePublished": "2020-01-02"}</script>',
    b"<h1>" + b"long heading " * 40 + b"</h1><a href=long>" + b"anchor text " * 90 + b"</a>",
    b"<pre>1\n2\n3</pre><pre>a<br>b</pre><label>Name</label><time>1 May</time><sup><a href='#f'>1</a></sup>",
    b"<div class=comments>" + b"<p>A comment that is long enough to count. " * 20 + b"</div>",
    b"<aside class=note>x</aside><aside><article><h1>y</h1></article></aside><p class='nav'>" + b"z " * 800,
    "<p>日本語のテキスト。</p>".encode() * 40,
    b"<table><tr><td>a<td><a href='?action=edit'>edit</a></table><li>x <a href=/delete/>Delete</a>",
    b"<div class=toc><a href='#x'>x</a></div><div role=doc-toc><a href=y>y</a></div><div hidden>z</div>",
    b"<h3><a ><a></a><!@><?x y>",
    (
        "<main><h1>Lines</h1>" + "".join(f"<p>{line}</p><p>Prose between them.</p>" for line in SOFTWARE + CONTENT)
    ).encode(),
    b"<ul><li>Anzeige <a href=/x>Sponsored post</a><p>B</p></li><li><a href=/y>\xe5\xba\x83\xe5\x91\x8a</a> text</ul>",
    b"<p>Ad: <a href=p>Paid post</a></p><p>Ads are a topic of this long text about ads.</p>" + b"<p>Words. </p>" * 40,
    b"<nav><a href=/a>A</a></nav><header><h1>T</h1></header><main><section id=copyright class='section'><p>q</section>",
    b"<aside><p role=' Banner'>b</p></aside><p aria-hidden=true>h</p><div class='sidebar-2'>s</div></main><footer>f",
    b"<table><tr><td>a<td>b<br>c<td>"
    + b"long cell " * 30
    + b"<tr><td><p>x</table><ol><li>1<li><b>2</b></ol><button>Go",
    b"<a href=/card><div><h2>Head</h2><p>short</p></div></a><a href=c>a<!--b-->c</a><a href=e><img src=j></a>",
    b"<img src='data:x' data-lazy-src=/i.png alt=' an  image'><img data-src><img src=/k>",
    b"<p>"
    + b"<a href=/l>one two</a> <i>and</i> " * 20
    + b"</p><p>prose <em>with</em> "
    + b"words and " * 30
    + b"<a>x</a>",
    b"<x-y a-very-long-attribute-name-indeed=1 id=main><b c=d>e</b></x-y><link rel=next href=/n data-x=1>",
)


def document(url: str, body: bytes, *, wants_outline: bool) -> Document:
    limits = ParseSettings()
    return parse_document(
        url,
        HEADERS,
        body,
        agent="test",
        limits=limits,
        all_details=False,
        wants_outline=wants_outline,
        wants_snapshot=True,
    )


@contextmanager
def reference() -> Iterator[None]:
    """Do without native code."""
    modules: tuple[Any, ...] = (native_pass, minhash, novelty, snapshot)
    before = [module._NATIVE for module in modules]
    for module in modules:
        module._NATIVE = None
    try:
        yield
    finally:
        for module, native in zip(modules, before, strict=True):
            module._NATIVE = native


def read(url: str, body: bytes, *, wants_outline: bool) -> tuple[Any, ...]:
    """Return all that both forms have to agree on."""
    found = document(url, body, wants_outline=wants_outline)
    links = [link.url for link in found.links]
    share, memory = novelty.new_text(novelty.TextMemory(), found.text, choices=frozenset(found.text.split()[:3]))
    return (
        found,
        minhash.text_signature(found.text),
        minhash.page_signatures(found.text, links),
        share,
        novelty.new_text(memory, found.text[40:]),
    )


def differing(pages: Iterable[tuple[str, bytes]], *, wants_outline: bool = True) -> list[str]:
    """Return the pages that the two forms read differently."""
    urls = []
    for url, body in pages:
        found = read(url, body, wants_outline=wants_outline)
        with reference():
            if read(url, body, wants_outline=wants_outline) != found:
                urls.append(url)
    return urls


def app_pages() -> list[tuple[str, bytes]]:
    return [(page["url"], page["html"].encode()) for page in load_pages()]


@pytest.mark.parametrize("wants_outline", [True, False])
def test_pages_of_real_software_are_read_alike(wants_outline: bool) -> None:
    assert differing(app_pages(), wants_outline=wants_outline) == []


@pytest.mark.parametrize("body", AWKWARD)
def test_awkward_pages_are_read_alike(body: bytes) -> None:
    assert differing([("http://example.org/a/b", body)]) == []


def test_damaged_pages_are_read_alike() -> None:
    seeds = [body for _, body in app_pages()] + [*AWKWARD]
    damaged = ((f"http://example.org/{number}", mutate(seeds, str(number))) for number in range(DAMAGED))
    assert differing(damaged) == []


def test_digests_have_the_same_text() -> None:
    native = native_pass.native_module()
    assert native is not None
    for length in (0, 5, 20, 40):
        digest = Random(length).randbytes(length)
        assert native.base32(digest) == b32encode(digest)
    with pytest.raises(ValueError, match="multiple of 5"):
        native.base32(b"x")


@pytest.mark.parametrize(
    "text", ["", "word", "ไทย" * 100, "x" * 5000, "\ud800 lone", "a\xa0b\u3000c d_e", "ﬀ “q” — 12:30"]
)
def test_awkward_texts_have_the_same_hashes(text: str) -> None:
    def hashes() -> tuple[Any, ...]:
        return (
            minhash.page_signatures(text, ["http://example.org/é", "x"]),
            novelty.new_text(novelty.TextMemory(), text, choices=frozenset(("word", "x"))),
        )

    found = hashes()
    with reference():
        assert hashes() == found


def test_most_pages_are_within_the_limits_on_markup() -> None:
    harmless = [bool(native_pass.survey(body) & native_pass.IS_HARMLESS) for _, body in app_pages()]
    assert sum(harmless) > 0.9 * len(harmless)


SOUP = (
    b"<div>|<div>|<div class='a'>|</div>|<span>|<table>|<svg>|<g/>|<p>|<DIV>|</DIV\n>|<!--|-->|<script>|</script "
    b"|<i>x</i>|<i a='>'>x</i>|<dt a=b c>x</dt>|<b a=\"x>y</b>\">|<li\n>|<dd >"
    b"|<sec<tion>|<br>|< div|text|<a =\">\" b|<a b=c/>|\"|'|=|/| a| b=\"|<a\x0bb='|<i a='>' b>|>"
).split(b"|")
"""Pieces of damaged pages."""


@pytest.mark.parametrize("seed", range(40))
def test_what_may_nest_is_counted_alike(seed: int) -> None:
    """A page passes only if the reference need not measure it tag by tag, and without quotes always then."""
    chance = Random(seed)
    weights = [chance.random() ** 3 for _ in SOUP]
    for size in (4_000, 9_000, 30_000):
        page = b"".join(chance.choices(SOUP, weights, k=size)) + b" " * HARMLESS_BYTES
        tags, lowered = page.count(b"<"), page.lower()
        is_harmless = bounds._MAYBE_LONG_TAG.search(page) is None and (
            tags <= bounds.MAX_NESTING
            or not bounds._may_nest(page, tags, is_mixed=b"<svg" in lowered or b"<math" in lowered)
        )
        assert bool(native_pass.survey(page) & native_pass.IS_HARMLESS) <= is_harmless
        if b'"' not in page and b"'" not in page:
            assert bool(native_pass.survey(page) & native_pass.IS_HARMLESS) == is_harmless


@pytest.mark.parametrize("seed", range(40))
def test_no_page_that_is_cut_passes_as_harmless(seed: int) -> None:
    chance = Random(seed)
    pieces = chance.choices(SOUP, [chance.random() ** 3 for _ in SOUP], k=chance.randrange(3_000, 20_000))
    for page in (b"".join(pieces), b"<a " + b" ".join(b"%s%d" % (chance.choice(pieces), at) for at in range(9000))):
        assert not native_pass.survey(page) & native_pass.IS_HARMLESS or truncate_markup(page) == page


def main() -> None:
    """Compare every page below the folders; exit with 1 if any differs."""
    files = [file for folder in sys.argv[1:] for file in sorted(Path(folder).rglob("*.htm*")) if file.is_file()]
    pages = ((f"http://example.org/{file.name}", file.read_bytes()) for file in files)
    wrong = differing((url, body) for url, body in pages if len(body) <= MAX_BYTES)
    print(f"{len(files)} pages, {len(wrong)} read differently", *wrong[:20], sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
