"""Login forms: find the form of a page, and fill it in as a browser would (HTML standard 4.10.21)."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core.document.elements import Attributes
from evercrawl.core.document.html import base_url, parse_page
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.url import canonical_of_href, join
from evercrawl.model.fetch import Fetched, Headers

USER, PASSWORD = "user", "password"  # Names in a recipe that stand for the form's own fields.
MAX_FORM_FIELDS = 500
MAX_PASSWORD_FIELDS = 20  # Those after the first so many belong to no login form.
MAX_LABEL_CHARS = 60
_TYPED = frozenset(("", "text", "email", "tel", "number", "search", "url"))
_UNSENT = frozenset(("button", "reset", "image", "file"))
_CONTROLS = "input,select,textarea,button"


class FormField(NamedTuple):
    """A field that a person fills in."""

    name: str
    label: str
    is_secret: bool


class LoginForm(NamedTuple):
    """A form with one password field."""

    action: str  # Canonical URL that the form is sent to.
    is_post: bool
    fixed: Headers  # Hidden fields, defaults and the button: tokens against forged requests are among them.
    typed: tuple[FormField, ...]

    def missing(self, given: Headers) -> tuple[str, ...]:
        """Return names that were given, but that the form does not have."""
        known = {name for name, _ in self.fixed} | {field.name for field in self.typed} | {USER, PASSWORD}
        return tuple(name for name, _ in given if name not in known)

    def filled(self, given: Headers) -> bytes:
        """Return the form's content with the given values, as it is sent."""
        names = {PASSWORD: next(field.name for field in self.typed if field.is_secret)}
        users = [field.name for field in self.typed if not field.is_secret]
        if users:
            names[USER] = users[0]
        own = {field.name for field in self.typed} | {name for name, _ in self.fixed}
        values = {name if name in own else names.get(name, name): value for name, value in given}
        pairs = [(name, values.pop(name, value)) for name, value in self.fixed]
        pairs += [(field.name, values.pop(field.name, "")) for field in self.typed]
        return urlencode([*pairs, *values.items()]).encode()


def find_login_form(answer: Fetched) -> LoginForm | None:
    """Return the login form of a page; None: it has none.
    A form with two password fields registers somebody or changes a password, so it does not count."""
    if sniff_media_type(answer.headers, answer.body) not in HTML_TYPES:
        return None
    page = parse_page(answer.headers, answer.body)
    return login_form_of(page.tree, answer.url, page.elements.base)


def login_form_of(tree: LexborHTMLParser, url: str, base: str | None) -> LoginForm | None:
    """Return the first login form of a parsed page."""
    for node in _forms_with_password(tree):
        form = _read_form(node, url, base)
        if form is not None and sum(field.is_secret for field in form.typed) == 1:
            return form
    return None


def _forms_with_password(tree: LexborHTMLParser) -> list[LexborNode]:
    """Return the forms around the first password fields of a page."""
    fields = [node for node in tree.css("input[type]") if (node.attributes.get("type") or "").lower() == "password"]
    forms: dict[int, LexborNode] = {}
    for field in fields[:MAX_PASSWORD_FIELDS]:
        node: LexborNode | None = field
        while node is not None and node.tag != "form":
            node = node.parent
        if node is not None:
            forms[node.mem_id] = node
    return list(forms.values())


def _read_form(node: LexborNode, url: str, base: str | None) -> LoginForm | None:
    attributes = node.attributes
    href = join(base_url(url, base), attributes.get("action") or url)
    action = canonical_of_href(href) if href is not None else None
    if action is None:
        return None
    fixed: list[tuple[str, str]] = []
    typed: list[FormField] = []
    has_button = False
    labels = _labels(node)
    for control in node.css(_CONTROLS)[:MAX_FORM_FIELDS]:
        own = control.attributes
        name, kind = own.get("name") or "", (own.get("type") or "").lower()
        if not name or "disabled" in own:
            continue
        is_button = control.tag == "button" or kind == "submit"
        if is_button:
            if not has_button and kind in ("", "submit"):
                has_button = True
                fixed.append((name, own.get("value") or ""))
        elif control.tag == "input" and (kind == "password" or kind in _TYPED):
            typed.append(FormField(name, _label(labels, own), is_secret=kind == "password"))
        elif (value := _default(control, own, kind)) is not None:
            fixed.append((name, value))
    return LoginForm(action, (attributes.get("method") or "").lower() == "post", tuple(fixed), tuple(typed))


def _default(control: LexborNode, own: Attributes, kind: str) -> str | None:
    """Return what a browser sends for a field that nobody touches; None: nothing."""
    if control.tag == "textarea":
        return str(control.text())
    if control.tag == "select":
        options = control.css("option")
        chosen = [option for option in options if "selected" in option.attributes] or options
        return None if not chosen else chosen[0].attributes.get("value") or chosen[0].text(strip=True)
    if kind in ("checkbox", "radio"):
        return (own.get("value") or "on") if "checked" in own else None
    return None if kind in _UNSENT else own.get("value") or ""


def _labels(form: LexborNode) -> dict[str, LexborNode]:
    """Return the first label of each field, by the field's ID."""
    return {label.attributes.get("for") or "": label for label in reversed(form.css("label"))}


def _label(labels: dict[str, LexborNode], own: Attributes) -> str:
    """Return what a person reads beside a field."""
    wanted = own.get("id")
    if wanted and wanted in labels:
        return str(labels[wanted].text(strip=True))[:MAX_LABEL_CHARS]
    return own.get("placeholder") or own.get("aria-label") or own.get("name") or ""
