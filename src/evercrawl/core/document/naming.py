"""What do the names that an author gave to an element say about its place on the page?

Classes and ids are words in some language joined in some fashion (`post-meta`, `relatedArticles`,
`c-share__list`). They are taken apart and looked up; the verdict on each combination is remembered, since a
site uses few of them very often.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

PLAIN, BODY, ASIDE, LAYOUT_ASIDE, SMALL_ASIDE, LINKED_ASIDE, SURE_ASIDE = range(7)
"""The names say nothing; that this is the content and nothing else; that it is not the content: most likely,
unless it is a layout around the content, where it is small, where it holds links, or without any doubt.
"""

# Ways around the site and what lies over it. Layouts are named after these too.
_LAYOUT_NAMES = (
    "nav navbar navigation navheader navfooter menu submenu breadcrumb breadcrumbs sidebar sidebars sidenav"
    " footer masthead toolbar tableofcontents sphinxsidebar pagination pager paging linklist quicklinks"
    " ad ads popup modal lightbox login signup signin"
)
# What others say, what else there is to read, and what the page does rather than says.
_ASIDE_NAMES = (
    "comment comments commentlist commentaires comentarios comentários kommentare commenti disqus respond"
    " related relatedposts relatedarticles relacionadas relacionados correlati recommend recommended"
    " recommendation recommendations recirc recirculation trending popular mostread mostpopular outbrain"
    " taboola zergnet sponsored morefrom morenews upnext readnext crosssell upsell"
    " sharing sharebar sharedaddy socialmedia addthis addtoany advert advertisement advertising adsense"
    " adslot publicidad publicidade werbung reklama cookies gdpr newsletter newsletters invisible"
)
_SURE_NAMES = "sphinxsidebar breadcrumb breadcrumbs pagination pager"
# What is about the content without being it.
_SMALL_NAMES = (
    "share shares social socials teilen compartir partager follow promotion anzeige banner banners cookie"
    " consent subscribe subscription paywall overlay tooltip dropdown widget widgets tags taglist tagcloud"
    " rating ratings vote skip sponsor byline bylines author authors autor auteur autore authorbox bio"
    " dateline timestamp date datum fecha pubdate postmeta articlemeta metadata copyright disclaimer caption"
    " captions newscaption imagecaption photocaption bildunterschrift legende credit credits gallery"
    " slideshow carousel readmore register image images img photo photos picture pictures foto bild thumbnail"
    " thumb"
)
_SMALL_PAIRS = (
    "post meta,entry meta,article meta,story meta,meta info,post info,article info,post date,entry date"
    ",article date,publish date,published date,article footer,post footer,entry footer,content footer"
    ",story footer,article tools,story tools,read more,more news,more stories,more articles,more posts"
    ",more from,most read,most viewed,see also,read also,also like,read next,up next,next post,prev post"
    ",post nav,about author,sign up,log in,screen reader,sr only,visually hidden,table contents,site header"
    ",site footer,page header,page footer,latest articles,latest news,latest posts,recent posts,image credit"
    ",photo credit,img credit,donate box,call action,wp caption"
)
_LINKED_NAMES = "teaser teasers promo promos"
_BODY_NAMES = (
    "articlebody articletext articlecontent storybody storytext storycontent postbody postcontent posttext"
    " entrycontent entrybody bodytext bodycopy maintext newstext newscontent contentbody fulltext"
    " artikeltext artikelinhalt beitragstext"
)
_TEXTS = "article story entry post blog news artikel beitrag articulo articolo noticia nota"
_PARTS = "body content text copy inhalt texto testo contenu cuerpo main"
_NOT_NAMES = "has with no is not tag category cat elementor enable enabled show supports label"

_SURE_ASIDE_WORDS = frozenset(_SURE_NAMES.split())
_LAYOUT_ASIDE_WORDS = frozenset(_LAYOUT_NAMES.split())
_ASIDE_WORDS = frozenset(_ASIDE_NAMES.split())
_SMALL_ASIDE_WORDS = frozenset(_SMALL_NAMES.split())
_SMALL_ASIDE_PAIRS = frozenset(_SMALL_PAIRS.split(","))
_LINKED_ASIDE_WORDS = frozenset(_LINKED_NAMES.split())
_BODY_WORDS = frozenset(_BODY_NAMES.split())
_BODY_PAIRS = frozenset(f"{text} {part}" for text in _TEXTS.split() for part in _PARTS.split()) | {
    "markdown body",
    "parser output",
    "body copy",
    "body text",
    "rich text",
}
# `hidden`, but `field-label-hidden` is seen.
_HIDING_WORDS = frozenset(("hidden", "hide", "noprint", "print"))
# A page `with-sidebar` is not a sidebar, and a post tagged `tag-comments` holds none.
_NOT_ABOUT_ITSELF = frozenset(_NOT_NAMES.split())
_BY_FORCE = (SURE_ASIDE, ASIDE, LAYOUT_ASIDE, SMALL_ASIDE, LINKED_ASIDE, BODY)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD_BORDER = re.compile(r"[-_:.]+")

MOST_REMEMBERED = 20_000
LONGEST_CLASSES = 500
LONGEST_ID = 24
"""Longer ids are made by tools, one for each place on the page."""
_remembered: dict[str, int] = {}


def verdict_of(classes: str | None, identity: str | None) -> int:
    """What class and id of an element together say."""
    verdict = _said_by(classes) if classes else PLAIN
    if identity and len(identity) <= LONGEST_ID and identity.replace("-", "").replace("_", "").isalpha():
        other = _said_by(identity)
        if other != verdict:
            return _together((verdict, other))
    return verdict


def _said_by(names: str) -> int:
    verdict = _remembered.get(names)
    if verdict is None:
        if len(_remembered) >= MOST_REMEMBERED:
            _remembered.clear()
        verdict = _together([_verdict_on(name) for name in names[:LONGEST_CLASSES].split()])
        _remembered[names] = verdict
    return verdict


def _together(verdicts: Sequence[int]) -> int:
    if BODY in verdicts and ASIDE not in verdicts and max(verdicts) > BODY:
        # The author contradicts himself.
        return PLAIN
    return next((verdict for verdict in _BY_FORCE if verdict in verdicts), PLAIN)


def _verdict_on(name: str) -> int:
    words = [word for word in _WORD_BORDER.split(_CAMEL.sub("-", name).lower()) if word]
    if not words or words[0] in _NOT_ABOUT_ITSELF or "for" in words or "nav-content" in name or _is_random(name, words):
        return PLAIN
    if words[-1] in _HIDING_WORDS and len(words) < 3:
        return SMALL_ASIDE
    pairs = {f"{first} {second}" for first, second in pairwise(words)}
    if len(words) == 1 and words[0] in _SURE_ASIDE_WORDS:
        return SURE_ASIDE
    is_layout = not _LAYOUT_ASIDE_WORDS.isdisjoint(words) or words[-1] == "toc"
    if not _ASIDE_WORDS.isdisjoint(words) or (is_layout and len(words) == 1):
        return ASIDE
    if is_layout:
        return LAYOUT_ASIDE
    if not _SMALL_ASIDE_WORDS.isdisjoint(words) or not _SMALL_ASIDE_PAIRS.isdisjoint(pairs):
        return SMALL_ASIDE
    if not _LINKED_ASIDE_WORDS.isdisjoint(words):
        return LINKED_ASIDE
    return PLAIN if _BODY_WORDS.isdisjoint(words) and _BODY_PAIRS.isdisjoint(pairs) else BODY


def _is_random(name: str, words: list[str]) -> bool:
    """A name such as `hJpAdR` that a tool made."""
    return name.isalnum() and len(words) > 2 and sum(map(len, words)) < 4 * len(words)
