from __future__ import annotations

import pytest

from evercrawl.core.document.media_type import FILE_TYPES, url_file_type
from evercrawl.core.scope import scope as scope_module
from evercrawl.core.scope.scope import Scope
from evercrawl.core.scope.url_filter import PrefixFilter
from evercrawl.errors import ConfigError
from evercrawl.model.reason import Reason
from evercrawl.model.settings import ScopeSettings


def scope_of(*seeds: str, **settings: object) -> Scope:
    return Scope(ScopeSettings(seeds=seeds, **settings))  # type: ignore[arg-type]


def reason(scope: Scope, url: str, depth: int = 1, hops: int = 0) -> Reason | None:
    refused = scope.verdict(url, depth=depth, hops=hops)
    return None if refused is None else refused[0]


@pytest.mark.parametrize(
    ("url", "accepted"),
    [
        ("http://a.test:8080/x", True),
        ("https://a.test:8080/x", True),
        ("http://a.test/x", True),
        ("https://a.test/x", True),
        ("http://a.test:8081/x", False),
        ("https://a.test:80/x", False),
        ("http://www.a.test/x", False),
        ("http://b.test:8080/x", False),
        ("http://a.test.b.test/", False),
    ],
)
def test_host_is_the_seeds_host_at_the_seeds_port_or_the_default(url: str, accepted: bool):
    assert reason(scope_of("http://a.test:8080/dir/page"), url) is (None if accepted else Reason.OUT_OF_SCOPE)


@pytest.mark.parametrize(
    ("url", "accepted"),
    [
        ("https://a.test/docs/guide/x", True),
        ("https://a.test/docs/", True),
        ("https://a.test/docs", False),
        ("https://a.test/docsearch", False),
        ("http://a.test/docs/x?y", True),
        ("https://a.test/?docs/", False),
        ("https://b.test/new/1", True),
        ("https://b.test/docs/1", False),
    ],
)
def test_prefix_is_the_folder_of_each_seed(url: str, accepted: bool):
    scope = scope_of("https://a.test/docs/index.html?a/b", "https://b.test/new/", kind="prefix")
    assert reason(scope, url) is (None if accepted else Reason.OUT_OF_SCOPE)


@pytest.mark.parametrize(
    ("url", "accepted"),
    [
        ("https://example.co.uk/", True),
        ("https://deep.www.example.co.uk/", True),
        ("https://other.co.uk/", False),
        ("https://notexample.co.uk/", False),
        ("https://www.example.co.uk:8443/", False),
    ],
)
def test_domain_is_what_somebody_registered(url: str, accepted: bool):
    scope = scope_of("https://www.example.co.uk/", kind="domain")
    assert reason(scope, url) is (None if accepted else Reason.OUT_OF_SCOPE)


def test_list_is_the_seeds_and_their_redirects():
    scope = scope_of("https://a.test/one", kind="list")
    assert reason(scope, "https://a.test/one") is None
    assert reason(scope, "https://a.test/two") is Reason.OUT_OF_SCOPE
    assert reason(scope, "https://b.test/moved", depth=0, hops=1) is None
    assert reason(scope, "https://b.test/moved", depth=1, hops=1) is Reason.OUT_OF_SCOPE
    assert reason(scope, "https://b.test:25/", depth=0, hops=1) is Reason.BLOCKED_PORT


def test_single_seeds_may_be_pages_or_sections():
    page, section = "https://a.test/x/page", "https://b.test/docs/start"
    scope = scope_of(page, section, "https://c.test/", pages=(page,), sections=(section,))
    assert reason(scope, page) is None
    assert reason(scope, "https://a.test/x/other") is Reason.OUT_OF_SCOPE
    assert reason(scope, "https://a.test/moved", depth=0, hops=1) is None
    assert reason(scope, "https://b.test/docs/more") is None
    assert reason(scope, "https://b.test/blog/") is Reason.OUT_OF_SCOPE
    assert reason(scope, "https://c.test/any/thing") is None
    scope.add_moved_seed(page, "https://www.a.test/x/page")
    assert reason(scope, "https://www.a.test/x/other") is Reason.OUT_OF_SCOPE
    assert reason(scope_of(page, pages=(page,)), "https://a.test/") is Reason.OUT_OF_SCOPE


def test_refusals_say_what_was_compared():
    scope = scope_of("https://a.test/", "https://b.test/", max_depth=3)
    assert scope.verdict("https://c.test/", depth=1) == (
        Reason.OUT_OF_SCOPE,
        "host c.test is not one of a.test, b.test",
    )
    assert scope.verdict("https://a.test/", depth=4) == (Reason.TOO_DEEP, "4 links from a seed, at most 3")
    assert scope.verdict("https://a.test/", depth=3) is None


def test_include_and_exclude_search_in_the_url():
    scope = scope_of("https://a.test/", include=("/news/", r"\?id=\d+$"), exclude=("print", "old"))
    assert reason(scope, "https://a.test/news/1") is None
    assert reason(scope, "https://a.test/x?id=12") is None
    assert reason(scope, "https://a.test/x") is Reason.NOT_INCLUDED
    assert scope.verdict("https://a.test/news/print", depth=1) == (Reason.EXCLUDED, "matches 'print'")


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_a_bad_pattern_is_named(name: str):
    with pytest.raises(ConfigError, match=rf"scope\.{name}: '\(broken' is not a regular expression"):
        scope_of("https://a.test/", **{name: ("(broken",)})


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a.test/x.JPG", "image"),
        ("https://a.test/x.tar.gz?download", "archive"),
        ("https://a.test/style.css", "style"),
        ("https://a.test/app.mjs", "script"),
        ("https://a.test/f.woff2", "font"),
        ("https://a.test/film.mp4", "media"),
        ("https://a.test/paper.pdf", "document"),
        ("https://a.test/page.html", None),
        ("https://a.test/page.php?file=x.jpg", None),
        ("https://a.test/v1.2/page", None),
        ("https://a.zip/", None),
        ("https://a.test/x.jpg/comments", None),
        ("https://a.test/x.averylongendingindeed", None),
    ],
)
def test_file_types(url: str, kind: str | None):
    assert url_file_type(url) == kind
    seed = url.rsplit("/", 1)[0] + "/"
    assert reason(scope_of(seed), url) is (None if kind is None else Reason.FILE_TYPE)
    assert reason(scope_of(seed, fetch_types=FILE_TYPES), url) is None


def test_unknown_file_types_are_named():
    with pytest.raises(ConfigError, match="does not know pictures; it knows image, style"):
        scope_of("https://a.test/", fetch_types=("pictures",))


def test_seed_skips_checks_for_links():
    scope = scope_of("https://a.test/paper.pdf", max_depth=0, include=("/news/",), exclude=("never",))
    assert scope.verdict("https://a.test/paper.pdf", depth=0, is_seed=True) is None
    assert scope.verdict("https://a.test/never", depth=0, is_seed=True) == (Reason.EXCLUDED, "matches 'never'")
    refused = scope.verdict("https://a.test:6667/", depth=0, is_seed=True)
    assert refused == (Reason.BLOCKED_PORT, "port 6667")


def test_length_scheme_and_port():
    scope = scope_of("https://a.test:22/", max_url_length=40)
    assert reason(scope, "https://a.test/" + "x" * 40) is Reason.URL_TOO_LONG
    assert scope.verdict("ftp://a.test/", depth=1) == (Reason.UNSUPPORTED_SCHEME, "the scheme is 'ftp'")
    assert reason(scope, "mailto:x@a.test") is Reason.UNSUPPORTED_SCHEME
    assert reason(scope, "https://a.test:22/") is Reason.BLOCKED_PORT
    settings = ScopeSettings(seeds=("https://a.test:22/",))
    assert reason(Scope(settings, allow_ports=(22,)), "https://a.test:22/") is None
    assert reason(Scope(settings, schemes=("ftp",)), "ftp://a.test/") is None


class Failing:
    def accepts(self, url: str) -> bool:
        raise LookupError(f"no rule for {url}")


def test_filters_refuse_by_name_and_their_errors_are_refusals():
    settings = ScopeSettings(seeds=("https://a.test/",), filter="not prefix(https://a.test/old/)")
    scope = Scope(settings, filters={"mine:News": PrefixFilter("https://a.test/n")})
    assert scope.verdict("https://a.test/news", depth=1) is None
    assert scope.verdict("https://a.test/x", depth=1) == (Reason.FILTERED, "rejected by the filter mine:News")
    refused = scope.verdict("https://a.test/old/", depth=1)
    assert refused == (Reason.FILTERED, "rejected by the filter not prefix(https://a.test/old/)")
    failing = Scope(ScopeSettings(seeds=("https://a.test/",)), filters={"mine:Bad": Failing()})
    refused = failing.verdict("https://a.test/x", depth=1)
    assert refused == (Reason.FILTERED, "the filter mine:Bad failed: LookupError: no rule for https://a.test/x")


@pytest.mark.parametrize("seed", ["example.org", "mailto:me@example.org", ""])
def test_a_seed_that_is_no_page_is_named(seed: str):
    with pytest.raises(ConfigError, match="is not the URL of a page"):
        scope_of(seed)


def test_an_unknown_kind_is_named():
    with pytest.raises(ConfigError, match="'web' is not one of host, prefix, domain, list"):
        scope_of("https://a.test/", kind="web")


def test_cached_sites_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scope_module, "CACHED_SITES", 10)
    scope = scope_of("https://a.test/")
    for number in range(100):
        assert reason(scope, f"https://h{number}.test/") is Reason.OUT_OF_SCOPE
        assert reason(scope, "https://a.test/x") is None
    assert len(scope._sites) <= 10


def test_host_that_a_seed_moved_to_is_in_scope():
    scope = Scope(ScopeSettings(seeds=("http://example.org/",)))
    assert scope.verdict("https://www.example.org/a", depth=1) is not None
    scope.add_moved_seed("http://example.org/", "https://www.example.org/")
    assert scope.verdict("https://www.example.org/a", depth=1) is None
    assert scope.verdict("https://other.example.org/a", depth=1) is not None


@pytest.mark.parametrize(
    "target", ["https://elsewhere.test/", "http://www.example.org:8080/", "http://example.org.evil.test/"]
)
def test_seed_that_leaves_its_domain_adds_nothing(target: str):
    scope = Scope(ScopeSettings(seeds=("http://example.org/",)))
    scope.add_moved_seed("http://example.org/", target)
    assert scope.verdict(target, depth=0, hops=1) is not None


def test_a_site_is_excluded_only_if_no_page_of_it_can_be_in_scope() -> None:
    whole = scope_of("http://a.test/")
    assert not whole.excludes_site("http://a.test")
    assert whole.excludes_site("http://b.test")
    whole.add_moved_seed("http://a.test/", "http://www.a.test/")
    assert not whole.excludes_site("http://www.a.test")
    assert not scope_of("http://a.test/docs/", kind="prefix").excludes_site("http://a.test")
    assert not scope_of("http://a.test/", kind="list").excludes_site("http://b.test")
    page = "http://b.test/x"
    assert not scope_of("http://a.test/", page, pages=(page,)).excludes_site("http://c.test")
