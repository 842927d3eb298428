"""What a template sees of one visit: the page, and a source of everything that moves by itself.

A quiet view answers every question about noise with a constant, so two quiet renderings differ exactly where the
content differs.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

from tests.worlds.blind.pages import Block, Page
from tests.worlds.blind.prose import Prose
from tests.worlds.blind.tongues import Tongue, moment_age, rails_age

T = TypeVar("T")
_SYLLABLES = ("zo", "vex", "ma", "li", "tor", "ka", "ben", "sua", "ri", "qu", "ent", "hol", "dri", "fa", "nor", "ul")
BEGIN = datetime(2025, 2, 3, 8, 0)
_LINK = re.compile(r"\[\[([^|\]]*)\|([^\]]*)\]\]")
_TAG = re.compile(r"<([a-zA-Z][\w-]*)((?:\s+[\w:-]+=\"[^\"]*\"){2,})(\s*/?)>")
_ATTRIBUTE = re.compile(r"[\w:-]+=\"[^\"]*\"")
_PRE = re.compile(r"(<pre.*?</pre>|<textarea.*?</textarea>|<script.*?</script>)", re.S)


def esc(text: str) -> str:
    """Escape text for HTML."""
    return html.escape(text, quote=True)


def steady(*parts: object) -> int:
    """Return a number that depends on the parts only."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:6], "big")


@dataclass(frozen=True)
class View:
    """One request: who asks for which page, when, and how the site is built that day."""

    host: str
    seed: int
    prose: Prose
    tongue: Tongue
    page: Page
    pages: tuple[Page, ...]
    now: float
    deploy: int
    flags: frozenset[str]
    rng: Random
    quiet: bool = False

    # What moves with each request.

    def token(self, length: int = 32) -> str:
        """Return a secret that is new with each request."""
        return "" if self.quiet else f"{self.rng.getrandbits(4 * length):0{length}x}"

    def word(self, length: int = 24) -> str:
        """Return a random token of letters, digits and dashes."""
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
        return "" if self.quiet else "".join(self.rng.choices(letters, k=length))

    def unique(self, prefix: str) -> str:
        """Return an id made for this request."""
        return prefix if self.quiet else f"{prefix}{self.rng.randint(10**5, 10**7)}"

    def between(self, low: int, high: int) -> int:
        """Return a number drawn for this request."""
        return 0 if self.quiet else self.rng.randint(low, high)

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of several variants, drawn for this request."""
        return choices[0] if self.quiet else self.rng.choice(choices)

    def some(self, choices: Sequence[T], count: int) -> list[T]:
        """Return several things drawn for this request, none if quiet."""
        return [] if self.quiet else self.rng.sample(list(choices), min(count, len(choices)))

    def maybe(self, chance: float) -> bool:
        """Say whether something that comes and goes is there this time."""
        return not self.quiet and self.rng.random() < chance

    def noise(self, text: str) -> str:
        """Return text that is no content: nothing if quiet."""
        return "" if self.quiet else text

    def advert(self) -> str:
        """Return the text of an advert; there is always a new one."""
        if self.quiet:
            return ""
        brand = "".join(self.rng.choice(_SYLLABLES) for _ in range(self.rng.randint(2, 3))).title()
        text = self.rng.choice(self.tongue.adverts)
        return re.sub(r"\d+", lambda _: str(self.rng.randint(2, 99)), text) + self.rng.choice(
            (f" – {brand}", f" ({brand})")
        )

    def elsewhere(self) -> Page:
        """Return a page of the site that is not among the pages visited."""
        number = self.rng.randint(1000, 9999)
        born = self.now - self.rng.choice((3, 30, 300)) * self.rng.random()
        return Page(number, f"/more/{number}", "page", self.prose.title(self.rng), born, modified=born)

    def others(self, count: int) -> list[Page]:
        """Return other pages drawn at random, as for related or popular boxes."""
        known = self.some([p for p in self.pages if p.number != self.page.number], count)
        return [self.elsewhere() if self.rng.random() < 0.4 else page for page in known]

    def recent(self, count: int) -> list[Page]:
        """Return the pages of the site that were changed last."""
        if self.quiet:
            return []
        known = sorted(self.pages, key=lambda p: -p.modified)[:count]
        return [self.elsewhere() if self.rng.random() < 0.2 else page for page in known]

    def neighbour(self, step: int) -> Page | None:
        """Return the page before or after this one; its title is no content of this page."""
        at = self.page.number + step
        return None if self.quiet or not 0 <= at < len(self.pages) else self.pages[at]

    # What moves with time.

    def count(self, key: str, *, start: int = 100, per_day: float = 20) -> int:
        """Return a counter that only grows."""
        if self.quiet:
            return 0
        base = steady(self.host, self.page.number, key) % max(1, start)
        return base + int((self.now / 24) * per_day * (0.5 + steady(self.host, key, self.page.number) % 100 / 100))

    def grouped(self, number: int) -> str:
        """Write a number with the separator of the language."""
        return f"{number:,}".replace(",", self.tongue.group)

    def brief(self, number: int) -> str:
        """Write a large number in a short form: 1.2k."""
        return f"{number / 1000:.1f}k" if number >= 1000 else str(number)

    def age(self, born: float) -> str:
        """Write how long ago something was, in words."""
        if self.quiet:
            return ""
        styles = (self.tongue.age, moment_age, rails_age) if self.tongue.code == "en" else (self.tongue.age,)
        return styles[steady(self.host, "ages") % len(styles)](self.now - born)

    def short_age(self, born: float) -> str:
        """Write how long ago something was, in a few letters."""
        return "" if self.quiet else self.tongue.short_age(self.now - born)

    def clock(self, form: str = "%H:%M") -> str:
        """Write the time of the request."""
        return "" if self.quiet else self.when(self.now, form)

    # What moves with deployments.

    def asset(self, path: str) -> str:
        """Return the address of a static file with its version."""
        return path if self.quiet else f"{path}?v={steady(self.host, self.deploy) % 16**8:08x}"

    def cls(self, name: str) -> str:
        """Return a class name as generated by a build tool; each deployment has others."""
        if self.quiet:
            return name
        letters = "0123456789abcdefghijklmnopqrstuvwxyz"
        number = steady(self.host, name, self.deploy)
        return "css-" + "".join(letters[(number >> 5 * i) % 36] for i in range(6))

    # What the editors of the template changed.

    def has(self, edit: str) -> bool:
        """Say whether a site-wide edit of the template is in force."""
        return not self.quiet and edit in self.flags

    def menu(self) -> list[tuple[str, str]]:
        """Return the entries of the main menu with their addresses."""
        names = list(self.tongue.menu)
        entries = [(name, f"/section/{i}") for i, name in enumerate(names)]
        if self.has("menu entry renamed"):
            entries[2] = (self.tongue.renamed, entries[2][1])
        if self.has("menu entry added"):
            name = self.tongue.extra_menu[self.seed % len(self.tongue.extra_menu)]
            entries.insert(3 + self.seed % 2, (name, "/section/new"))
        return entries

    def footer(self) -> str:
        """Return the text of the footer."""
        return self.tongue.new_footer if self.has("footer text changed") else self.tongue.footer

    def notice(self) -> str:
        """Return the notice that is shown on every page, or nothing."""
        return self.tongue.notices[self.seed % len(self.tongue.notices)] if self.has("notice put up") else ""

    def button(self, old: str, new: str) -> str:
        """Return the label of a button."""
        return new if self.has("button renamed") else old

    # What helps to write content.

    def opt(self, name: str, chance: float = 0.5) -> bool:
        """Say whether this site has a feature; the same on every page and visit."""
        return steady(self.host, "option", name) % 1000 < chance * 1000

    def when(self, hours: float, form: str = "%Y-%m-%d") -> str:
        """Write a moment of the world as a date; %B is the month in the language of the site."""
        moment = BEGIN + timedelta(hours=hours)
        return moment.strftime(form.replace("%B", self.tongue.months[moment.month - 1]))

    def text(self, sentences: Sequence[str]) -> str:
        """Join sentences to inline HTML."""
        return self.inline(self.prose.glue.join(sentences))

    def inline(self, text: str, *, suffix: str = "") -> str:
        """Escape a text and turn its links into HTML."""
        return _LINK.sub(lambda m: f'<a href="{m[2]}{suffix}">{m[1]}</a>', esc(text))

    def body(self, **forms: Callable[[Block], str]) -> str:
        """Write the blocks of the page, each kind as the template wants it."""
        return "\n".join(
            (forms.get(block.kind) or getattr(self, f"_{block.kind}"))(block) for block in self.page.blocks
        )

    def _p(self, block: Block) -> str:
        return f"<p>{self.text(block.items)}</p>"

    def _h2(self, block: Block) -> str:
        return f"<h2>{esc(block.text)}</h2>"

    def _ul(self, block: Block) -> str:
        return f"<ul>{self.items(block)}</ul>"

    def _ol(self, block: Block) -> str:
        return f"<ol>{self.items(block)}</ol>"

    def items(self, block: Block) -> str:
        """Write the entries of a list."""
        return "\n".join(f"<li>{self.inline(item)}</li>" for item in block.items)

    def rows(self, block: Block) -> str:
        """Write the rows of a table, the first as headers."""
        head = "".join(f"<th>{esc(cell)}</th>" for cell in block.rows[0])
        body = "\n".join("<tr>" + "".join(f"<td>{esc(c)}</td>" for c in row) + "</tr>" for row in block.rows[1:])
        return f"<tr>{head}</tr>\n{body}"

    def _table(self, block: Block) -> str:
        return f"<table>{self.rows(block)}</table>"

    def _pre(self, block: Block) -> str:
        return "<pre>" + esc("\n".join(block.items)) + "</pre>"

    def _img(self, block: Block) -> str:
        return f'<figure><img src="/media/{block.href}.jpg" alt="{esc(block.text)}"></figure>'

    def _file(self, block: Block) -> str:
        return f'<p><a href="/files/{block.href}">{esc(block.text)}</a></p>'

    def _dl(self, block: Block) -> str:
        return "<dl>" + "\n".join(f"<dt>{esc(a)}</dt><dd>{self.inline(b)}</dd>" for a, b in block.rows) + "</dl>"

    def _quote(self, block: Block) -> str:
        return f"<blockquote><p>{self.text(block.items)}</p></blockquote>"


_UNSEEN = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1>|^.*?<body[^>]*>", re.S)
_PART = re.compile(r"<[^>]*>|[^<]+")
_TARGET = re.compile(r"\b(?:href|src|data-src)=\"([^\"]*)\"")


def with_template_edits(view: View, text: str) -> str:
    """Apply the site-wide edits that work on every template: boxes and lines below the heading, and new markup."""
    tongue = view.tongue
    added = ""
    if view.has("box added"):
        added += f'<div class="callout"><strong>{tongue.extra_menu[0]}</strong> <span>{tongue.notices[-1]}</span></div>'
    if view.has("reading time added"):
        added += f'<div class="reading-time">⏱ {2 + steady(view.host, view.page.number) % 9} min</div>'
    text = re.sub(r"</h1>", lambda end: end[0] + added, text, count=1)
    if view.has("markup rebuilt"):
        text = re.sub(r"\bclass=([\"'])(?=\w)", r"class=\1x-", text)
        text = re.sub(
            r"<body[^>]*>", lambda tag: tag[0] + '<div class="app-root"><div class="app-inner">', text, count=1
        )
        text = text.replace("</body>", "</div></div></body>")
    return text


def reader_view(text: str) -> list[str]:
    """Return what a reader of a page can tell: its words, where links lead and which pictures are shown."""
    found: list[str] = []
    for part in _PART.findall(_UNSEEN.sub("", text)):
        found += _TARGET.findall(part) if part[0] == "<" else part.split()
    return found


def untidy(view: View, text: str) -> str:
    """Change line breaks and the order of attributes as nobody would notice."""
    if view.quiet:
        return text
    parts = _PRE.split(text)
    for at in range(0, len(parts), 2):
        part = re.sub(r"\n", lambda _: view.rng.choice(("\n", "\n", "\n\n", "\n  ", "\n\t")), parts[at])
        parts[at] = _TAG.sub(lambda m: _shuffled(m, view.rng), part)
    return "".join(parts)


def _shuffled(tag: re.Match[str], rng: Random) -> str:
    attributes = _ATTRIBUTE.findall(tag[2])
    rng.shuffle(attributes)
    return f"<{tag[1]} {' '.join(attributes)}{tag[3]}>"
