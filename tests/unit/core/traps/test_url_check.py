"""URL rules: a false alarm on an honest URL costs more than a request."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercrawl.core.traps.url_check import MAX_PARAMETERS, MAX_SEGMENTS, MAX_URL_CHARS, url_verdict
from evercrawl.core.traps.url_parts import looks_random

HONEST = """
https://x.org/en-US/docs/Web/JavaScript/Reference/Operators/delete
https://redis.io/commands/unsubscribe
https://redis.io/commands/del/
https://x.org/man/man1/logout.1.html
https://x.org/wiki/Logout
https://x.org/wiki/Special:UserLogin
https://x.org/docs/api/cart/add
https://x.org/blog/how-to-delete-your-account
https://x.org/help/delete?lang=en
https://x.org/timesmachine/1851/09/18/issue.html
https://chroniclingamerica.loc.gov/lccn/sn83030214/1902-05-01/ed-1/seq-1/
https://anno.onb.ac.at/cgi-content/anno?aid=wrz&datum=17030808&seite=1
https://x.org/events/1066
https://x.org/event/2187
https://x.org/events/2187/register
https://x.org/wiki/1702
https://x.org/wiki/Battle_of_Hastings_1066-10-14
https://x.org/reports/vision-2050
https://x.org/climate/2100/projections
https://x.org/product/2187/11/
https://x.org/issues/3019/01
https://x.org/11/11/11/poppy-day
https://x.org/2011/11/11/remembrance
https://x.org/2020/2020/20
https://x.org/tiles/0/0/0.png
https://x.org/search/all/all/all/
https://x.org/list/0/0/0/0/1.html
https://github.com/spring-projects/spring-boot/blob/main/spring-boot-project/spring-boot-test/src/test/java/org/springframework/boot/test/context/SpringBootTest.java
https://github.com/internetarchive/heritrix3/blob/master/modules/src/main/java/org/archive/modules/deciderules/PathologicalPathDecideRule.java
https://gitlab.com/group/sub/project/-/tree/main/src/test/resources/test/data/test
https://github.com/torvalds/linux/commit/1da177e4c3f41524e886b7f1b8a0c1fc7321cac2
https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/commit/?id=1da177e4c3f41524e886b7f1b8a0c1fc7321cac2
https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/log/?h=v6.1&ofs=50
https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLFgquLnL59alCl_2TQvOiD5Vgm1hCaGSI&index=2
https://x.org/article.pl?sid=07/12/05/1234567
https://x.org/article.pl?sid=24/05/06/1234
https://x.org/news.php?sid=12345
https://x.org/talks?session_id=17
https://x.org/sessions/2024/keynote
https://x.org/session/550e8400-e29b-41d4-a716-446655440000
https://x.org/agenda?session=opening-plenary-2024
https://x.org/agenda?session=Plenary12Morning2024
https://x.org/?s=search+words+here
https://x.org/?s=covid19+vaccines+2021
https://x.org/search?q=a+b&s=12
https://last.fm/tag/songs+i+love+to+sing
https://last.fm/music/The+Rolling+Stones/_/You+Can%27t+Always+Get+What+You+Want
https://x.org/tag/c%2B%2B
https://x.org/page/4312/
https://x.org/pages/About-Us/123456789
https://x.org/login?next=/account?tab=1
https://x.org/login?next=%2Faccount%3Ftab%3D1%26x%3D2
https://web.archive.org/web/20200101000000/http://example.com/a?b=c
https://translate.google.com/translate?u=http%3A%2F%2Fweb.archive.org%2Fweb%2F2020%2Fhttp%3A%2F%2Fexample.org%2F
https://x.org/share?url=https%3A%2F%2Fx.org%2Fa%3Fid%3D1&title=T
https://x.org/wiki/%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E9%95%B7%E3%81%84%E3%82%BF%E3%82%A4%E3%83%88%E3%83%AB%E3%81%A7%E3%81%99
https://lh3.googleusercontent.com/a-/AOh14Gj7b6y8Zk3rT1a2b3c4d5e6f7g8h9i0jklmnop_qrstuvwxyz=s96-c
https://camo.githubusercontent.com/0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9/68747470733a2f2f696d672e736869656c64732e696f
https://x.org/a//b
https://x.org/docs/v1/docs/v2/docs
https://x.org/New-York/New-York/New-York-City
https://x.org/de/de-de/
https://x.org/en/en/
https://x.org/blah/blah
https://x.org/users/12/posts/34/comments/56
https://x.org/category/a/category/b/category/c
https://x.org/calendar/2027/01/
https://x.org/events/2025-12-31
https://x.org/calendar?year=2026&month=5
https://x.org/events/1969/07/20/moon-landing-remembered
https://x.org/archive/1895/04/01/
https://x.org/archive/1895/04/
https://x.org/on-this-day/1776-07-04
https://x.org/weather?date=2024-05-01&lat=1&lon=2
https://x.org/report?id=4
https://x.org/edit/4
https://x.org/add
https://x.org/cart
https://x.org/shop/cart/
https://x.org/blog/add-to-cart-buttons
https://x.org/vote
https://x.org/vote/2024/results
https://x.org/subscribe
https://x.org/unsubscribe-rates-explained
https://x.org/remove/background
https://x.org/sql/delete
https://x.org/sql/delete?version=8
https://x.org/showthread.php?t=12345&page=2
https://x.org/index.php?option=com_content&view=article&id=12&Itemid=34
https://x.org/index.php/blog/2024/post
https://x.org/cgi-bin/viewvc.cgi/trunk/viewvc.cgi?view=log
https://x.org/search?q=x&a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9&j=10&k=11&l=12
https://x.org/api?ids[]=1&ids[]=2&ids[]=3&ids[]=4&ids[]=5&ids[]=6&ids[]=7
https://x.org/shop?color=red&color=blue&size=m
https://x.org/shop?f[0]=color:red&f[1]=size:m
https://x.org/download.php?file=a/b/c.zip&mirror=2
https://x.org/a?utm_source=x&utm_medium=y&utm_campaign=z&utm_term=a&utm_content=b&gclid=EAIaIQobChMI8
https://www.amazon.com/dp/B08N5WRWNW/ref=sr_1_3?dchild=1&keywords=a&qid=1612345678&sr=8-3
https://x.org/doc;v=2/page
https://x.org/maps/@52.52,13.40,12z
https://x.org/item/ha-ha-ha-ha-ha-song
https://x.org/boot/boot/grub
https://x.org/a/b/a/b/c
https://x.org/doi/10.1000/10.1000/182
https://x.org/mode/day
https://x.org/?mode=report
https://x.org/?action=view&id=4
https://x.org/tools?op=compare&a=1
https://x.org/index.php?title=Foo&oldid=12345&diff=12346
https://x.org/watch/123
https://x.org/movie/follow/2024
https://x.org/game/block/12
https://x.org/flag/12
https://x.org/week/2024-W05
https://x.org/r/news/comments/abc123/title_of_post/def456/
https://x.org/photo/12345/in/album/6789/in/photostream
https://x.org/and/or/and/or
https://x.org/signin?continue=https%3A%2F%2Fx.org%2Fdocs%3Fhl%3Den%26continue%3D1
https://www.www.com/
https://x.org/events/list/?tribe-bar-date=2026-05-01
https://x.org/flights?from=2026-05-01&to=2026-05-08
https://x.org/population/world/2100/
https://x.org/astronomy/eclipse/2045-08-12
https://x.org/standards/iso/8601-1-2019
https://x.org/part/4000-12-10
https://x.org/rfc/rfc9110.html
https://x.org/docs/1.0/1.0.1/1.0.1
https://x.org/print/print/
https://x.org/schedule/2019/
https://x.org/tv/schedule/20240501
https://x.org/calendar/event/1234567890
https://x.org/calendar/2187
https://x.org/session/login
https://x.org/p/aaaaaaaaaargh
https://x.org/u?id=00000000000000000000000000000000000000000000000000000000000000000000
https://x.org/forum/report/123
https://x.org/cancel/culture
https://x.org/community/logout-issue/td-p/123
https://x.org/mark/12/30
https://x.org/bible/mark/12
"""

TRAPS = """
http://s.test/page;jsessionid=1A2B3C4D5E6F
http://s.test/index.php?PHPSESSID=9f8e7d6c5b4a39281706f5e4d3c2b1a0
http://s.test/forum/viewtopic.php?t=1&sid=9f8e7d6c5b4a39281706f5e4d3c2b1a0
http://s.test/x.cfm?CFID=12345&CFTOKEN=67890123
http://s.test/shop?osCsid=abcdef1234567890abcdef1234567890
http://s.test/a?sessionid=8s7df6g5h4j3k2l1
http://s.test/a?session_id=4f5e6d7c8b9a0f1e
http://s.test/a?ASPSESSIONIDQABCDEF=GHIJKLMNOPQRST
http://s.test/(S(abc123def456ghi789jkl012))/shop/item.aspx
http://s.test/(A(abc123def456)F(xyz)S(ghi789jkl012mno))/x.aspx
http://s.test/session/9f8e7d6c5b4a39281706f5e4d3c2b1a0/page.html
http://s.test/sid=9f8e7d6c5b4a39281706f5e4d3c2b1a0/page.html
http://s.test/calendar?month=2187-05
http://s.test/calendar?year=2187&month=5
http://s.test/calendar/2099/01/
http://s.test/calendar/1066/10
http://s.test/cal?d=2099-01-01
http://s.test/events/2525-12-25/
http://s.test/events/1583/01/01
http://s.test/calendar/month/0001/01
http://s.test/events?day=30000101
http://s.test/calendar/view.php?view=day&time=32503680000
http://s.test/calendar/10000/01/
http://s.test/week/3000-W12
http://s.test/agenda?date=01.01.2200
http://s.test/x/y/z/x/y/z/x/y/z/
http://s.test/images/images/images/images/
http://s.test/foo/foo/foo
http://s.test/index.php/index.php/index.php/a
http://s.test/index.php/news/index.php/news
http://s.test/a////////b
http://s.test///////
http://s.test/login?next=/login?next=/login?next=/login
http://s.test/login?return=%2Flogin%3Freturn%3D%252Flogin%253Freturn%253D%25252Flogin
http://s.test/go?url=http://s.test/go?url=http://s.test/go?url=http://s.test/
http://s.test/p?ref=/p?ref=/p?ref=/
http://s.test/out?to=https%3A%2F%2Fs.test%2Fout%3Fto%3Dhttps%253A%252F%252Fs.test%252Fout%253Fto%253Dhttps%25253A
http://s.test/user/logout
http://s.test/logout
http://s.test/signout.php
http://s.test/account/sign-out
http://s.test/?action=logout
http://s.test/posts/4/delete
http://s.test/admin/delete.php?id=12
http://s.test/delete/17
http://s.test/cart?add=17
http://s.test/cart/add?id=17
http://s.test/cart/remove/17
http://s.test/?add-to-cart=99
http://s.test/product/5?add-to-cart=99&quantity=1
http://s.test/add-to-cart/17
http://s.test/wishlist/add/17
http://s.test/basket/add/42
http://s.test/vote?id=4&dir=up&token=abc
http://s.test/unsubscribe?id=55&token=8d7
http://s.test/index.php?title=A&action=edit
http://s.test/index.php?title=A&action=delete
http://s.test/ucp.php?mode=logout&sid=9f8e7d6c5b4a39281706f5e4d3c2b1a0
http://s.test/post?do=delete&id=3
http://s.test/like?post=5
http://s.test/follow?user=5
http://s.test/comment/reply/17?token=abc
http://s.test/?replytocom=123
http://s.test/account/delete
http://s.test/remove?item=5
http://s.test/api/items/5/delete
http://s.test/?a=1&a=1&a=1&a=1
http://s.test/?x=1&amp;amp;amp;amp;y=2
http://s.test/tags/a,b,c,d,e,f,g,h,i,j
http://s.test/a/b/a/b/a/b
http://s.test/de/en/fr/de/en/fr/de/en/fr/
http://s.test/Special:WhatLinksHere/Special:WhatLinksHere/Special:WhatLinksHere/B
http://s.test/cal.php?y=1600&m=2&d=3
http://s.test/rooms/availability?from=2999-01-01&to=2999-01-02
http://s.test/events/month/2150-06
http://s.test/termine/2222/02/22
http://s.test/day/9999-12-31
http://s.test/a/x/a/x/a/x/a/x/a/x/index.html
http://s.test/admin/users/3/remove
http://s.test/wp-admin/post.php?post=4&action=trash
http://s.test/favorites/add?item=4
http://s.test/node/4/delete?destination=node
http://s.test/mark-read?id=4
http://s.test/login?logout=1
http://s.test/order/4/cancel
http://s.test/remove/4
"""


@pytest.mark.parametrize("url", HONEST.split())
def test_honest_urls_are_accepted(url: str) -> None:
    assert url_verdict(url, year=2026).reason == ""


@pytest.mark.parametrize("url", TRAPS.split())
def test_traps_are_detected(url: str) -> None:
    verdict = url_verdict(url, year=2026)
    assert verdict.trap
    assert verdict.kind
    assert verdict.reason


def test_limits_are_exact() -> None:
    at_most = "http://a.test/" + "/".join(f"s{n}" for n in range(MAX_SEGMENTS))
    assert not url_verdict(at_most).trap
    assert url_verdict(at_most + "/t").kind == "too-large"
    form = "http://a.test/?" + "&".join(f"p{n}={n}" for n in range(MAX_PARAMETERS))
    assert not url_verdict(form).trap
    assert url_verdict(form + "&more=1").kind == "too-large"
    long = "http://a.test/" + "".join(f"{n:x}-" for n in range(MAX_URL_CHARS))
    assert not url_verdict(long[:MAX_URL_CHARS]).trap
    assert url_verdict(long[: MAX_URL_CHARS + 1]).kind == "too-large"


def test_repeated_characters_are_a_trap() -> None:
    assert url_verdict("http://a.test/" + "ab" * 60).kind == "stutter"
    assert not url_verdict("http://a.test/?id=" + "0" * 120).trap


def test_caller_sets_the_current_year() -> None:
    url = "http://a.test/calendar/2050/01/"
    assert url_verdict(url, year=2026).kind == "calendar"
    assert not url_verdict(url, year=2040).trap


def test_hops_are_limited_if_given() -> None:
    assert url_verdict("http://a.test/", hops=21).kind == "too-far"
    assert not url_verdict("http://a.test/", hops=20).trap


def test_text_that_is_no_url_is_no_trap() -> None:
    for url in ("", "x", "mailto:a@b.test", "http://", "http://a.test", "//a.test/b"):
        assert not url_verdict(url).trap


@pytest.mark.parametrize(
    ("value", "random"),
    [
        ("9f8e7d6c5b4a39281706f5e4d3c2b1a0", True),
        ("1A2B3C4D5E6F", True),
        ("opening-plenary-2024", False),
        ("2024-05-06-12-30", False),
        ("123456789012345", False),
        ("short1", False),
        ("qxzvkjwqpzrtbnmkfghdplws", True),
        ("internationalisierungsfrage", False),
    ],
)
def test_random_values_differ_from_names(value: str, random: bool) -> None:
    assert looks_random(value) is random


FOLDER = Path(__file__).parent
LEAST_SEEN = 0.95


def _urls(name: str) -> list[str]:
    return (FOLDER / name).read_text().split()


@pytest.mark.parametrize("url", _urls("honest_urls.txt"))
def test_no_false_alarm_on_an_honest_url(url: str) -> None:
    verdict = url_verdict(url)
    assert not verdict.trap, verdict.reason


@pytest.mark.regression_pin
def test_nearly_all_traps_are_detected() -> None:
    urls = _urls("trap_urls.txt")
    missed = [url for url in urls if not url_verdict(url).trap]
    assert len(missed) <= (1 - LEAST_SEEN) * len(urls), missed


MORE_HONEST_URLS = [
    "https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/concurrent/locks/Lock.html",
    "https://boost.org/doc/libs/1_74_0/doc/html/boost_asio/reference/basic_socket_acceptor/accept/overload1.html",
    "https://doc.rust-lang.org/std/os/linux/fs/trait.MetadataExt.html",
    "https://en.cppreference.com/w/cpp/numeric/math/log",
    "https://en.cppreference.com/w/cpp/container/vector/vector",
    "https://www.gnu.org/software/emacs/manual/html_node/emacs/emacs.html",
    "https://docs.python.org/3/library/test.html",
    "https://hackage.haskell.org/package/base-4.18.0.0/docs/Data-List.html",
    "https://maven.apache.org/plugins/maven-compiler-plugin/compile-mojo.html",
    "https://archive.org/details/archive-org-archive",
    "https://x.org/docs/docs/docs.html",
    "https://x.org/test/tests/test_test.py",
    "https://x.org/a/a/b",
    "https://web.archive.org/web/20090101000000/http://example.com/index.html",
    "https://web.archive.org/web/20200101000000*/example.com",
    "https://translate.google.com/translate?sl=de&tl=en&u=https://example.org/page?id=1",
    "https://x.org/login?next=/account/orders",
    "https://x.org/wiki/index.php?title=Main_Page&oldid=123456",
    "https://x.org/wiki/index.php?title=Special:Log&type=delete",
    "https://x.org/wiki/Wikipedia:Articles_for_deletion/Log/2024_May_3",
    "https://forum.x.org/viewtopic.php?f=12&t=34567&start=375",
    "https://forum.x.org/showthread.php?t=12345&page=87",
    "https://forum.x.org/t/how-do-i-logout-users/48213/7",
    "https://x.org/questions/1234567/how-to-delete-a-row-in-sql",
    "https://shop.x.org/de-de/p/herren-laufschuhe-schwarz-42?color=black&size=42",
    "https://shop.x.org/catalog?brand=acme&color=red&size=m&price=10-50&sort=price",
    "https://shop.x.org/c/shoes/mens/running/page/12",
    "https://shop.x.org/products?filter[color]=red&filter[size]=42&page=3",
    "https://x.org/search?lang=en&q=web+crawler&from=2010-01-01&to=2020-12-31",
    "https://x.org/calendar/2026/11/",
    "https://x.org/calendar/2026-11-15",
    "https://x.org/events/2027-05-03-annual-meeting",
    "https://x.org/events/calendar/2024-05/day/2024-05-17",
    "https://x.org/2019/03/14/pi-day-pi-day-pi-day",
    "https://x.org/archives/1914/08/04/",
    "https://x.org/news/1899/12/31/the-last-day",
    "https://newspapers.x.org/1785/01/01",
    "https://x.org/issue/1848/3",
    "https://x.org/vol/12/iss/12/12",
    "https://x.org/12/12/12/12",
    "https://maps.x.org/tiles/14/8800/5373.png",
    "https://x.org/api/v1/users/1/posts/1/comments/1",
    "https://x.org/photos/0000000000000000000001.html",
    "https://x.org/commit/0000000000000000000000000000000000000000",
    "https://doi.org/10.1000/182",
    "https://doi.org/10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O",
    "https://arxiv.org/abs/math/0309136v1",
    "https://x.org/cgi-bin/man.cgi?query=ls&apropos=0&sektion=0&manpath=Debian+12&format=html",
    "https://pubmed.ncbi.nlm.nih.gov/?term=%28trap%5BTitle%5D%29+AND+%28calendar%5BTitle%5D%29",
    "https://x.org/profile/sessions",
    "https://x.org/conference/2024/sessions/42",
    "https://x.org/session/keynote-1",
    "https://x.org/talk?sid=42",
    "https://x.org/s/abc123/",
    "https://x.org/track?session=morning",
    "https://x.org/viewer?sid=opening",
    "https://x.org/community/follow/guide",
    "https://x.org/git/log-out-of-github",
    "https://x.org/blog/add-to-cart-rate-optimisation",
    "https://x.org/docs/reference/commands/remove",
    "https://x.org/docs/cli/delete",
    "https://x.org/help/cancel",
    "https://x.org/legal/unsubscribe",
    "https://x.org/newsletter/subscribe",
    "https://x.org/cart",
    "https://x.org/compare/iphone-15-vs-pixel-8",
    "https://x.org/compare/main...develop",
    "https://x.org/wishlist/ideas",
    "https://x.org/vote/2024/results",
    "https://x.org/report/2024/annual",
    "https://x.org/reports/flag/history",
    "https://x.org/users/12/edit-history",
    "https://x.org/tags/c,c++,java",
    "https://x.org/tag/rock+roll",
    "https://x.org/label/a-b-c-d-e-f-g-h",
    "https://x.org/page/99999",
    "https://x.org/pages/100000-ways",
    "https://x.org/pi/3.14159265358979323846264338327950288419716939937510",
    "https://x.org/dna/ATATATATATATATATATAT",
    "https://x.org/song/na-na-na-na-na-na-na-na-hey-hey-goodbye",
    "https://x.org/song/la/la/land",
    "https://x.org/words/ha/ha",
    "https://x.org/bora/bora",
    "https://x.org/de/baden-baden/baden-baden/hotels",
    "https://x.org/us/new-york/new-york/new-york-pizza",
    "https://www.www.com/",
    "https://co.co.co.uk/",
    "https://a.b.c.d.e.example.org/x",
    "https://x.org/~user/cgi-bin/index.cgi/docs/page",
    "https://x.org/index.php/component/content/article/12-news/345-title",
    "https://x.org/index.php/en/about-us",
    "https://x.org/app.aspx/view",
    "https://x.org/redirect?url=https%3A%2F%2Fexample.org%2F%3Fa%3Db",
    "https://x.org/share?u=https://example.org/a?x=1&text=hello",
    "https://x.org/out?to=https%3A%2F%2Fa.org%2Fgo%3Furl%3Dhttps%253A%252F%252Fb.org",
    "https://x.org/a?b=1&b=2",
    "https://x.org/search?type[]=a&type[]=b&type[]=c&q=x",
    "https://x.org/list?ids=1&ids=2&ids=3&ids=4&ids=5&ids=6&ids=7&ids=8&ids=9",
    "https://x.org/file.php?path=a/b/c/d/e/f",
    "https://x.org/src/main/java/com/example/example/Example.java",
    "https://x.org/src/test/java/org/test/test/TestTest.java",
    "https://x.org/repo/tree/master/packages/core/src/core/core.ts",
    "https://x.org/repo/node_modules/a/node_modules/b/index.js",
    "https://x.org/k8s/kubernetes/kubernetes/blob/v1.2/docs/kubernetes.md",
    "https://x.org/%E4%B8%AD%E6%96%87/%E6%96%87%E6%A1%A3",
    "https://x.org/a%20b%20c",
    "https://x.org/path//double//slash",
    "https://x.org/climate/scenario/2100",
    "https://x.org/forecast?year=2050&month=6",
    "https://x.org/astronomy/eclipse/2090/09/23",
    "https://x.org/history/0476",
    "https://x.org/timeline/1066/10/14",
    "https://x.org/schedule/2031",
    "https://x.org/year/1850",
    "https://x.org/on-this-day/july/4",
    "https://x.org/day/1850-01-01-birth-of-someone-famous",
    "https://x.org/genealogy/born/1789-07-14",
    "https://x.org/?p=12345",
    "https://x.org/?page_id=7&preview=false",
    "https://x.org/?utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e",
    "https://x.org/a;b=c/d",
    "https://x.org/journal/article;id=5",
]
MORE_TRAP_URLS = [
    "https://x.org/a/b/a/b/a/b/",
    "https://x.org/news/news/news/news/",
    "https://x.org/img/css/img/css/img/css/img/css/x.html",
    "https://x.org/index.php/about/index.php/about/index.php/about",
    "https://x.org/en/page.html/en/page.html/en/page.html/x",
    "https://x.org/x.jsp;jsessionid=0A1B2C3D4E5F60718293A4B5C6D7E8F9",
    "https://x.org/(S(lit3py55t21z5v55vlm25s55))/default.aspx",
    "https://x.org/shop.php?PHPSESSID=8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d&id=4",
    "https://x.org/page.php?sid=8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d",
    "https://x.org/page.cfm?CFID=1234567&CFTOKEN=89012345",
    "https://x.org/catalog?osCsid=5f4dcc3b5aa765d61d8327deb882cf99",
    "https://x.org/calendar?year=2999&month=1",
    "https://x.org/calendar/9999/12/",
    "https://x.org/events/calendar/2345-06-07/",
    "https://x.org/cal.php?date=2222-02-02",
    "https://x.org/calendar/1066/10",
    "https://x.org/agenda/month/2150-01",
    "https://x.org/logout",
    "https://x.org/user/logout?token=abc",
    "https://x.org/wp-login.php?action=logout&_wpnonce=abc123",
    "https://x.org/cart?add-to-cart=123",
    "https://x.org/cart/add/123",
    "https://x.org/posts/12/delete",
    "https://x.org/delete?id=12",
    "https://x.org/vote?post=12&token=8f",
    "https://x.org/article?replytocom=7",
    "https://x.org/login?next=/login?next=/login?next=/login?next=/home",
    "https://x.org/login?return=%2Flogin%3Freturn%3D%252Flogin%253Freturn%253D%25252Fhome",
    "https://x.org/a?x=%2525252525252541",
    "https://x.org/a?amp;amp;amp;amp;b=1",
    "https://x.org/a?b=1&b=1&b=1&b=1",
    "https://x.org/////////a",
    "https://x.org/tag/a+b+c+d+e+f+g+h+i+j",
    "https://x.org/list?f[0]=color:red&f[1]=color:blue&f[2]=size:1&f[3]=size:2&f[4]=brand:a&f[5]=brand:b&f[6]=x:y",
    "https://x.org/page/12345678",
    "https://x.org/news/page/2147483647/",
    "https://www.www.www.www.x.org/",
    "https://x.org/current/latest/current/latest/current/latest/a",
    "https://x.org/a/../a/a/a/a/a/b",
]
TOO_LARGE = [
    "https://x.org/" + "/".join("abcdefghijklmnopqrstuvwxyz"),
    "https://x.org/" + "x" * 3000,
    "https://x.org/?" + "&".join(f"p{number}={number}" for number in range(60)),
    "https://x.org/" + "ab" * 100,
]


@pytest.mark.parametrize("url", MORE_HONEST_URLS)
def test_no_false_alarm_on_an_honest_page(url: str) -> None:
    assert url_verdict(url) == (False, "", "")


@pytest.mark.parametrize("url", MORE_TRAP_URLS + TOO_LARGE)
def test_url_trap_is_detected(url: str) -> None:
    verdict = url_verdict(url)
    assert verdict.trap
    assert verdict.kind
    assert verdict.reason
