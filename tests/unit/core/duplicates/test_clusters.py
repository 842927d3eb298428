"""Of what is a page a duplicate, and which page stands for all?"""

from __future__ import annotations

import pytest

from evercrawl.core.duplicates.clusters import Duplicate, Likeness, PageFacts, clusters, likeness_of, representative
from evercrawl.core.duplicates.minhash import text_signature

TEXT = " ".join(f"word{number}" for number in range(300))
OTHER = " ".join(f"term{number}" for number in range(300))


def page(url: str, text: str = TEXT, **facts: object) -> PageFacts:
    values = {"found": 1, "digest": text.encode(), "signature": text_signature(text), "chars": len(text), **facts}
    return PageFacts(url, **values)  # type: ignore[arg-type]


A, B = page("https://a.org/x"), page("https://a.org/y", OTHER)


@pytest.mark.parametrize(
    ("one", "likeness", "detail"),
    [
        (B._replace(moved_to=A.url), Likeness.REDIRECT, "it redirects to https://a.org/x"),
        (B._replace(digest=A.digest), Likeness.SAME_CONTENT, "it has the same content as https://a.org/x"),
        (
            page("https://a.org/y", f"{TEXT} {OTHER} {OTHER}", canonical=A.url),
            Likeness.CANONICAL,
            "it names https://a.org/x as its canonical page",
        ),
        (
            page("https://a.org/y", f"{TEXT} and a bit more"),
            Likeness.NEAR,
            "it says nearly the same as https://a.org/x (98% alike)",
        ),
    ],
)
def test_reasons(one: PageFacts, likeness: Likeness, detail: str) -> None:
    found = likeness_of(one, A)
    assert found is not None
    assert (found.url, found.of, found.likeness) == (one.url, A.url, likeness)
    assert found.detail.split("(")[0] == detail.split("(")[0]


def test_no_reason() -> None:
    assert likeness_of(A, B) is None
    assert likeness_of(A, A) is None
    assert likeness_of(PageFacts("https://a.org/1", 1), PageFacts("https://a.org/2", 2)) is None


def test_a_canonical_link_that_the_texts_contradict_is_not_believed() -> None:
    assert likeness_of(B._replace(canonical=A.url), A) is None
    unread = PageFacts(A.url, 1)
    assert likeness_of(B._replace(canonical=A.url), unread) is not None


def test_a_canonical_link_to_a_page_that_redirects_back_is_not_believed() -> None:
    target = PageFacts(A.url, 1, moved_to=B.url)
    assert likeness_of(B._replace(canonical=A.url), target) is None


def test_a_page_of_a_copied_site() -> None:
    there = page("https://b.org/x?q=1", OTHER)
    here = page("https://a.org/x?q=1")
    found = likeness_of(there, here, mirrors={"https://b.org": "https://a.org"})
    assert found is not None
    assert found.likeness is Likeness.MIRROR
    assert found.detail == "its site is a copy of https://a.org, where it is https://a.org/x?q=1"
    assert likeness_of(there, A, mirrors={"https://b.org": "https://a.org"}) is None


def test_who_stands_for_all() -> None:
    plain, secure = page("http://a.org/x", credit=9), page("https://a.org/x")
    assert representative([plain, secure]) is secure
    assert representative([secure._replace(canonical=plain.url), plain]) is plain
    assert representative([secure._replace(moved_to=plain.url), plain]) is plain
    assert representative([secure._replace(digest=None), plain]) is plain
    rich = page("https://a.org/long/path?x=1", credit=5)
    assert representative([secure, rich]) is rich
    assert representative([rich._replace(credit=0), secure]) is secure


def duplicate(url: str, of: str, likeness: Likeness = Likeness.SAME_CONTENT) -> Duplicate:
    return Duplicate(url, of, likeness, f"because of {of}")


def test_clusters_lead_back_to_their_representative() -> None:
    pages = [page(f"https://a.org/{name}") for name in "abcde"]
    pages[2] = pages[2]._replace(credit=100)
    urls = [each.url for each in pages]
    found = [duplicate(urls[0], urls[1]), duplicate(urls[1], urls[2]), duplicate(urls[4], "https://gone.org/")]
    (cluster,) = clusters(pages, found)
    assert cluster.representative == urls[2]
    assert cluster.duplicates == (found[1], found[0])


def test_reasons_are_turned_where_the_other_page_was_chosen() -> None:
    rich, poor = page("https://a.org/rich", credit=5), page("https://a.org/poor")
    (cluster,) = clusters([rich, poor], [duplicate(rich.url, poor.url)])
    assert cluster.representative == rich.url
    assert cluster.duplicates == (
        Duplicate(poor.url, rich.url, Likeness.SAME_CONTENT, "it has the same content as https://a.org/rich"),
    )


def test_the_strongest_reason_is_told() -> None:
    rich, poor = page("https://a.org/rich", credit=5), page("https://a.org/poor")
    weak, strong = (duplicate(poor.url, rich.url, kind) for kind in (Likeness.NEAR, Likeness.REDIRECT))
    (cluster,) = clusters([rich, poor], [weak, strong])
    assert cluster.duplicates == (strong,)


def test_circles_and_lone_pages() -> None:
    pages = [page(f"https://a.org/{name}") for name in "abcd"]
    urls = [each.url for each in pages]
    found = [duplicate(urls[0], urls[1]), duplicate(urls[1], urls[2]), duplicate(urls[2], urls[0])]
    (cluster,) = clusters(pages, found)
    assert len(cluster.duplicates) == 2
    assert clusters(pages, []) == []
