"""The commands `history`, `show`, `diff`, `changes` and `sentiment`: versions of pages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, json_lines_option, json_option, with_cli
from evercrawl.cli.terminal import ExitCode, emit_json, format_size, local_time, plural
from evercrawl.collection.urls import parse_page_url, site_of
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_block, safe_line

if TYPE_CHECKING:
    from rich.text import Text

    from evercrawl.model.change import BlockEdit, Edit, PictureDiff, VersionDiff
    from evercrawl.model.history import ChangeGroup, PageEvent, PageHistory, PageSentiment, PastVersion
    from evercrawl.model.report import PageContent, PastVisit

_TITLE_CHARS = 60


@click.command("history")
@click.argument("url")
@click.option("--visits", is_flag=True, help="Also list every visit, with or without a new version.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line, oldest version first.")
@with_cli
def history_command(cli: CliContext, url: str, visits: bool, as_json: bool) -> None:
    """List the versions of a page, oldest first.

    A change happened between two visits: the last that saw the old version ("after") and the first that saw
    the new one.

    \b
    evercrawl history https://example.org/
    evercrawl history https://example.org/ --visits
    """
    with cli.open_collection() as collection:
        found = collection.history(parse_page_url(collection.typed_url(url)))
    if as_json:
        _emit_history(found, with_visits=visits)
        return
    click.echo(safe_line(found.url))
    for version in found.versions:
        click.echo(_history_line(version))
    if visits:
        click.echo(plural(len(found.visits), "visit"))
        for visit in reversed(found.visits):
            click.echo(f"  {local_time(visit.at)}  {visit.status or '-':<4} {visit.outcome}: {visit.reason}")


def version_fields(version: PastVersion) -> dict[str, Any]:
    """Return the fields that scripts rely on, then the rest."""
    return {
        "version": version.version,
        "seen_at": version.seen_at,
        "changed_after": version.changed_after,
        "class": version.change_class,
        "size": version.size,
        "digest": version.digest,
        "status": version.status,
        "seen_until": version.seen_until,
        "title": version.title,
        "content_type": version.content_type,
        "words": version.words,
        "bytes": version.body_bytes,
        "file": version.file,
        "offset": version.offset,
        "analysis": dict(version.analysis),
    }


def _emit_history(found: PageHistory, *, with_visits: bool) -> None:
    for version in found.versions:
        emit_json("history", version_fields(version))
    for visit in reversed(found.visits if with_visits else ()):
        emit_json("history-visit", _history_visit_fields(visit))


def _history_visit_fields(visit: PastVisit) -> dict[str, Any]:
    return {
        "at": visit.at,
        "outcome": visit.outcome,
        "reason": visit.reason,
        "status": visit.status,
        "version": visit.version,
    }


def _history_line(version: PastVersion) -> str:
    """Return version, time, kind and size of the change, size of the body, and title."""
    after = f"after {local_time(version.changed_after)}" if version.changed_after else "first seen"
    change = (version.change_class or "-") + ("" if version.size is None else f" {version.size:.1%}")
    title = safe_line(version.title or "", longest=_TITLE_CHARS)
    body = format_size(version.body_bytes)
    score = version.analysis.get("sentiment")
    sentiment = "" if score is None else f"  sentiment {score:+.2f}"
    seen = local_time(version.seen_at)
    return f"  v{version.version:<4} {seen}  {after:<22} {change:<16} {body:>8}{sentiment}  {title}".rstrip()


VIEWS = ("text", "markdown", "html", "headers", "links", "analysis", "usage", "raw", "screenshot")


@click.command("show")
@click.argument("url", metavar="URL[@TIME]")
@click.argument("form", required=False, type=click.Choice(VIEWS), metavar="[FORM]")
@click.option("--text", "flag", flag_value="text", help="Print the main text (default).")
@click.option("--markdown", "flag", flag_value="markdown", help="Print the main text as Markdown.")
@click.option("--html", "flag", flag_value="html", help="Print the body as the server sent it, decoded.")
@click.option("--headers", "flag", flag_value="headers", help="Print the response headers.")
@click.option("--links", "flag", flag_value="links", help="Print the links with their anchor texts.")
@click.option("--analysis", "flag", flag_value="analysis", help="Print the results of analysers.")
@click.option("--usage", "flag", flag_value="usage", help="Print what the publisher says about the use of the page.")
@click.option("--raw", "flag", flag_value="raw", help="Print the archived response, headers and body.")
@click.option("--screenshot", "flag", flag_value="screenshot", help="Write the screenshot of a rendered page (WebP).")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@with_cli
def show_command(cli: CliContext, url: str, form: str | None, flag: str | None, as_json: bool) -> None:
    """Print a stored version of a page, the newest unless TIME says otherwise.

    TIME is a point in time (7d, yesterday, 2026-11-01), a position from the end (-1: the one before the
    newest), or a version number (v3). FORM is text, markdown or another of the options below.

    \b
    evercrawl show https://example.org/
    evercrawl show https://example.org/@-1 markdown
    evercrawl show https://example.org/@2026-11-01 --html > page.html
    evercrawl show https://example.org/ screenshot > page.webp

    On a terminal, control characters are removed. In a pipe or file, html and raw are written unchanged.
    """
    with cli.open_collection() as collection:
        if (flag or form) == "screenshot" and not as_json:
            _write_picture(collection.screenshot(collection.typed_url(url)))
            return
        page = collection.show(collection.typed_url(url))
    if as_json:
        emit_json("show", page_fields(page))
    else:
        _PRINTERS[flag or form or "text"](page)


def page_fields(page: PageContent) -> dict[str, Any]:
    """Return the page for programs."""
    return {
        "url": page.url,
        "status": page.status,
        "fetched_at": page.fetched_at,
        "version": page.version,
        "title": page.title,
        "author": page.author,
        "published": page.published,
        "modified": page.modified,
        "content_type": page.content_type,
        "analysis": dict(page.analysis),
        "usage": dict(page.usage),
        "headers": page.headers,
        "links": [{"url": link.url, "text": link.text, "nofollow": link.nofollow} for link in page.links],
        "text": page.text,
        "html": page.html,
    }


def _print_text(page: PageContent) -> None:
    click.echo(safe_block(page.text))


def _print_markdown(page: PageContent) -> None:
    from evercrawl.collection.exchange.markdown import content_markdown

    click.echo(safe_block(content_markdown(page)), nl=False)


def _print_headers(page: PageContent) -> None:
    for name, value in page.headers:
        click.echo(f"{safe_line(name)}: {safe_line(value)}")


def _print_links(page: PageContent) -> None:
    for link in page.links:
        click.echo(f"{safe_line(link.url)}\t{safe_line(link.text)}")


def _print_analysis(page: PageContent) -> None:
    for name, value in page.analysis.items():
        click.echo(f"{safe_line(name)}: {safe_line(str(value))}")


def _print_usage(page: PageContent) -> None:
    if not page.usage:
        click.echo("The publisher says nothing about the use of this page.")
    for name, value in page.usage.items():
        for one in value if isinstance(value, list) else [value]:
            click.echo(f"{name}: {safe_line(str(one))}")


def _print_bytes(content: bytes) -> None:
    """Write bytes unchanged to a file or pipe; remove control characters on a terminal."""
    if sys.stdout.isatty():
        click.echo(safe_block(content.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(content)


def _write_picture(content: bytes) -> None:
    if sys.stdout.isatty():
        raise ConfigError("a screenshot is not text; write it to a file: evercrawl show URL screenshot > page.webp")
    sys.stdout.buffer.write(content)


_PRINTERS: dict[str, Callable[[PageContent], None]] = {
    "text": _print_text,
    "markdown": _print_markdown,
    "html": lambda page: _print_bytes(page.html),
    "headers": _print_headers,
    "links": _print_links,
    "analysis": _print_analysis,
    "usage": _print_usage,
    "raw": lambda page: _print_bytes(page.raw),
}


_DIFF_STYLES = {" ": "", "-": "red", "+": "green", "~": "", ">": "cyan"}


@click.command("diff", context_settings={"ignore_unknown_options": True})
@click.argument("url")
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option("--stat", is_flag=True, help="Print only how much was added and removed.")
@click.option("--name-only", is_flag=True, help="Print only the URL, and only if something differs.")
@click.option("--screenshot", is_flag=True, help="Compare the screenshots of rendered pages.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if something differs.")
@json_option
@with_cli
def diff_command(
    cli: CliContext,
    url: str,
    a: str | None,
    b: str | None,
    stat: bool,
    name_only: bool,
    screenshot: bool,
    exit_code: bool,
    as_json: bool,
) -> int:
    """Compare version A (default: the one before the newest) with B (default: the newest).

    Added blocks are marked +, removed blocks -, moved blocks >, and edited blocks ~ with [-removed-] and {+added+}
    words. Links and metadata follow. Write A and B like TIME of `show`.

    \b
    evercrawl diff https://example.org/
    evercrawl diff https://example.org/ -3
    evercrawl diff https://example.org/ 2026-11-01 yesterday --stat
    evercrawl diff https://example.org/ --screenshot
    """
    with cli.open_collection() as collection:
        page = parse_page_url(collection.typed_url(url))
        if screenshot:
            pictures = collection.diff_screenshots(page, a, b)
            _show_picture_diff(page, pictures, as_json=as_json)
            return ExitCode.ERROR if exit_code and (pictures.removed or pictures.added) else ExitCode.OK
        found = collection.diff(page, a, b)
    if as_json:
        emit_json("diff", difference_fields(found))
    elif name_only:
        if not found.is_empty:
            click.echo(safe_line(found.url))
    elif stat:
        click.echo(f"{safe_line(found.url)}  {_diff_stat(found)}")
    else:
        _show_diff(cli, found)
    return ExitCode.ERROR if exit_code and not found.is_empty else ExitCode.OK


def _show_picture_diff(url: str, found: PictureDiff, *, as_json: bool) -> None:
    if as_json:
        emit_json("diff-screenshot", {"url": url, **picture_fields(found)})
        return
    for sign, boxes in (("-", found.removed), ("+", found.added)):
        for box in boxes:
            click.echo(f"{sign} {box.width} x {box.height} pixels at {box.x}, {box.y}")
    if not (found.removed or found.added):
        click.echo("The screenshots look the same.")


def picture_fields(found: PictureDiff) -> dict[str, Any]:
    """Return the difference of two screenshots for programs."""
    return {
        "before_size": found.before_size,
        "after_size": found.after_size,
        "share": found.share,
        "removed": [box._asdict() for box in found.removed],
        "added": [box._asdict() for box in found.added],
    }


def difference_fields(found: VersionDiff) -> dict[str, Any]:
    """Return the difference for programs."""
    return {
        "url": found.url,
        "before": {"version": found.before.version, "seen_at": found.before.seen_at},
        "after": {"version": found.after.version, "seen_at": found.after.seen_at},
        "changed": not found.is_empty,
        "size": found.size,
        "words_added": found.words_of("+"),
        "words_removed": found.words_of("-"),
        "edits": [{"block": edit.place, **_edit_fields(edit)} for edit in found.edits]
        + [{"block": None, **_edit_fields(edit)} for edit in found.outside],
        "links_added": found.links_added,
        "links_removed": found.links_removed,
        "metadata": [{"name": field.name, "before": field.before, "after": field.after} for field in found.fields],
        "same_bytes": found.same_bytes,
    }


def _edit_fields(edit: BlockEdit | Edit) -> dict[str, Any]:
    return {"sign": edit.sign, "words": [{"sign": words.sign, "text": words.text} for words in edit.words]}


def _diff_stat(found: VersionDiff) -> str:
    signs = "".join([edit.sign for edit in found.edits] + [edit.sign for edit in found.outside])
    blocks = " ".join(f"{sign}{signs.count(sign)}" for sign in ("+-~>" if ">" in signs else "+-~"))
    return (
        f"blocks {blocks}, words +{found.words_of('+')} "
        f"-{found.words_of('-')} ({found.size:.1%}), links +{len(found.links_added)} "
        f"-{len(found.links_removed)}, metadata {len(found.fields)}"
    )


def _show_diff(cli: CliContext, found: VersionDiff) -> None:
    before, after = found.before, found.after
    click.echo(f"{safe_line(found.url)}")
    click.echo(f"--- v{before.version}  {local_time(before.seen_at)}")
    click.echo(f"+++ v{after.version}  {local_time(after.seen_at)}")
    for line in diff_lines(found):
        cli.out.print(line, soft_wrap=True)
    if found.is_empty:
        cli.note("no difference" if found.same_bytes else "no difference in text, links and metadata")
    else:
        cli.note(_diff_stat(found))


def diff_lines(found: VersionDiff) -> list[Text]:
    """Return the difference as lines for a terminal."""
    from evercrawl.collection.change_groups import shorten_edit

    lines = [_edit_text(shorten_edit(edit)) for edit in found.edits]
    if found.outside:
        lines.append(_style(" ", "Outside the main text:"))
        lines += [_edit_text(edit) for edit in found.outside]
    for field in found.fields:
        lines.append(_style("-", f"- {field.name}: {field.before or ''}"))
        lines.append(_style("+", f"+ {field.name}: {field.after or ''}"))
    lines += [_style("-", f"- link {link}") for link in found.links_removed]
    lines += [_style("+", f"+ link {link}") for link in found.links_added]
    return lines


def _edit_text(edit: Edit | BlockEdit) -> Text:
    """Return an edit as a line, with removed and added words marked and coloured."""
    from rich.text import Text

    from evercrawl.collection.change_groups import edit_line, mark_words, more_words

    if edit.sign != "~":
        return _style(edit.sign, edit_line(edit))
    line = Text("~ ")
    for run in edit.words:
        line.append(safe_line(mark_words(run)), style=_DIFF_STYLES[run.sign])
    return line.append(more_words(edit))


def _style(sign: str, text: str) -> Text:
    from rich.text import Text

    return Text(safe_line(text), style=_DIFF_STYLES[sign])


_PAGES_SHOWN = 3
_EDITS_SHOWN = 12


@click.command("changes")
@click.argument("site", required=False)
@click.option(
    "--since", default="7d", show_default=True, metavar="TIME", help="Changes since then: 7d, yesterday, 2026-11-01."
)
@click.option("--noise", is_flag=True, help="Also list what the last visits called noise: adverts, counters, menus.")
@click.option("--muted", is_flag=True, help="Include muted parts.")
@click.option("--new", "kinds", flag_value="new", help="List new pages instead.")
@click.option("--gone", "kinds", flag_value="gone back", help="List pages that are gone, or back, instead.")
@json_lines_option
@with_cli
def changes_command(
    cli: CliContext, site: str | None, since: str, noise: bool, muted: bool, kinds: str | None, as_json: bool
) -> None:
    """List what changed on one SITE or on all, the most significant changes first.

    Listed are changes of content and metadata, and edits of the site's template (menus, footers) that several
    pages have in common. The same edit on many pages is one entry. Removed words are in [-...-], added ones in
    {+...+}. Noise is listed only with --noise, and `evercrawl mute` corrects it.
    Pages of which only lists have changed (archives, indexes) come after the page that changed them. New pages and
    those that are gone are counted at the end.

    \b
    evercrawl changes --since yesterday
    evercrawl changes example.org --since 7d --json | jq -r '.pages[]'
    evercrawl changes --gone --since 30d
    """
    from evercrawl.model.time import parse_time

    moment = parse_time(since, now=datetime.now(UTC))
    with cli.open_collection() as collection:
        if kinds is not None:
            _show_events(cli, collection.page_events(moment, site=site), kinds.split(), as_json=as_json)
            return
        groups = collection.change_groups(moment, site=site, noise=noise, muted=muted)
        events = () if as_json else collection.page_events(moment, site=site)
    for group in groups:
        if as_json:
            _emit_group(group)
        else:
            _show_group(cli, group)
    for kind in ("gone", "back", "new"):
        _count_events([event.url for event in events if event.kind == kind], kind)
    if groups and not as_json:
        cli.note("see a full difference with: evercrawl diff URL")
    elif not groups and not events:
        cli.note(f"no changes since {since}")


def _count_events(urls: list[str], kind: str) -> None:
    if urls:
        click.echo(f"{kind}  {plural(len(urls), 'page')}")
        _show_pages(urls, "new" if kind == "new" else "gone")


def _show_events(cli: CliContext, events: Sequence[PageEvent], kinds: list[str], *, as_json: bool) -> None:
    shown = [event for event in events if event.kind in kinds]
    for event in shown:
        if as_json:
            emit_json("page-event", {"kind": event.kind, "url": event.url, "at": event.at, "title": event.title})
        else:
            title = safe_line(event.title or "", longest=_TITLE_CHARS)
            click.echo(f"{event.kind:<4}  {local_time(event.at)}  {safe_line(event.url)}  {title}".rstrip())
    if not shown:
        cli.note(f"no pages are {' or '.join(kinds)}")


def _show_pages(urls: Sequence[str], option: str | None = None) -> None:
    for url in urls[:_PAGES_SHOWN]:
        click.echo(f"    {safe_line(url)}")
    if len(urls) > _PAGES_SHOWN:
        more = f"; list all with --{option}" if option else ""
        click.echo(f"    and {len(urls) - _PAGES_SHOWN:,} more{more}")


def _emit_group(group: ChangeGroup) -> None:
    fields = {
        "class": group.change_class,
        "size": group.size,
        "pages": group.pages,
        "example": group.example,
        "edits": [_edit_fields(edit) for edit in group.edits],
        "more_edits": group.omitted,
        "listings": group.listings,
    }
    emit_json("changes", fields | ({"parts": group.parts} if group.parts else {}))


def _show_group(cli: CliContext, group: ChangeGroup) -> None:
    from evercrawl.collection.change_groups import describe_pages, more_edits

    first, others = group.pages[0], len(group.pages) - 1
    where = describe_pages(group) if others else safe_line(first)
    size = f" {group.size:.1%}" if group.size else ""
    click.echo(f"{group.change_class}{size}  {where}")
    if others:
        _show_pages(group.pages)
    for edit in group.edits[:_EDITS_SHOWN]:
        cli.out.print("  ", _edit_text(edit), sep="", soft_wrap=True)
    if hidden := len(group.edits[_EDITS_SHOWN:]) + group.omitted:
        click.echo(f"  {more_edits(hidden)}; see all with: evercrawl diff {safe_line(first)}")
    for pattern in group.parts if group.change_class == "noise" else ():
        place = f"--site {site_of(first)}" if others else f"--page {quote(safe_line(first))}"
        click.echo(f"  report it with: evercrawl mute except {quote(safe_line(pattern))} {place}")


@click.command("sentiment")
@click.argument("url")
@json_option
@with_cli
def sentiment_command(cli: CliContext, url: str, as_json: bool) -> None:
    """Show the sentiment of a page over time, and of its site, from -1 (negative) to 1 (positive).

    Only English pages get a score, when a new version is stored and the analyser is on:

    \b
    evercrawl config set analysis.analysers sentiment
    evercrawl sentiment https://example.org/
    """
    with cli.open_collection() as collection:
        found = collection.sentiment(parse_page_url(collection.typed_url(url)))
    if as_json:
        emit_json("sentiment", asdict(found))
    else:
        _show_sentiment(found)


def _show_sentiment(found: PageSentiment) -> None:
    click.echo(safe_line(found.url))
    if not found.versions:
        click.echo("  no score: not English, or the analyser is off; turn it on with:")
        click.echo("  evercrawl config set analysis.analysers sentiment")
    for then in found.versions:
        basis = plural(then.sentences, "sentence")
        click.echo(f"  v{then.version:<4} {local_time(then.seen_at)}  {then.score:+.3f}  {basis}")
    if found.site.score is not None:
        basis = plural(found.site.pages, "page")
        click.echo(f"  site {safe_line(found.site.site)}  {found.site.score:+.3f}  {basis}")
