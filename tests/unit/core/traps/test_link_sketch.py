from __future__ import annotations

from evercrawl.core.traps.link_sketch import LinkSketch, LinkSketcher
from evercrawl.model.document import Link

SITE = "http://a.test"


def _offered(urls: list[str], *, part: tuple[str, ...] | int, words: list[str] | None = None) -> LinkSketch:
    texts = words if words is not None else ["more"] * len(urls)
    links = [Link(url, text, nofollow=False) for url, text in zip(urls, texts, strict=True)]
    return LinkSketcher(links, urls).without(part)


def test_same_links_under_another_session_are_similar() -> None:
    one, other = ([f"{SITE}/{session}/p{page}" for page in range(9)] for session in ("abc", "xyz"))
    assert _offered(one, part=0).is_similar(_offered(other, part=0))
    assert not _offered(one, part=1).is_similar(_offered(other, part=1))


def test_repeated_parameter_is_ignored_everywhere() -> None:
    one = [f"{SITE}/p?ref=1&ref=2&id=4"]
    assert _offered(one, part=("ref",)).is_similar(_offered([f"{SITE}/p?id=4&ref=9"], part=("ref",)))


def test_two_pages_of_a_list_are_not_similar() -> None:
    one, other = ([f"{SITE}/topic?t={start + place}" for place in range(20)] for start in (0, 20))
    assert not _offered(one, part=("start",)).is_similar(_offered(other, part=("start",)))


def test_one_changing_link_does_not_matter() -> None:
    same = [f"{SITE}/p{page}" for page in range(9)]
    one, other = (_offered([*same, f"{SITE}/hint/{word}"], part=("sid",)) for word in ("sea", "sun"))
    assert one.is_similar(other)


def test_link_texts_match_sessions_in_changing_places() -> None:
    ways = ("/p1/{}", "/{}", "/{}/a/b/c", "/d/e/f/g/{}", "/h/i/{}")
    one, other = ([SITE + way.format(session) for way in ways] for session in ("abc", "xyz"))
    assert not _offered(one, part=1).is_similar(_offered(other, part=1))
    words = ["About rivers", "Home", "Seas", "Lakes", "Wells"]
    assert _offered(one, part=1, words=words).is_similar(_offered(other, part=1, words=words))
