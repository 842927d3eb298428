"""The versions of a page: history, statistics, sentiment and differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from evercrawl.adapters.sql.state_reader import StateReader
from evercrawl.collection.explain import past_visit
from evercrawl.collection.stored_pages import (
    StoredPage,
    canonical_page_url,
    compare_bounded,
    decode_html,
    load_page,
    parse_response,
    read_response,
    seen_until,
    utc_now,
    version_screenshot,
)
from evercrawl.core.change.classify import compare
from evercrawl.core.change.detectors import bytes_change
from evercrawl.core.change.text_diff import diff_text, hidden_edits, join_moves
from evercrawl.core.document.media_type import HTML_TYPES, sniff_media_type
from evercrawl.core.sentiment.sentences import Sentiment, site_sentiment
from evercrawl.core.url import shard_of_site, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.change import (
    NO_CHANGE,
    BlockEdit,
    Change,
    Edit,
    FieldChange,
    PictureDiff,
    VersionDiff,
    VersionMark,
)
from evercrawl.model.document import USAGE_KEY, Document
from evercrawl.model.fetch import header
from evercrawl.model.history import (
    EVERY_VISIT,
    NEVER_VISITED,
    PageHistory,
    PageSentiment,
    PageStatistics,
    PastVersion,
    SiteSentiment,
    VersionSentiment,
)
from evercrawl.model.listing import VersionRecord
from evercrawl.model.settings import Settings
from evercrawl.model.time import from_us


def page_history(collection: Path, settings: Settings, url: str) -> PageHistory:
    """Return every version of a page with the time span in which it appeared, and every visit."""
    stored = load_page(collection, settings, url)
    until = seen_until(stored.versions, stored.visits)
    return PageHistory(
        url=stored.page.url,
        versions=tuple(
            _past_version(kept, until[kept.version.number], stored.analyses.get(kept.version.number, {}))
            for kept in stored.versions
        ),
        visits=tuple(past_visit(visit) for visit in stored.visits),
    )


def _past_version(kept: VersionRecord, until_us: int, analysis: Mapping[str, Any]) -> PastVersion:
    version = kept.version
    return PastVersion(
        version=version.number,
        seen_at=from_us(kept.seen_us),
        changed_after=None if kept.changed_after_us is None else from_us(kept.changed_after_us),
        seen_until=from_us(until_us),
        change_class=version.change_class,
        size=version.change_size,
        digest=version.digest.hex(),
        status=kept.status,
        title=version.title,
        content_type=version.content_type,
        words=version.words,
        body_bytes=version.body_bytes,
        file=version.file,
        offset=version.offset,
        analysis={name: value for name, value in analysis.items() if name != USAGE_KEY},
    )


def page_statistics(collection: Path, settings: Settings, url: str) -> PageStatistics:
    """Return the statistics of a page; raise ConfigError if no version is stored."""
    stored = load_page(collection, settings, url)
    page, newest = stored.page, stored.versions[-1]
    body = read_response(collection, settings, stored.shard, newest).body
    return PageStatistics(
        url=page.url,
        parent=page.parent,
        depth=page.depth,
        content_type=newest.version.content_type,
        bytes=newest.version.body_bytes,
        ascii_count=sum(body),
        last_modified=newest.version.last_modified,
        frequency_of_change=days_between_changes(stored),
        file_path=f"archive/{newest.version.file}",
        offset=newest.version.offset,
        version=page.version,
        changes=page.version - 1,
        visits=page.visits,
        first_seen=from_us(stored.versions[0].seen_us),
        last_visit=None if page.last_us is None else from_us(page.last_us),
        last_change=from_us(newest.seen_us),
    )


def days_between_changes(stored: StoredPage) -> float:
    """Return the days between two changes: -1 if never visited, 0 if changed at every visit.
    A page without a change counts as one change in the time since its first visit."""
    page = stored.page
    if page.visits == 0 or page.last_us is None:
        return NEVER_VISITED
    changes = page.version - 1
    if changes and changes == page.visits - 1:
        return EVERY_VISIT
    watched = from_us(page.last_us) - from_us(stored.versions[0].seen_us)
    return round(watched / timedelta(days=1) / max(changes, 1), 3)


def page_sentiment_history(collection: Path, settings: Settings, url: str) -> PageSentiment:
    """Return the scores of the versions of a page, oldest first, and the mean of its site."""
    stored = load_page(collection, settings, url)
    then = [
        VersionSentiment(kept.version.number, from_us(kept.seen_us), data["sentiment"], data["sentiment_sentences"])
        for kept in stored.versions
        if "sentiment" in (data := stored.analyses.get(kept.version.number, {}))
    ]
    return PageSentiment(stored.page.url, tuple(then), mean_site_sentiment(collection, settings, stored.page.url))


def mean_site_sentiment(collection: Path, settings: Settings, url: str) -> SiteSentiment:
    """Return the mean score of the pages of a URL's site."""
    site = site_of(canonical_page_url(url))
    pages = [
        Sentiment(data["sentiment"], data["sentiment_sentences"], 0, 0)
        for _, data in _site_analyses(collection, settings, site)
        if "sentiment" in data
    ]
    whole = site_sentiment(pages)
    return SiteSentiment(site, None if whole is None else round(whole.score, 4), len(pages))


def _site_analyses(collection: Path, settings: Settings, site: str) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = StateReader(collection)
    shard = shard_of_site(site, settings.store.shards)
    if shard in reader.shards():
        with reader.shard(shard) as state:
            yield from state.analyses_of_site(site)


PAGE_HEADERS = ("content-type", "content-language", "x-robots-tag")  # Header fields that describe the page.


def diff_versions(
    collection: Path, settings: Settings, url: str, a: str | None = None, b: str | None = None
) -> VersionDiff:
    """Return the difference from version `a` (default: the second newest) to `b` (default: the newest)."""
    stored = load_page(collection, settings, url)
    return diff_records(collection, settings, stored, *_chosen_versions(stored, a, b))


def diff_screenshots(
    collection: Path, settings: Settings, url: str, a: str | None = None, b: str | None = None
) -> PictureDiff:
    """Return where the screenshots of two versions differ; raise ConfigError if a version has none."""
    try:
        from evercrawl.adapters.pictures import decode_picture
    except ImportError:
        raise ConfigError("screenshots are compared with an extra: pip install 'evercrawl[screenshots]'") from None
    from evercrawl.core.change.picture_diff import diff_pictures

    stored = load_page(collection, settings, url)
    pictures = []
    for kept in _chosen_versions(stored, a, b):
        picture = decode_picture(version_screenshot(collection, stored, kept))
        if picture is None:
            number = kept.version.number
            raise ConfigError(f"the screenshot of version {number} of {stored.page.url} is damaged or too large")
        pictures.append(picture)
    return diff_pictures(*pictures)


def _chosen_versions(stored: StoredPage, a: str | None, b: str | None) -> tuple[VersionRecord, VersionRecord]:
    now = utc_now()
    before = stored.versions[max(0, len(stored.versions) - 2)] if a is None else stored.choose(a, now=now)
    return before, stored.choose(b, now=now)


def diff_records(
    collection: Path, settings: Settings, stored: StoredPage, before: VersionRecord, after: VersionRecord
) -> VersionDiff:
    """Return the difference between two versions of a page."""
    name = stored.page.url
    marks = _mark(before), _mark(after)
    if before.version.number == after.version.number:
        return VersionDiff(name, *marks, same_bytes=True)
    old, new = (_side(collection, settings, stored, kept) for kept in (before, after))
    change = _stored_change(collection, stored, before, after)
    if change is None and old.html is not None and new.html is not None:
        found, _ = compare_bounded(compare, old.html, new.html, limits=settings.parse)
        change = found or bytes_change()
    text, stopped = compare_bounded(diff_text, old.text, new.text, limits=settings.parse)
    if stopped is not None:
        raise ConfigError(f"versions {before.version.number} and {after.version.number} of {name}: {stopped}")
    fields = _changed_fields(old.fields, new.fields)
    old_links, new_links = _links(old.document), _links(new.document)
    return VersionDiff(
        name,
        *marks,
        edits=join_moves(text.edits),
        outside=edits_outside(change or NO_CHANGE, text.edits, fields),
        links_added=tuple(link for link in new_links if link not in old_links),
        links_removed=tuple(link for link in old_links if link not in new_links),
        fields=fields,
        size=round(text.size, 4),
        same_bytes=before.version.digest == after.version.digest,
    )


def _stored_change(collection: Path, stored: StoredPage, before: VersionRecord, after: VersionRecord) -> Change | None:
    """Return what the visit found that stored the version after `before`; None: that is not `after`."""
    numbers = [kept.version.number for kept in stored.versions]
    if numbers.index(after.version.number) - numbers.index(before.version.number) != 1:
        return None
    with StateReader(collection).shard(stored.shard) as state:
        return state.change_at(stored.page.id, after.seen_us)


def edits_outside(change: Change, edits: Sequence[BlockEdit], fields: Sequence[FieldChange]) -> tuple[Edit, ...]:
    """Return the edits of the content that neither the text nor the metadata shows."""
    sides = [
        " ".join(
            [run.text for edit in edits for run in edit.words if run.sign in (" ", sign)]
            + [value or "" for value in values]
        )
        for sign, values in (("-", [field.before for field in fields]), ("+", [field.after for field in fields]))
    ]
    return hidden_edits((edit for edit in change.edits if change.changed and not edit.is_template), *sides)


def _mark(kept: VersionRecord) -> VersionMark:
    return VersionMark(kept.version.number, from_us(kept.seen_us))


class _Side(NamedTuple):
    document: Document
    fields: dict[str, str | None]
    text: str
    html: str | None  # None: the page is not HTML.


def _side(collection: Path, settings: Settings, stored: StoredPage, kept: VersionRecord) -> _Side:
    back = read_response(collection, settings, stored.shard, kept)
    document = parse_response(stored.page.url, back.headers, back.body, settings)
    with StateReader(collection).shard(stored.shard) as state:
        text = state.text(stored.page.id, kept.version.number)
    fields: dict[str, str | None] = {
        "title": document.title,
        "lang": document.lang,
        "canonical": document.canonical,
        "robots": _robots(document),
        "status": None if kept.status is None else str(kept.status),
    }
    fields |= {name: header(back.headers, name) for name in PAGE_HEADERS}
    is_html = sniff_media_type(back.headers, back.body) in HTML_TYPES
    html = decode_html(back.body, header(back.headers, "content-type")) if is_html else None
    return _Side(document, fields, document.text if text is None else text, html)


def _robots(document: Document) -> str | None:
    robots = document.robots
    directives = {"noindex": robots.noindex, "nofollow": robots.nofollow, "noarchive": robots.noarchive}
    return ", ".join(name for name, is_set in directives.items() if is_set) or None


def _links(document: Document) -> dict[str, None]:
    return dict.fromkeys(link.url for link in document.links)


def _changed_fields(old: dict[str, str | None], new: dict[str, str | None]) -> tuple[FieldChange, ...]:
    return tuple(FieldChange(name, old[name], new[name]) for name in old if old[name] != new[name])
