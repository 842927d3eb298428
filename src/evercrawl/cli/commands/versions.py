"""`evercrawl history URL`: the versions of a page, and when each came to be."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import common_options
from evercrawl.cli.terminal import ExitCode, emit_json, exact_time, format_size, plural
from evercrawl.collection.urls import parse_page_url
from evercrawl.model.sanitize import safe_block, safe_line

if TYPE_CHECKING:
    from rich.text import Text

    from evercrawl.model.change import BlockEdit, VersionDiff
    from evercrawl.model.history import ChangeGroup, PageHistory, PageSentiment, PastVersion
    from evercrawl.model.report import PageContent, PastVisit

_TITLE_CHARS = 60


@click.command("history")
@click.argument("url")
@click.option("--visits", is_flag=True, help="List every visit too: unchanged, gone, failed and refused ones.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, oldest version first.")
@common_options
@pass_cli
def history_command(cli: CliContext, url: str, visits: bool, as_json: bool) -> None:
    """List the stored versions of a page, oldest first.

    A page changed between two visits: the last that still saw the version before, and the first that saw the
    new one.

    \b
    evercrawl history https://example.org/
    evercrawl history https://example.org/ --visits
    """
    with cli.open_collection() as collection:
        found = collection.history(parse_page_url(url))
    if as_json:
        _emit_history(found, with_visits=visits)
        return
    click.echo(safe_line(found.url))
    for version in found.versions:
        click.echo(_history_line(version))
    if visits:
        click.echo(plural(len(found.visits), "visit"))
        for visit in reversed(found.visits):
            click.echo(f"  {exact_time(visit.at)}  {visit.status or '-':<4} {visit.outcome}: {visit.reason}")


def version_fields(version: PastVersion) -> dict[str, Any]:
    """What scripts rely on, then the rest."""
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
    """Which version, when, what kind of change, how large, what it is called."""
    span = f"{exact_time(version.seen_at)}"
    since = f"after {exact_time(version.changed_after)}" if version.changed_after else "first seen"
    change = version.change_class or "-"
    share = "" if version.size is None else f" {version.size:.1%}"
    title = safe_line(version.title or "", longest=_TITLE_CHARS)
    what = f"{change}{share}"
    body = format_size(version.body_bytes)
    mood = version.analysis.get("sentiment")
    friendly = "" if mood is None else f"  sentiment {mood:+.2f}"
    return f"  v{version.version:<4} {span}  {since:<26} {what:<16} {body:>8}{friendly}  {title}".rstrip()


VIEWS = ("text", "html", "headers", "links", "analysis", "raw")


@click.command("show")
@click.argument("url", metavar="URL[@TIME]")
@click.argument("form", required=False, type=click.Choice(VIEWS))
@click.option("--text", "flag", flag_value="text", help="The main text (the default).")
@click.option("--html", "flag", flag_value="html", help="The decoded body as the server sent it.")
@click.option("--headers", "flag", flag_value="headers", help="The header fields of the answer.")
@click.option("--links", "flag", flag_value="links", help="The links with their anchor texts.")
@click.option("--analysis", "flag", flag_value="analysis", help="What analysers said about this version.")
@click.option("--raw", "flag", flag_value="raw", help="The answer as it lies in the archive: head and body.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@common_options
@pass_cli
def show_command(cli: CliContext, url: str, form: str | None, flag: str | None, as_json: bool) -> None:
    """Show a stored version of a page, the newest unless TIME names another.

    TIME is a moment (7d, yesterday, 2026-11-01: the version that the page had then), a place from the end
    (-1: the one before the newest) or a number (v3).

    \b
    evercrawl show https://example.org/
    evercrawl show https://example.org/@-1
    evercrawl show https://example.org/@2026-11-01 --html > page.html

    On a terminal control characters are removed; html and raw go to a pipe or file byte for byte.
    """
    with cli.open_collection() as collection:
        page = collection.show(url if "://" in url else f"https://{url}")
    if as_json:
        emit_json("show", page_fields(page))
    else:
        _PRINTERS[flag or form or "text"](page)


def page_fields(page: PageContent) -> dict[str, Any]:
    """The page for programs; the body only as text, its bytes come from the html form."""
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
        "headers": page.headers,
        "links": [{"url": link.url, "text": link.text, "nofollow": link.nofollow} for link in page.links],
        "text": page.text,
        "html": page.html,
    }


def _print_text(page: PageContent) -> None:
    click.echo(safe_block(page.text))


def _print_headers(page: PageContent) -> None:
    for name, value in page.headers:
        click.echo(f"{safe_line(name)}: {safe_line(value)}")


def _print_links(page: PageContent) -> None:
    for link in page.links:
        click.echo(f"{safe_line(link.url)}\t{safe_line(link.text)}")


def _print_analysis(page: PageContent) -> None:
    for name, value in page.analysis.items():
        click.echo(f"{safe_line(name)}: {safe_line(str(value))}")


def _print_bytes(content: bytes) -> None:
    """To a file or pipe as they are; to a terminal without anything that it would obey."""
    if sys.stdout.isatty():
        click.echo(safe_block(content.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(content)


_PRINTERS: dict[str, Callable[[PageContent], None]] = {
    "text": _print_text,
    "html": lambda page: _print_bytes(page.html),
    "headers": _print_headers,
    "links": _print_links,
    "analysis": _print_analysis,
    "raw": lambda page: _print_bytes(page.raw),
}


_DIFF_STYLES = {" ": "", "-": "red", "+": "green", "~": ""}


@click.command("diff", context_settings={"ignore_unknown_options": True})
@click.argument("url")
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option("--stat", is_flag=True, help="Only how much came and went.")
@click.option("--name-only", is_flag=True, help="Only the URL, and only where something differs.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 where something differs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def diff_command(
    cli: CliContext, url: str, a: str | None, b: str | None, stat: bool, name_only: bool, exit_code: bool, as_json: bool
) -> int:
    """Show what differs between version A (otherwise the one before the newest) and B (otherwise the newest).

    Blocks that came are marked +, blocks that went -, edited ones ~ with [-words that went-] and {+words that
    came+}. Links and metadata follow. A and B are written as TIME of `show`.

    \b
    evercrawl diff https://example.org/
    evercrawl diff https://example.org/ -3
    evercrawl diff https://example.org/ 2026-11-01 yesterday --stat
    """
    with cli.open_collection() as collection:
        found = collection.diff(parse_page_url(url), a, b)
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


def difference_fields(found: VersionDiff) -> dict[str, Any]:
    """The difference for programs."""
    return {
        "url": found.url,
        "before": {"version": found.before.version, "seen_at": found.before.seen_at},
        "after": {"version": found.after.version, "seen_at": found.after.seen_at},
        "changed": not found.is_empty,
        "size": found.size,
        "words_added": found.words_of("+"),
        "words_removed": found.words_of("-"),
        "edits": [_edit_fields(edit) for edit in found.edits],
        "links_added": found.links_added,
        "links_removed": found.links_removed,
        "metadata": [{"name": field.name, "before": field.before, "after": field.after} for field in found.fields],
        "same_bytes": found.same_bytes,
    }


def _edit_fields(edit: BlockEdit) -> dict[str, Any]:
    return {
        "sign": edit.sign,
        "block": edit.place,
        "words": [{"sign": words.sign, "text": words.text} for words in edit.words],
    }


def _diff_stat(found: VersionDiff) -> str:
    blocks = {sign: sum(edit.sign == sign for edit in found.edits) for sign in "+-~"}
    return (
        f"blocks +{blocks['+']} -{blocks['-']} ~{blocks['~']}, words +{found.words_of('+')} "
        f"-{found.words_of('-')} ({found.size:.1%}), links +{len(found.links_added)} "
        f"-{len(found.links_removed)}, metadata {len(found.fields)}"
    )


def _show_diff(cli: CliContext, found: VersionDiff) -> None:
    before, after = found.before, found.after
    click.echo(f"{safe_line(found.url)}")
    click.echo(f"--- v{before.version}  {exact_time(before.seen_at)}")
    click.echo(f"+++ v{after.version}  {exact_time(after.seen_at)}")
    for line in _diff_lines(found):
        cli.out.print(line, soft_wrap=True)
    if found.is_empty:
        same = "the same bytes" if found.same_bytes else "the same text, links and metadata"
        cli.note(same)
    else:
        cli.note(f"{plural(len(found.edits), 'block')}: {_diff_stat(found)}")


def _diff_lines(found: VersionDiff) -> list[Text]:
    lines = [_edit_line(edit) for edit in found.edits]
    for field in found.fields:
        lines.append(_styled("-", f"- {field.name}: {field.before or ''}"))
        lines.append(_styled("+", f"+ {field.name}: {field.after or ''}"))
    lines += [_styled("-", f"- link {link}") for link in found.links_removed]
    lines += [_styled("+", f"+ link {link}") for link in found.links_added]
    return lines


def _edit_line(edit: BlockEdit) -> Text:
    from rich.text import Text

    from evercrawl.core.change.text_diff import mark_words, shorten_edit

    if edit.sign != "~":
        return _styled(edit.sign, f"{edit.sign} {''.join(words.text for words in edit.words)}")
    line = Text("~ ")
    for words in shorten_edit(edit).words:
        line.append(safe_line(mark_words(words)), style=_DIFF_STYLES[words.sign])
    return line


def _styled(sign: str, text: str) -> Text:
    from rich.text import Text

    return Text(safe_line(text), style=_DIFF_STYLES[sign])


_PAGES_SHOWN = 3
_LONGEST_LINE = 200


@click.command("changes")
@click.argument("site", required=False)
@click.option(
    "--since", default="7d", show_default=True, metavar="TIME", help="From when on: 7d, yesterday, 2026-11-01."
)
@click.option(
    "--noise", is_flag=True, help="Also what single pages show beside their content: adverts, counters, menus."
)
@click.option("--muted", is_flag=True, help="Also what lies in parts that were muted.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
@pass_cli
def changes_command(cli: CliContext, site: str | None, since: str, noise: bool, muted: bool, as_json: bool) -> None:
    """List what changed since TIME on the pages of one SITE or of all, the most significant first.

    The same edit on many pages is one entry. Pages that were seen for the first time are not changes. What
    you do not want to see again: evercrawl mute

    \b
    evercrawl changes --since yesterday
    evercrawl changes example.org --since 7d --json | jq -r '.pages[]'
    """
    from evercrawl.model.time import parse_when

    moment = parse_when(since, now=datetime.now(UTC))
    with cli.open_collection() as collection:
        groups = collection.changes(moment, site=site, noise=noise, muted=muted)
    for group in groups:
        if as_json:
            _emit_group(group)
        else:
            _show_group(group)
    if not groups:
        cli.note(f"nothing has changed since {since}")


def _emit_group(group: ChangeGroup) -> None:
    fields = {"class": group.change_class, "size": group.size, "pages": group.pages, "example": group.example}
    emit_json("changes", fields)


def _show_group(group: ChangeGroup) -> None:
    first, others = group.pages[0], len(group.pages) - 1
    where = f"{plural(len(group.pages), 'page')}: the same edit" if others else safe_line(first)
    click.echo(f"{group.change_class} {group.size:.1%}  {where}")
    if others:
        for url in group.pages[:_PAGES_SHOWN]:
            click.echo(f"    {safe_line(url)}")
        if len(group.pages) > _PAGES_SHOWN:
            click.echo(f"    and {len(group.pages) - _PAGES_SHOWN:,} more")
    for line in group.example.splitlines():
        click.echo(f"  {safe_line(line, longest=_LONGEST_LINE)}")


@click.command("sentiment")
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def sentiment_command(cli: CliContext, url: str, as_json: bool) -> None:
    """Say how friendly a page is, version by version, and the mean of its site, from -1 to 1.

    Scores are made when a version is new, if the analyser is switched on, and only for English.

    \b
    evercrawl config analysis.enabled sentiment
    evercrawl sentiment https://example.org/
    """
    with cli.open_collection() as collection:
        found = collection.sentiment(parse_page_url(url))
    if as_json:
        emit_json("sentiment", asdict(found))
    else:
        _show_sentiment(found)


def _show_sentiment(found: PageSentiment) -> None:
    click.echo(safe_line(found.url))
    if not found.versions:
        click.echo("  no score: not in English, or the analyser was off; evercrawl config analysis.enabled sentiment")
    for then in found.versions:
        rests_on = plural(then.sentences, "sentence")
        click.echo(f"  v{then.version:<4} {exact_time(then.seen_at)}  {then.score:+.3f}  {rests_on}")
    if found.site.score is not None:
        rests_on = plural(found.site.pages, "page")
        click.echo(f"  site {safe_line(found.site.site)}  {found.site.score:+.3f}  {rests_on}")
