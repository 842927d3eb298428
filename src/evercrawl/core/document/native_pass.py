"""The pass over a page's tree in native code, where the package `evercrawl-native` is installed.
The modules beside this one are the reference: limits, word lists and the functions for rare cases come from them, and
without the package, or with a parser that it does not know, they do all the work with the same result."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evercrawl.core import usage_terms
from evercrawl.core.document import boilerplate, bounds, interface_lines, main_text, paragraphs, reference
from evercrawl.core.document.elements import (
    CODE_TAGS,
    LINKING,
    METADATA_TAGS,
    METADATA_TEXT_TAGS,
    Scanned,
    tag_id,
    text_node_id,
)
from evercrawl.core.native import load_native
from evercrawl.model.document import Link

_TAG_NAMES = "a aside main figcaption br sup dt section article h1 h2 h3 h4 h5 h6 p img script link"
# Bits of `survey`.
IS_HARMLESS = 1  # The page is surely within the limits on markup, so that nothing is cut off.
MAY_HAVE_ROOTS = 2
MAY_NAME_LICENCE = 4
_PROBE_TEXT = "A text — with <another> element"
_FUNCTIONS = (
    "is_action is_step_label classify_line is_copyright_notice is_note_of_change is_date_line is_label is_credit"
    " is_pager_part count_fields"
)


def _load() -> ModuleType | None:
    """Return the native module, ready for use; None: it is missing or does not fit the parser."""
    module = load_native()
    if module is None:
        return None
    known = dict.fromkeys((*module.attribute_names(), *boilerplate.NAMES["attributes"]))
    # Of the attributes that the parser may know by number. A page with another one is left to the reference.
    names = " ".join(f'{name}="value of {name}"' for name in known)
    page = LexborHTMLParser(f"<svg><a {names}>A text — with &lt;another&gt; <g>element</g></a></svg>")
    probe = page.css_first("a")
    try:
        module.setup(_settings(), probe, _PROBE_TEXT)
    except (AttributeError, KeyError, RuntimeError, TypeError):
        return None
    return module


def _settings() -> dict[str, Any]:
    """Return what the native pass takes from the reference."""
    modules = (usage_terms, boilerplate, bounds, interface_lines, paragraphs, main_text, reference)
    limits = {
        name: value for module in modules for name, value in vars(module).items() if isinstance(value, int | float)
    }
    tags = {name: tag_id(name) for name in _TAG_NAMES.split()} | {"#text": text_node_id()}
    functions = {name: getattr(boilerplate, name) for name in _FUNCTIONS.split()}
    return {
        **limits,
        **tags,
        **functions,
        "classify_name": boilerplate._classify_cached,
        "combine": boilerplate._combine,
        "is_interface_line": interface_lines.is_interface_line,
        "phrase_starts": set(interface_lines.PHRASE_STARTS),
        "needed_words": {start: list(words) for start, words in interface_lines.NEEDED_WORDS.items()},
        "counted_starts": set(interface_lines.COUNTED_STARTS),
        "empty_ends": list(interface_lines.EMPTY_ENDS),
        "kinds": bytes(paragraphs._KINDS),
        "code_tags": set(CODE_TAGS),
        "tool_tags": set(paragraphs._TOOL_TAGS),
        "sentence_ends": paragraphs.SENTENCE_ENDS,
        "separators": paragraphs._SEPARATORS,
        "permalink_signs": paragraphs._PERMALINK_SIGNS,
        "sign_starts": "".join(paragraphs._SIGN_STARTS),
        "more_signs": paragraphs._MORE_SIGNS,
        "not_nesting_starts": list(bounds._NOT_NESTING_STARTS),
        "read_more": set(paragraphs.READ_MORE),
        "closing_signs": boilerplate.CLOSING_SIGNS,
        "final_signs": "".join(main_text._FINAL_SIGNS),
        "arrows": "".join(boilerplate.ARROWS),
        "unkeyed_first": "".join(boilerplate._UNKEYED_FIRST),
        "credit_letters": "".join(boilerplate._CREDIT_LETTERS),
        "aside_roles": set(boilerplate._ASIDE_ROLES),
        "note_names": set(boilerplate._NOTE_NAMES),
        "step_keys": set(paragraphs._STEP_KEYS),
        "step_types": set(paragraphs._STEP_TYPES),
        "line_starts": boilerplate._BY_KEY,
        "whole_lines": set(boilerplate._WHOLE_LINES),
        "trailing": boilerplate._TRAILING,
        "short_starts": list(boilerplate._SHORT_STARTS),
        "credit_starts": list(boilerplate._CREDIT_STARTS),
        "credit_words": boilerplate.CREDIT_WORDS.split("|"),
        "agencies": boilerplate.AGENCIES.split("|"),
        "credit_ends": list(boilerplate._CREDIT_ENDS),
        "archive_notes": list(paragraphs._ARCHIVE_NOTES),
        "section_names": list(paragraphs._SECTION_NAMES),
        "action_words": list(boilerplate.ACTION_WORDS),
        "metadata_tags": set(METADATA_TAGS),
        "metadata_text_tags": set(METADATA_TEXT_TAGS),
        "linking": set(LINKING),
        "link_type": Link,
        "tuple_new": tuple.__new__,
    }


_NATIVE = _load()


def is_native() -> bool:
    """Return whether pages are read by native code."""
    return _NATIVE is not None


def native_module() -> ModuleType | None:
    """Return the native code if it reads pages."""
    return _NATIVE


def extract_main_text(body: LexborNode, *, most_chars: int, title: str | None = None) -> str:
    """Return the main text, one paragraph per line, without the title."""
    if _NATIVE is None:
        return main_text.extract_main_text(body, most_chars=most_chars, title=title)
    text: str = _NATIVE.extract_main_text(body, (title or "").lower(), most_chars)
    return text


def scan_elements(tree: LexborHTMLParser, *, wants_texts: bool) -> Scanned | None:
    """Return the anchors, headings and elements with metadata in document order; None: the reference has to do it."""
    root = tree.root
    if _NATIVE is None or root is None:
        return None
    try:
        return Scanned(*_NATIVE.scan(root, wants_texts))
    except LookupError:
        return None


def survey(body: bytes) -> int:
    """Return what the bytes of a page tell, as bits; without native code anything is possible."""
    return MAY_HAVE_ROOTS | MAY_NAME_LICENCE if _NATIVE is None else int(_NATIVE.survey(body))
