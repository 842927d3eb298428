"""Messages as HTML for mail programs, and differences as HTML for feeds.
Mail programs drop scripts, external styles and often style sheets, so every element has its style inline, with readable
colours of its own; the style sheet only adds dark colours. Crawled text is escaped, and isolated in its direction."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from shlex import quote as quote_argument
from typing import NamedTuple

from evercrawl.core.alerts.headline import page_name, single_line
from evercrawl.core.change.review import edit_patterns
from evercrawl.model.alerts import CHANGES, Alert, Event, EventKind, PendingEvent
from evercrawl.model.change import Edit, Words
from evercrawl.model.sanitize import safe_line

SIGNATURE_CHARS = 32
UNSUBSCRIBE_PATH, MUTE_PATH = "/unsubscribe", "/mute"


def link_signature(key: bytes, purpose: str, number: int) -> str:
    """Return the signature of a link with this purpose for one alert or change."""
    return hmac.new(key, f"{purpose} {number}".encode(), sha256).hexdigest()[:SIGNATURE_CHARS]


def is_signed_link(key: bytes, purpose: str, number: int, signature: str) -> bool:
    """Return whether the signature belongs to the link."""
    expected = link_signature(key, purpose, number)
    return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))


class MessageLinks(NamedTuple):
    """Makes the links of an alert's messages; without a public URL of the interface there are none."""

    collection: str  # Name of the folder.
    alert: str
    public_url: str | None = None
    key: bytes = b""
    alert_id: int = 0

    def difference(self, event: Event) -> str | None:
        """Return the link to the difference, or to the page if it is new or gone."""
        if event.kind not in CHANGES or event.version < 2:
            return self._interface("/page", url=event.url)
        return self._interface("/diff", url=event.url, a=f"v{event.version - 1}", b=f"v{event.version}")

    def mute(self, number: int) -> str | None:
        """Return the link to mute parts of a change."""
        return self._signed(MUTE_PATH, "mute", number)

    def unsubscribe(self) -> str | None:
        """Return the link to stop the messages of the alert."""
        return self._signed(UNSUBSCRIBE_PATH, "unsubscribe", self.alert_id)

    def manage(self) -> str | None:
        """Return the link to the alert."""
        return self._interface("/alert", name=self.alert)

    def difference_command(self, event: Event) -> str:
        """Return the command that shows the difference, or the history if the page is new or gone."""
        if event.kind not in CHANGES or event.version < 2:
            return self._command("history", event.url)
        return self._command("diff", event.url, f"v{event.version - 1}", f"v{event.version}")

    def mute_command(self, event: Event) -> str | None:
        """Return the command that mutes the first part that can be muted; None: no part can."""
        pattern = next(iter(mute_patterns_of(event.edits)), None)
        return None if pattern is None else self._command("mute", "add", pattern, "--page", event.url)

    def unsubscribe_command(self) -> str:
        """Return the command that stops the messages of the alert."""
        return self._command("alert", "pause", self.alert)

    def _interface(self, path: str, **query: str) -> str | None:
        if self.public_url is None:
            return None
        given = "&".join(f"{name}={_percent_encoded(value)}" for name, value in query.items())
        return f"{self.public_url.rstrip('/')}{path}?{given}"

    def _signed(self, path: str, purpose: str, number: int) -> str | None:
        if self.public_url is None:
            return None
        return f"{self.public_url.rstrip('/')}{path}/{number}/{link_signature(self.key, purpose, number)}"

    def _command(self, *words: str) -> str:
        return " ".join(["evercrawl", "-C", *(quote_argument(safe_line(word)) for word in (self.collection, *words))])


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _percent_encoded(text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in encoded)


MAX_MUTE_PATTERNS = 8


def mute_patterns_of(edits: tuple[Edit, ...]) -> list[str]:
    """Return patterns that mute the edited parts: the text that stays the same in each."""
    found = (pattern for edit in edits for pattern in edit_patterns(edit.removed, edit.added))
    return list(dict.fromkeys(found))[:MAX_MUTE_PATTERNS]


_STYLE_LINES = files("evercrawl.core.alerts").joinpath("message_styles.txt").read_text("utf-8").splitlines()
_STYLES = dict(line.split(" ", 1) for line in _STYLE_LINES)
_DARK = (
    ".page{background-color:#0d1117!important;color:#e6edf3!important}"
    ".card{background-color:#161b22!important;border-color:#30363d!important}"
    ".dim{color:#9198a1!important}.edit{border-color:#444c56!important}"
    ".del,.gone{background-color:#4c1a1e!important;color:#ffc9c7!important}"
    ".ins,.new{background-color:#12391f!important;color:#a6f0b8!important}"
    ".a{color:#79b8ff!important}.code{background-color:#2a3038!important;color:#e6edf3!important}"
)

AUTO = ' dir="auto"'


def _open(element: str, kind: str, attributes: str = "") -> str:
    return f'<{element} class="{kind}" style="{_STYLES[kind]}"{attributes}>'


def html_message(
    alert: Alert,
    groups: Sequence[Sequence[PendingEvent]],
    links: MessageLinks,
    summary: str,
    seen: Callable[[Event], str],
) -> str:
    """Return the whole document; a group is pages with the same change, and `seen` says when and how large it was."""
    cards = [_card(group, links, seen(group[0].event)) for group in groups]
    if not cards:
        cards = [f"{_open('div', 'card')}The alert works. Nothing has changed.</div>"]
    title = escape(single_line(summary))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f"<title>{title}</title>\n<style>:root{{color-scheme:light dark}}"
        f"@media (prefers-color-scheme:dark){{{_DARK}}}</style></head>\n"
        f"{_open('body', 'page')}\n"
        '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="page"'
        f' style="{_STYLES["page"]}"><tr><td align="center" style="padding:20px 12px">\n'
        '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:640px">'
        f'<tr><td align="left">\n{_open("h1", "head")}<bdi>{title}</bdi></h1>\n'
        + '\n<div style="height:12px;line-height:12px">&nbsp;</div>\n'.join(cards)
        + f"\n{_foot(alert, links)}</td></tr></table>\n</td></tr></table></body></html>\n"
    )


def _card(group: Sequence[PendingEvent], links: MessageLinks, seen: str) -> str:
    if len(group) == 1:
        event = group[0].event
        url = f'<bdi dir="ltr">{escape(single_line(event.url))}</bdi>'
        head = f"{_open('h2', 'name')}{_link(event.url, page_name(event))}</h2>\n{_open('p', 'dim')}{url}</p>"
    else:
        pages = "<br>\n".join(_link(change.event.url, page_name(change.event)) for change in group)
        title = f"The same change on {len(group):,} pages"
        head = f'{_open("h2", "name")}{title}</h2>\n<p style="margin:8px 0 0;overflow-wrap:anywhere">{pages}</p>'
    return f"{_open('div', 'card')}\n{head}\n{html_difference(group[0], links, seen)}</div>"


def html_difference(change: PendingEvent, links: MessageLinks, seen: str) -> str:
    """Return what changed on a page, and links to the difference and to mute a part."""
    event = change.event
    parts = [html_edit(edit) for edit in event.edits]
    if event.kind is EventKind.GONE:
        parts.append(_block(f"{_open('span', 'gone')}The page is gone.</span>"))
    if event.kind is EventKind.BACK and not event.edits:
        parts.append(_block(f"{_open('span', 'new')}The page is back.</span>"))
    if event.excerpt:
        parts.append(_block(_run(Words("+", event.excerpt), is_whole=True)))
    if event.omitted:
        parts.append(_block(f"… and {event.omitted:,} more"))
    parts.append(f"{_open('p', 'dim')}{escape(seen)}</p>")
    return "\n".join([*parts, _actions(change, links)])


def html_edit(edit: Edit) -> str:
    """Return an edit as one block, with removed and added words marked."""
    pieces: list[str] = []
    is_whole = len(edit.words) == 1
    previous = Words(" ", " ")
    for run in edit.words:
        is_joined = {previous.sign, run.sign} == {"-", "+"} and not (previous.text[-1:] + run.text[:1]).isspace()
        pieces.append((" " if is_joined else "") + _run(run, is_whole=is_whole))
        previous = run
    return _block("".join(pieces))


def _block(inner: str) -> str:
    return f"{_open('div', 'edit', AUTO)}{inner}</div>"


def _run(run: Words, *, is_whole: bool) -> str:
    """Return a run with its marks; the spaces around its words are not marked."""
    text = escape(single_line(run.text))
    start, end = " " * run.text[:1].isspace(), " " * run.text[-1:].isspace()
    match run.sign:
        case "-":
            return f"{start}{_open('del', 'del')}{text}</del>{end}"
        case "+":
            return f"{start}{_open('ins', 'new' if is_whole else 'ins')}{text}</ins>{end}"
        case _:
            return f"{start}{text}{end}"


def _link(url: str, words: str) -> str:
    target = escape(single_line(url))
    return f'<a class="a" style="{_STYLES["a"]}" href="{target}"><bdi>{escape(single_line(words))}</bdi></a>'


def _actions(change: PendingEvent, links: MessageLinks) -> str:
    event = change.event
    label = "Full difference" if event.kind in CHANGES else "History"
    difference, mute = links.difference(event), links.mute(change.number) if event.edits else None
    if difference is not None:
        shown = [_link(difference, label), *([_link(mute, "Mute this part")] if mute else [])]
        return f'<p style="margin:8px 0 0;font-size:14px">{" &nbsp;·&nbsp; ".join(shown)}</p>'
    commands = [(label, links.difference_command(event)), ("Mute this part", links.mute_command(event))]
    lines = [f"{words}: {_code(command)}" for words, command in commands if command]
    return f"{_open('p', 'dim')}{'<br>'.join(lines)}</p>"


def _code(command: str) -> str:
    return f'{_open("code", "code")}<bdi dir="ltr">{escape(single_line(command))}</bdi></code>'


def _foot(alert: Alert, links: MessageLinks) -> str:
    about = f"Sent by evercrawl: alert <b>{escape(alert.name)}</b>, collection {escape(single_line(links.collection))}"
    stop, manage = links.unsubscribe(), links.manage()
    if stop is None or manage is None:
        actions = f"Unsubscribe: {_code(links.unsubscribe_command())}"
    else:
        actions = f"{_link(stop, 'Unsubscribe')} &nbsp;·&nbsp; {_link(manage, 'Manage this alert')}"
    return f'<p class="dim" style="{_STYLES["dim"]};padding:16px 4px 0">{about}<br>{actions}</p>\n'
