"""Text and title of PDF files."""

from __future__ import annotations

import io

import pypdf
import pytest

from evercrawl.adapters.pdf import handler


def pdf_with(text: str, title: str) -> bytes:
    writer = pypdf.PdfWriter()
    page = writer.add_blank_page(width=300, height=200)
    stream = pypdf.generic.DecodedStreamObject()
    stream.set_data(f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode())
    font = pypdf.generic.DictionaryObject()
    for key, value in (("/Type", "/Font"), ("/Subtype", "/Type1"), ("/BaseFont", "/Helvetica")):
        font[pypdf.generic.NameObject(key)] = pypdf.generic.NameObject(value)
    fonts = pypdf.generic.DictionaryObject({pypdf.generic.NameObject("/F1"): writer._add_object(font)})
    resources = pypdf.generic.DictionaryObject({pypdf.generic.NameObject("/Font"): fonts})
    page[pypdf.generic.NameObject("/Resources")] = resources
    page[pypdf.generic.NameObject("/Contents")] = writer._add_object(stream)
    writer.add_metadata({"/Title": title})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_text_and_title_of_a_pdf() -> None:
    document = handler.parse("http://h.test/x.pdf", (), pdf_with("Hello paper", " A  title "))
    assert (document.text, document.title, document.links) == ("Hello paper", "A title", ())


@pytest.mark.parametrize("body", [b"", b"%PDF-1.7\nrubbish", b"\0" * 1000, pdf_with("x", "y")[:300]])
def test_a_damaged_file_gives_a_document_without_text(body: bytes) -> None:
    assert handler.parse("http://h.test/x.pdf", (), body).text == ""
