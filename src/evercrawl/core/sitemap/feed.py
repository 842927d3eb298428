"""What does an entry of a feed say? RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0 (RFC 4287)."""

from __future__ import annotations

from datetime import datetime

from evercrawl.core.sitemap.address import absolute, is_absolute
from evercrawl.core.sitemap.collect import Field, Record
from evercrawl.core.sitemap.date import moment_of
from evercrawl.model.sitemap import SitemapEntry

# A date of change says more than a date of birth.
_ITEM_DATES = (":updated", ":modified", "pubdate", ":date", "date", ":issued", ":created", ":published")
_ATOM_DATES = ("updated", "modified", "published", "issued", "created", ":updated", ":modified", ":date")
_LONGEST_TITLE = 500


def item_entries(record: Record) -> list[SitemapEntry]:
    """The page of an RSS item: its link, else a guid that is a permanent link."""
    own = _own_fields(record)
    url = absolute(_item_link(own), record.base) or absolute(_linked(record, ":link"), record.base)
    return [] if url is None else [SitemapEntry(url, _moment(own, _ITEM_DATES), text=_title(own))]


def _item_link(own: dict[str, Field]) -> str:
    link = own.get("link")
    if link is not None and (written := link.text.strip() or link.attributes.get("href", "")):
        return written
    guid = own.get("guid")
    if guid is not None and guid.attributes.get("isPermaLink", "true").strip().lower() != "false":
        return guid.text if is_absolute(guid.text.strip()) else ""
    return ""


def atom_entries(record: Record) -> list[SitemapEntry]:
    """The page of an Atom entry: the alternate link, else the address of its content."""
    own = _own_fields(record)
    url = absolute(_linked(record, "link"), record.base)
    if url is None and (content := own.get("content")) is not None:
        url = absolute(content.attributes.get("src", ""), _link_base(content, record.base))
    return [] if url is None else [SitemapEntry(url, _moment(own, _ATOM_DATES), text=_title(own))]


def _linked(record: Record, name: str) -> str:
    """The best alternate link of that name: HTML, or no type at all, before anything else."""
    best = ""
    for field in record.fields:
        if field.parent or field.name != name or not _is_alternate(field):
            continue
        url = absolute(field.attributes.get("href", ""), _link_base(field, record.base))
        if url is not None and "html" in field.attributes.get("type", "html").lower():
            return url
        best = best or url or ""
    return best


def _is_alternate(link: Field) -> bool:
    # RFC 4287 section 4.2.7.2: no rel is alternate; a registered relation may be written as a whole IRI.
    return link.attributes.get("rel", "alternate").strip().lower().rpartition("/")[2] == "alternate"


def _link_base(field: Field, base: str) -> str:
    written = field.attributes.get("xml:base", "")
    return absolute(written, base) or base if written else base


def _own_fields(record: Record) -> dict[str, Field]:
    """The record's own children, of each name the first."""
    return {field.name: field for field in reversed(record.fields) if not field.parent}


def _moment(own: dict[str, Field], names: tuple[str, ...]) -> datetime | None:
    for name in names:
        if name in own and (moment := moment_of(own[name].text)) is not None:
            return moment
    return None


def _title(own: dict[str, Field]) -> str | None:
    title = own.get("title")
    return None if title is None else " ".join(title.text.split())[:_LONGEST_TITLE] or None
