"""`evercrawl diff URL [A] [B]`: what differs between two versions of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.commands.crawl import seed_url
from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import counted, emit_json, moment
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

if TYPE_CHECKING:
    from rich.text import Text

    from evercrawl.model.change import BlockEdit, VersionDiff

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
@pass_session
def diff_command(
    session: Session,
    url: str,
    a: str | None,
    b: str | None,
    stat: bool,
    name_only: bool,
    exit_code: bool,
    as_json: bool,
) -> int:
    """Show what differs between version A (otherwise the one before the newest) and B (otherwise the newest).

    Blocks that came are marked +, blocks that went -, edited ones ~ with [-words that went-] and {+words that
    came+}. Links and metadata follow. A and B are written as TIME of `show`.

    \b
    evercrawl diff https://example.org/
    evercrawl diff https://example.org/ -3
    evercrawl diff https://example.org/ 2026-11-01 yesterday --stat
    """
    with session.open_collection() as collection:
        found = collection.diff(seed_url(url), a, b)
    if as_json:
        emit_json("diff", difference_fields(found))
    elif name_only:
        if not found.is_empty:
            click.echo(safe_line(found.url))
    elif stat:
        click.echo(f"{safe_line(found.url)}  {_diff_stat(found)}")
    else:
        _show_diff(session, found)
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


def _show_diff(session: Session, found: VersionDiff) -> None:
    before, after = found.before, found.after
    click.echo(f"{safe_line(found.url)}")
    click.echo(f"--- v{before.version}  {moment(before.seen_at)}")
    click.echo(f"+++ v{after.version}  {moment(after.seen_at)}")
    for line in _diff_lines(found):
        session.out.print(line, soft_wrap=True)
    if found.is_empty:
        same = "the same bytes" if found.same_bytes else "the same text, links and metadata"
        session.note(same)
    else:
        session.note(f"{counted(len(found.edits), 'block')}: {_diff_stat(found)}")


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

    from evercrawl.core.edit_line import marked, shortened

    if edit.sign != "~":
        return _styled(edit.sign, f"{edit.sign} {''.join(words.text for words in edit.words)}")
    line = Text("~ ")
    for words in shortened(edit).words:
        line.append(safe_line(marked(words)), style=_DIFF_STYLES[words.sign])
    return line


def _styled(sign: str, text: str) -> Text:
    from rich.text import Text

    return Text(safe_line(text), style=_DIFF_STYLES[sign])
