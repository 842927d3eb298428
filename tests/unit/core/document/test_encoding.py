"""Encodings as browsers detect them."""

from __future__ import annotations

import pytest

from evercrawl.core.document.encoding import (
    ENCODINGS,
    charset_parameter,
    decode_body,
    detect_charset,
    detect_text_charset,
    encode_text,
    encoding_for_label,
    is_utf8_compatible,
    prescan,
)


def test_a_byte_order_mark_overrides_everything() -> None:
    found = detect_charset(b"\xff\xfe<\0", "text/html; charset=koi8-r")
    assert found == ("utf-16le", False, 2)


def test_the_header_overrides_the_page_unless_it_is_unknown() -> None:
    page = b"<meta charset=koi8-r>"
    assert detect_charset(page, "text/html; charset=utf-8").encoding == "utf-8"
    assert detect_charset(page, "text/html; charset=x-nonsense").encoding == "koi8-r"


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        (b"<!-- <meta charset=koi8-r> --><meta charset='big5'>", "big5"),
        (b"<!--><meta charset=big5>", "big5"),
        (b"<p title='<meta charset=koi8-r>'><meta charset=big5>", "big5"),
        (b"</p <meta charset=koi8-r> ><meta charset=big5>", "big5"),
        (b"<meta http-equiv=content-type content='text/html; charset=big5'>", "big5"),
        (b"<meta content='text/html; charset=big5'>", None),
        (b"<meta charset=utf-16be>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=utf-7>", None),
        (b"<meta charset=big5", None),
        (b"<?xml version='1.0' encoding='iso-8859-2'?><html>", "iso-8859-2"),
        (b"<\0?\0x\0m\0l\0", "utf-16le"),
        (b"<? <meta charset=koi8-r>", None),
        (b"<meta charset=big5><title>x</title><meta charset=koi8-r>", "big5"),
        (b"<title>x</title><meta charset=koi8-r>", "koi8-r"),
        (b"<meta name='<title>' charset=big5>", "big5"),
        (b"<!-- <meta charset=big5><title> --><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=big5<title>", None),
        (b"<", None),
    ],
)
def test_prescan(page: bytes, encoding: str | None) -> None:
    assert prescan(page) == encoding


def test_undeclared_utf8_is_detected_even_when_cut() -> None:
    text = "naïve café".encode()
    assert detect_charset(text, None).encoding == "utf-8"
    assert detect_charset(text[:-1], None) == ("utf-8", True, 0)
    assert detect_charset("café".encode("latin-1"), None).encoding == "windows-1252"
    assert detect_charset(b"ascii", None).encoding == "windows-1252"


def test_plain_text_has_no_inner_declaration() -> None:
    assert detect_text_charset(b"<meta charset=koi8-r>", None).encoding == "windows-1252"
    assert detect_text_charset(b"x", "text/plain; charset=koi8-r").encoding == "koi8-r"


def test_quoted_parameters_are_ignored() -> None:
    assert charset_parameter('text/html; a="; charset=koi8-r"; charset="utf-8"') == "utf-8"
    assert charset_parameter('text/html; charset="ut\\f-8"') == "utf-8"
    assert charset_parameter("text/html; charset = utf-8") is None


def test_labels() -> None:
    assert encoding_for_label(" ISO-8859-1\n") == "windows-1252"
    assert encoding_for_label("latin5") == "windows-1254"
    assert encoding_for_label("utf-7") is None


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_decodes_any_bytes(encoding: str) -> None:
    everything = bytes(range(256)) * 2
    assert isinstance(decode_body(everything, encoding), str)
    if encoding not in ("utf-16be", "utf-16le", "replacement"):
        assert decode_body(b"plain <b>", encoding) == "plain <b>"
        assert encode_text("plain", encoding) == b"plain"


def test_codecs_follow_the_standard_not_python() -> None:
    assert decode_body(b"\x80\x81", "windows-1252") == "€\x81"
    assert decode_body(b"\x80\xff", "x-user-defined") == "\uf780\uf7ff"
    assert decode_body(b"anything", "replacement") == "�"
    assert decode_body(b"", "replacement") == ""


def test_ascii_needs_no_decoding_unless_the_encoding_is_stateful() -> None:
    assert is_utf8_compatible(b"abc", "koi8-r")
    assert not is_utf8_compatible(b"\x1b$B", "iso-2022-jp")
    assert not is_utf8_compatible(b"\xe9", "koi8-r")
