"""The markup around a living site's content: its structure, and widgets that change all the time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from html import escape
from random import Random
from typing import NamedTuple

from evercrawl.testing.site_plan import choose, hash_number, random_stream, uniform
from tests.worlds.living.content import Content
from tests.worlds.living.language import Language, count_text, date_text, sentence

POSITIONS = ("top", "side", "before", "inside-top", "inside-bottom", "after", "bottom")
WEATHER = ("rain", "sun", "snow", "fog", "wind")


class TemplateState(NamedTuple):
    """Everything in one response that is not content."""

    site_key: str
    own: Language
    menu: tuple[str, ...]
    slogan: str
    legal: str
    notice: str
    at: datetime
    page: int
    chance: Random
    """New for each response."""


class Widget(NamedTuple):
    """Something on every page that changes by itself, and its position."""

    position: str
    render: Callable[[TemplateState], str]


class Frame(NamedTuple):
    """Opening and closing markup of each part of a page."""

    parts: dict[str, tuple[str, str]]
    names_widgets: bool


def _pair(tag: str, name: str = "") -> tuple[str, str]:
    return f'<{tag} class="{name}">' if name else f"<{tag}>", f"</{tag}>"


def frame(chance: Random) -> Frame:
    """Return one of four styles: semantic elements, semantic classes, meaningless classes, or none."""
    parts = ("header", "nav", "main", "article", "aside", "footer")
    style = chance.choice(("elements", "classes", "senseless", "bare"))
    if style == "elements":
        return Frame({part: _pair(part) for part in parts}, chance.random() < 0.7)
    if style == "classes":
        names = {"main": "content", "article": "post", "aside": "sidebar", "nav": "main-menu"}
        return Frame({part: _pair("div", names.get(part, part)) for part in parts}, chance.random() < 0.7)
    if style == "senseless":
        letters = "bcdfghkmnprt"
        return Frame({part: _pair("div", "".join(chance.choices(letters, k=5))) for part in parts}, False)
    return Frame({part: _pair("div") for part in parts}, False)


def widgets(chance: Random, own: Language, site_key: str) -> list[Widget]:
    """Return five to nine widgets of a site in random positions."""
    makers = [_clock, _counter, _presence, _age, _teasers, _teasers, _advert, _advert, _quote, _weather, _timing]
    chosen = chance.sample(makers, chance.randint(5, 9))
    return [Widget(chance.choice(POSITIONS), maker(chance, own, f"{site_key}/{at}")) for at, maker in enumerate(chosen)]


def _boxed(chance: Random, name: str) -> Callable[[str], str]:
    """Return the markup around a widget: with its name, a meaningless one, or none."""
    tag = chance.choice(("p", "div", "span", "li"))
    style = chance.randrange(3)
    called = (f' class="{name}"', f' class="{"".join(chance.choices("bdgklmnrstvz", k=6))}"', "")[style]
    if tag == "li":
        return lambda text: f"<ul><li{called}>{text}</li></ul>"
    if tag == "span":
        return lambda text: f"<div{called}><span>{text}</span></div>"
    return lambda text: f"<{tag}{called}>{text}</{tag}>"


def _clock(chance: Random, own: Language, key: str) -> Callable[[TemplateState], str]:
    box, wording, style = _boxed(chance, "clock"), chance.choice(own.clock), chance.randrange(6)
    form = chance.choice(("%H:%M:%S", "%H:%M"))
    return lambda look: box(wording.format(d=date_text(own, look.at, style), t=look.at.strftime(form)))


def _counter(chance: Random, own: Language, key: str) -> Callable[[TemplateState], str]:
    box, wording, style = _boxed(chance, "views"), chance.choice(own.counted), chance.randrange(5)
    per_day = chance.randint(5, 4000)

    def render(look: TemplateState) -> str:
        first = hash_number(key, look.page) % 90_000
        days = look.at.toordinal() - 738_000 + look.at.hour / 24
        return box(wording.format(count_text(first + int(days * per_day) + look.chance.randrange(5), style)))

    return render


def _presence(chance: Random, own: Language, key: str) -> Callable[[TemplateState], str]:
    box, wording = _boxed(chance, "online"), chance.choice(own.present)
    return lambda look: box(wording.format(look.chance.randint(3, 400)))


def _age(chance: Random, own: Language, key: str) -> Callable[[TemplateState], str]:
    box, wording = _boxed(chance, "meta"), chance.choice(own.aged)
    return lambda look: box(wording.format(look.chance.randint(2, 58)))


def _teasers(chance: Random, own: Language, key: str) -> Callable[[TemplateState], str]:
    """Linked headlines, sometimes with a summary."""
    stock = [sentence(chance, own).rstrip(".。") for _ in range(chance.randint(6, 40))]
    shown, has_summary, name = (chance.randint(2, 4), chance.random() < 0.3, chance.choice(("related", "kx", "")))
    summaries = [sentence(chance, own) for _ in stock]
    called = f' class="{name}"' if name else ""

    def item(at: int, session: str) -> str:
        summary = f"<p>{summaries[at]}</p>" if has_summary else ""
        return f'<li><a href="/t/{at}?sid={session}">{stock[at]}</a>{summary}</li>'

    def render(look: TemplateState) -> str:
        chosen = look.chance.sample(range(len(stock)), shown)
        session = f"{look.chance.getrandbits(64):016x}"
        items = "".join(item(at, session) for at in chosen)
        return f"<div{called}><h3>{own.also}</h3><ul>{items}</ul></div>"

    return render


def _advert(chance: Random, own: Language, key: str) -> Callable[[TemplateState], str]:
    stock = [sentence(chance, own) for _ in range(chance.randint(5, 30))]
    called = chance.choice((' class="ad"', ' class="zq-box"', ' id="werbung"', ""))
    is_linked = chance.random() < 0.7

    def render(look: TemplateState) -> str:
        at = look.chance.randrange(len(stock))
        text = (
            f'<a href="https://ads.test/c?id={look.chance.randrange(10**6)}">{stock[at]}</a>'
            if is_linked
            else stock[at]
        )
        return f"<div{called}>{text}<img src='https://ads.test/i/{at}.gif'></div>"

    return render


def _quote(chance: Random, own: Language, key: str) -> Callable[[TemplateState], str]:
    """A random quote, from the same stock for all pages."""
    stock = [sentence(chance, own) for _ in range(chance.randint(5, 20))]
    box = _boxed(chance, "quote")
    return lambda look: box(look.chance.choice(stock))


def _weather(chance: Random, own: Language, key: str) -> Callable[[TemplateState], str]:
    box = _boxed(chance, "weather")
    return lambda look: box(own.weather.format(look.chance.randint(-5, 30), look.chance.choice(WEATHER)))


def _timing(chance: Random, own: Language, key: str) -> Callable[[TemplateState], str]:
    box, words = _boxed(chance, "debug"), " ".join(chance.sample(own.words, 2))
    return lambda look: box(f"{words} {look.chance.random():.3f} s / {look.chance.randint(10, 99)}")


def render(content: Content, look: TemplateState, shape: Frame, around: list[Widget]) -> bytes:
    """Return the whole page."""
    at = {place: "".join(one.render(look) for one in around if one.position == place) for place in POSITIONS}
    token = f"{look.chance.getrandbits(64):016x}"
    part = shape.parts
    own = f"<h1>{escape(content.title)}</h1>" + _content_markup(content, look.site_key)
    article = _within(part["article"], at["inside-top"] + own + at["inside-bottom"])
    blocks = [
        _within(part["header"], f"<a href='/'>{look.slogan}</a>{at['top']}"),
        _within(part["nav"], _menu_markup(look)),
        f"<div>{look.notice}</div>" if look.notice else "",
        at["before"],
        _within(part["main"], article),
        at["after"],
        _within(part["aside"], f"<h2>{look.own.also}</h2>{at['side']}"),
        f'<form method="post" action="/s"><input type="hidden" name="csrf" value="{token}"></form>',
        _within(part["footer"], f"<p>{look.legal}</p><p>&copy; {look.at.year} {look.slogan}</p>{at['bottom']}"),
    ]
    return (
        f'<!DOCTYPE html><html lang="{look.own.code}"><head><meta charset="utf-8">'
        f"<title>{escape(content.title)} - {look.slogan}</title>"
        f'<link rel="stylesheet" href="/app.css?v={look.chance.randrange(10**9)}">'
        f'<script nonce="{token[:8]}">window.t="{token}";</script>'
        f'<meta name="csrf-token" content="{token}"></head>\n'
        f"<body id='b{token[:6]}'><!-- {token} -->\n" + "\n".join(blocks) + "</body></html>\n"
    ).encode()


def _within(part: tuple[str, str], inner: str) -> str:
    return f"{part[0]}{inner}{part[1]}"


def _menu_markup(look: TemplateState) -> str:
    style = hash_number(look.site_key, "menu") % 2
    links = [f'<a href="/m/{hash_number(name) % 1000}">{name}</a>' for name in look.menu]
    return "<ul>" + "".join(f"<li>{link}</li>" for link in links) + "</ul>" if style else " | ".join(links)


def _content_markup(content: Content, site_key: str) -> str:
    style = hash_number(site_key, "facts") % 3
    if style == 0:
        facts = "".join(f"<p>{label}: {value}</p>" for label, value in content.facts)
    elif style == 1:
        rows = "".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in content.facts)
        facts = f"<table>{rows}</table>"
    else:
        facts = "<dl>" + "".join(f"<dt>{label}</dt><dd>{value}</dd>" for label, value in content.facts) + "</dl>"
    tag = choose(("p", "p", "div"), site_key, "paragraph")
    texts = "".join(f"<{tag}>{escape(text)}</{tag}>\n" for text in content.paragraphs)
    return facts + texts if uniform(site_key, "facts first") < 0.5 else texts + facts


def answer_stream(site_key: str, page: int, at_s: float) -> Random:
    """Return the random stream of one response."""
    return random_stream(site_key, page, at_s, "answer")
