"""Find URLs that do something instead of showing a page.
A word alone proves nothing (`/operators/delete` is a manual page), nor does a verb after a number. It counts with its
object (an id parameter, a number in a folder of things that people own) or with a token that permits it."""

from __future__ import annotations

import re

from evercrawl.core.traps.url_parts import UrlParts

_EXTENSION = re.compile(r"\.(?:php\d?|aspx?|jspx?|jsf|cgi|pl|cfm|do|html?|action)\Z")
_LOGOUT = re.compile(r"(?:log|sign)[_-]?(?:out|off)|abmelden|ausloggen|deconnexion|cerrar[_-]?sesion|uitloggen")
_DESTROY = frozenset((
    "delete", "remove", "destroy", "erase", "trash", "unsubscribe", "upvote", "downvote", "unfollow",
    "unlike", "unwatch", "unpublish", "deactivate", "purge", "rollback", "cancel",
))  # fmt: skip
_DO: frozenset[str] = _DESTROY | {
    "add", "update", "edit", "vote", "like", "follow", "subscribe", "buy", "watch", "flag", "report",
    "approve", "publish", "submit", "move", "checkout", "mark", "rate", "react", "reply", "favorite",
    "favourite", "bookmark", "ban", "block", "accept", "reject", "restore", "undo", "invite", "join", "leave",
    "pin", "lock",
}  # fmt: skip
_BASKETS = frozenset((
    "cart", "basket", "bag", "wishlist", "wish-list", "compare", "trolley", "warenkorb", "panier", "carrito",
    "minicart", "shoppingcart", "shopping-cart", "shopping_cart", "favorites", "favourites",
))  # fmt: skip
_INTO_BASKET = re.compile(
    r"(?:add|remove|move)[_-]?(?:to|from|item|all)?[_-]?(?:to|from)?[_-]?(?:cart|basket|bag|wish-?list|compare|item)"
)
_ACTION_PARAMETERS = frozenset(("replytocom", "undo_item", "_wpnonce", "wc-ajax"))
"""Parameters that only occur in links of actions."""
_COMMANDS = frozenset(("action", "act", "do", "cmd", "command", "_method"))
_VIEWS = frozenset(("op", "mode", "task", "func", "page", "view"))
"""Parameters that choose a view, sometimes one that deletes or logs out."""
_GESTURES = frozenset(("like", "follow"))
_OWN_THINGS = frozenset(("account", "profile", "my", "me", "user", "settings"))
_OWNED = frozenset((
    "post", "posts", "comment", "comments", "message", "messages", "user", "users", "member", "members",
    "node", "item", "items", "entry", "entries", "photo", "photos", "image", "images", "upload", "uploads",
    "order", "orders", "subscription", "subscriptions", "note", "notes", "task", "tasks", "address",
    "addresses", "attachment", "attachments", "cart", "basket", "wishlist", "booking", "bookings",
    "reservation", "reservations", "review", "reviews", "bookmark", "bookmarks", "notification",
    "notifications", "reply", "replies", "album", "albums", "playlist", "playlists", "invite", "invites",
    "invoice", "invoices",
))  # fmt: skip
"""Folders whose numbers identify things that people own."""
_MARK_READ = re.compile(r"mark[_-]?(?:as[_-]?|all[_-]?)*(?:un)?read")
_TOKEN = re.compile(r"(?s:.*?)(?:token|nonce|csrf|xsrf|authenticity|confirm|formkey|form_key)(?s:.*)|auth|hash|sig")
_FIRST_WORD = re.compile(r"[_\-.]")
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2})?\Z")
_RETURN_PARAMETER = re.compile(r"(?s:.*?)(?:next|redirect|return|continue|dest|goto|back|ref|url)(?s:.*)")
_OBJECT = re.compile(r"(?:\w*[_-])?(?:id|ids|pid|item|product|sku|post|entry|msg|comment|uid|user|file)\Z|id\d*\Z")
_NUMBER = re.compile(r"\d+\Z|[0-9a-f]{8}-[0-9a-f\-]{27}\Z|[0-9a-f]{24,40}\Z")
_ACCOUNT_FOLDERS = frozenset((
    "user", "users", "account", "accounts", "auth", "oauth", "member", "members", "my", "me", "login",
    "admin", "session", "sessions", "customer", "customers", "profile", "secure", "sso", "cas", "identity",
    "portal", "index.php", "wp-login.php", "community", "forum", "shop", "store", "app",
))  # fmt: skip


def action_of(parts: UrlParts) -> str | None:
    """Return what the URL would do; None if it seems to show a page."""
    if not parts.segments and not parts.pairs:
        return None
    return _in_query(parts) or _logout(parts) or _basket(parts) or _acts_on_object(parts)


def _in_query(parts: UrlParts) -> str | None:
    for name, value in parts.pairs:
        if name in _ACTION_PARAMETERS or (_INTO_BASKET.fullmatch(name) and value):
            return f"the parameter {name} belongs to an action"
        if (name in _COMMANDS and _commands(value.lower(), _DO)) or (
            name in _VIEWS and _commands(value.lower(), _DESTROY)
        ):
            return f"{name}={value[:40]} is an action"
        if _LOGOUT.fullmatch(name) and value:
            return f"{name}={value[:40]} ends a session"
    return None


def _commands(value: str, verbs: frozenset[str]) -> bool:
    first = _FIRST_WORD.split(value, maxsplit=1)[0]
    is_whole = _LOGOUT.fullmatch(value) or _INTO_BASKET.fullmatch(value) or _MARK_READ.fullmatch(value)
    return first in verbs or is_whole is not None


def _logout(parts: UrlParts) -> str | None:
    """Find a logout at the end of a short account path, or with a token or return URL."""
    if not parts.segments or not _LOGOUT.fullmatch(last := _EXTENSION.sub("", parts.segments[-1])):
        return None
    before = parts.segments[:-1]
    in_account = all(segment in _ACCOUNT_FOLDERS or _LANGUAGE.match(segment) for segment in before)
    with_return = any(_TOKEN.fullmatch(name) or _RETURN_PARAMETER.fullmatch(name) for name, _ in parts.pairs)
    return f"/{last} ends a session" if in_account or with_return else None


def _basket(parts: UrlParts) -> str | None:
    segments = tuple(_EXTENSION.sub("", segment) for segment in parts.segments)
    for place, segment in enumerate(segments):
        after = segments[place + 1 :]
        if segment in _BASKETS and after and after[0] in _DO and _has_object(after[1:], parts):
            return f"/{segment}/{after[0]} changes a basket"
        if _INTO_BASKET.fullmatch(segment) and (_has_object(after, parts) or place == len(segments) - 1 < 2):
            return f"/{segment} changes a basket"
    if segments and segments[-1] in _BASKETS and any(name in _DO for name, _ in parts.pairs):
        return f"/{segments[-1]} is changed"
    return None


def _has_object(after: tuple[str, ...], parts: UrlParts) -> bool:
    return bool(after) or any(_OBJECT.match(name) or _TOKEN.fullmatch(name) for name, _ in parts.pairs)


def _acts_on_object(parts: UrlParts) -> str | None:
    """Find /delete?id=4, /posts/4/delete, /delete/4, and any verb with a token: /vote?post=4&token=8f."""
    if not parts.segments:
        return None
    folder, before, last = ("", "", *parts.segments)[-3:]
    last = _EXTENSION.sub("", last)
    if last not in _DO and before not in _DO and not _MARK_READ.fullmatch(last):
        return None
    has_token = any(_TOKEN.fullmatch(name) for name, _ in parts.pairs)
    has_object = any(_OBJECT.match(name) and value for name, value in parts.pairs)
    is_numbered = bool(_NUMBER.match(before)) and folder in _OWNED
    if _verb_last(before, last, has_token=has_token, has_object=has_object or is_numbered):
        return f"/{last} acts on an object"
    if _NUMBER.match(last) and (has_token or (before in _DESTROY and len(parts.segments) <= 3)):
        return f"/{before}/{last} acts on an object"
    return None


def _verb_last(before: str, last: str, *, has_token: bool, has_object: bool) -> bool:
    if last in _DESTROY:
        return has_token or has_object or before in _OWN_THINGS
    if last in _GESTURES or _MARK_READ.fullmatch(last):
        return has_token or has_object
    return last in _DO and has_token
