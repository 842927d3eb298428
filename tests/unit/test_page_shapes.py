# ruff: noqa: E501  (markup)
"""Shapes in which pages present lists, cards, tables, threads, forms and code, each in three frames with menus around
them: every entry is in the main text, and next to nothing of the frame. Run as a script to see what is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from research.app_pages import texts

from tests.unit.test_app_pages import Score, score, shares

NEWS = [texts.news_article(at) for at in range(8)]
FRAMES = {
    "semantic": '<!doctype html><title>{title} | Site</title><body><header><a href="/">Site</a><nav><ul><li><a href="/a">Home</a></li><li><a href="/b">Archive</a></li>'
    '<li><a href="/c">Contact</a></li></ul></nav></header><main><h1>{title}</h1>{body}</main><footer><p>© 2026 Site. <a href="/i">Imprint</a></p></footer></body>',
    "boxes": '<html><head><title>{title}</title></head><body><div id="w"><div class="r1"><a href="/">Site</a> <a href="/a">Home</a> <a href="/b">Archive</a> <a href="/c">Contact</a></div>'
    '<div class="r2"><div class="c1"><h1>{title}</h1>{body}</div><div class="c2"><h4>Recent</h4><ul><li><a href="/1">Old bridge closed</a></li><li><a href="/2">New tram line</a></li>'
    '<li><a href="/3">Market moves</a></li></ul></div></div><div class="r3">© 2026 Site · <a href="/i">Imprint</a></div></div></body></html>',
    "table": '<html><head><title>{title}</title></head><body><table width="100%"><tr><td colspan="2"><b>Site</b></td></tr><tr><td valign="top" width="150"><a href="/a">Home</a><br>'
    '<a href="/b">Archive</a><br><a href="/c">Contact</a></td><td valign="top"><h1>{title}</h1>{body}</td></tr><tr><td colspan="2">© 2026 Site</td></tr></table></body></html>',
}


def repeated(markup: str, entries: Sequence[tuple[str, ...]], around: str = "{}") -> str:
    """Return the markup once per entry; {0}, {1} are its parts and {n} its number."""
    return around.format("\n".join(markup.format(*entry, n=number) for number, entry in enumerate(entries)))


TEASERS = [(doc.title, doc.summary) for doc in NEWS]
TITLES = [(doc.title,) for doc in NEWS]
JOBS = [(job, place) for job, place in zip(texts.JOBS, texts.PLACES, strict=False)]
GOODS = [(name, f"{number + 3}.50") for number, name in enumerate(texts.PRODUCTS[:12])]
POSTS = list(zip(texts.POSTS[:10], texts.PEOPLE, strict=False))
PEOPLE = list(zip(texts.PEOPLE, texts.JOBS, strict=False))
CODE = [
    ("import sys",),
    ("def read(depth):",),
    ("    return depth + 1",),
    ("LIMIT = 4.2",),
    ("def main():",),
    ("    print(read(4))",),
]
SHAPES: dict[str, tuple[str, Sequence[tuple[str, ...]]]] = {
    "cards that are links": ('<a class="card" href="/n/{n}"><h3>{0}</h3><p>{1}</p></a>', TEASERS),
    "list of teasers": ('<li><h3><a href="/n/{n}">{0}</a></h3><p>{1}</p></li>', TEASERS),
    "sections named teaser": ('<section class="teaser"><h2><a href="/n/{n}">{0}</a></h2><p>{1}</p></section>', TEASERS),
    "search results": ('<div class="result"><a href="/n/{n}">{0}</a><br><p>… {1} …</p></div>', TEASERS),
    "dated links": ('<div><span class="date">1{n}.05.2026</span> <a href="/n/{n}">{0}</a></div>', TITLES),
    "definition list of links": ('<dt>1{n} May</dt><dd><a href="/n/{n}">{0}</a></dd>', TITLES),
    "cards with a picture": (
        '<div class="card"><a href="/n/{n}"><img src="x.jpg"></a><h3><a href="/n/{n}">{0}</a></h3><span class="price">{1}</span></div>',
        GOODS,
    ),
    "cards of a shop": (
        '<div class="product-thumb"><a class="thumbnail" href="/n/{n}"><div class="caption"><h6>{0}</h6><span class="price">{1}</span></div></a></div>',
        GOODS,
    ),
    "paragraphs of links": ('<p><a href="/n/{n}">{0}</a></p>', JOBS),
    "lines of links": ('<a href="/n/{n}">{0}</a><br>', JOBS),
    "rows with links": ('<tr><td><a href="/n/{n}">{0}</a></td><td>{1}</td></tr>', JOBS),
    "prices": ("<tr><td>{0}</td><td>{1}</td></tr>", GOODS),
    "headings that link to themselves": ('<h2 id="q{n}"><a href="#q{n}">{0}</a></h2><p>{1}</p>', texts.FAQ),
    "questions that open": ("<details><summary>{0}</summary><p>{1}</p></details>", texts.FAQ),
    "thread in a table": ('<tr><td class="u"><b>{1}</b></td><td class="m">{0}</td></tr>', POSTS),
    "thread in boxes": (
        '<div class="post"><div class="author">{1}</div><div class="body">{0}</div><div class="tools"><a href="#">Reply</a></div></div>',
        POSTS,
    ),
    "thread of comments": ('<div class="comment"><p class="comment-meta">{1} wrote</p><p>{0}</p></div>', POSTS),
    "voices": ("<blockquote><p>{0}</p><cite>{1}</cite></blockquote>", POSTS),
    "people": ('<div class="member"><h4>{0}</h4><p class="role">{1}</p></div>', PEOPLE),
    "names": ("<li>{0}</li>", PEOPLE),
    "pictures with captions": (
        '<figure><img src="{n}.jpg"><figcaption>{0}</figcaption></figure>',
        [(event,) for event in texts.EVENTS],
    ),
    "dates": ("<li>{n} May 2026: {0}</li>", [(event,) for event in texts.EVENTS]),
    "old paragraphs": ("{0}<br><br>", [(text,) for text in texts.PROSE]),
    "lines of code": ('<div class="line"><a class="nr" href="#l{n}">{n}</a> {0}</div>', CODE),
    "code in a table": ('<tr><td class="n">{n}</td><td class="l"><pre>{0}</pre></td></tr>', CODE),
    "fields of a form": (
        '<div class="field"><label for="f{n}">{0}</label><input id="f{n}"></div>',
        [("Your name",), ("Town",), ("Street and number",), ("Date of birth",)],
    ),
}
AROUND: dict[str, str] = {
    "li": "<ul>{}</ul>",
    "dt": "<dl>{}</dl>",
    "tr": "<table>{}</table>",
    "fields of a form": "<form>{}</form>",
}


def page_of(shape: str, frame: str) -> dict[str, object]:
    markup, entries = SHAPES[shape]
    element = (re.match(r"<(\w+)", markup) or ["", ""])[1]
    body = repeated(markup, entries, AROUND.get(shape, AROUND.get(element, "<div>{}</div>")))
    parts = dict.fromkeys(int(part) for part in re.findall(r"\{(\d)\}", markup))
    truth = [
        entry[part] for entry in entries for part in parts if part == 0 or entries is not POSTS
    ]  # authors are optional
    html = FRAMES[frame].format(title="Overview", body=body)
    own = [re.sub(r"<[^>]+>", " ", body), "Overview"]
    return {
        "id": f"{shape} in {frame}",
        "software": frame,
        "kind": shape,
        "url": "https://shapes.example/",
        "html": html,
        "paragraphs": truth,
        "optional": own,
    }


def scores_of(frame: str) -> list[Score]:
    return [score(page_of(shape, frame)) for shape in SHAPES]


@pytest.mark.parametrize("frame", FRAMES)
def test_every_shape_keeps_its_entries(frame: str) -> None:
    scores = scores_of(frame)
    assert {one.kind: one.lost for one in scores if one.lost} == {}
    assert shares(scores)[1] <= 0.01


if __name__ == "__main__":
    for one in [one for frame in FRAMES for one in scores_of(frame)]:
        if one.lost or one.foreign:
            print(one.id, len(one.lost), "of", one.paragraphs, one.lost[:2], dict(one.foreign))
