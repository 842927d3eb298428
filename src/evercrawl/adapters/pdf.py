"""Extract text and title from PDF files with pypdf (extra `pdf`)."""

from __future__ import annotations

import io
import logging

from pypdf import PdfReader

from evercrawl.model.document import Document
from evercrawl.model.fetch import Headers

MAX_BYTES = 50_000_000
MAX_PAGES = 500
MAX_CHARS = 2_000_000
MAX_TITLE_CHARS = 1000

# Defects of fetched files do not belong in our log.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


class PdfHandler:
    """Parse PDF files; their links are not followed."""

    media_types = ("application/pdf", "application/x-pdf")

    def parse(self, url: str, headers: Headers, body: bytes) -> Document:
        """Return the document; it has no text if the file is broken, encrypted or too large."""
        title: str | None = None
        pages: list[str] = []
        if len(body) <= MAX_BYTES:
            # pypdf raises many exceptions for damaged files, including recursion and memory errors.
            try:
                reader = PdfReader(io.BytesIO(body))
                title = _title(reader)
                _read_pages(reader, pages)
            except Exception:
                pass
        return Document("utf-8", url, title=title, text=_clean("\n".join(pages))[:MAX_CHARS].strip())


def _title(reader: PdfReader) -> str | None:
    metadata = reader.metadata
    title = metadata.title if metadata is not None else None
    return " ".join(_clean(str(title)).split())[:MAX_TITLE_CHARS] or None if title else None


def _read_pages(reader: PdfReader, pages: list[str]) -> None:
    """Append the text of the pages until a limit is reached."""
    chars = 0
    for page in reader.pages[:MAX_PAGES]:
        text = page.extract_text()
        pages.append(text)
        chars += len(text)
        if chars > MAX_CHARS:
            return


def _clean(text: str) -> str:
    """Remove characters that UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


handler = PdfHandler()
