"""The command `fields`: named values of pages, such as prices, versions and dates, over time."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, CommandGroup, common_options, json_lines_option, json_option, with_cli
from evercrawl.cli.terminal import emit_json, emit_list, local_time
from evercrawl.model.fields import FieldReading, FieldRule, FieldType
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.collection.field_values import FieldRow, RepairProposal
    from evercrawl.model.fields import FieldRepair

_VALUE_CHARS = 60
_TYPES = click.Choice([one.value for one in FieldType])


@click.group("fields", cls=CommandGroup)
@common_options
def fields_command() -> None:
    """Collect values from pages: prices, version numbers, dates, lists.

    A field has a name, pages and a selector. Its values are read from every stored version, also from those that
    were stored before the field was added.

    \b
    evercrawl fields add price 'css:.price' --page 'https://shop.example/item/*' --type number
    evercrawl fields show                       newest values, a row per page
    evercrawl fields show price --history       every version; --json for programs

    Selectors are CSS (css:.price, css:meta[name=price]::attr(content)), XPath (xpath://td[2]), JSONPath of JSON
    pages (json:$.items[*].price), an expression on the text (text:Version (\\S+)), labels (label:Weight,
    table:Oslo/July), or structured data (data:Product.offers.price).
    """


@fields_command.command("add")
@click.argument("name")
@click.argument("select", metavar="SELECTOR")
@click.option(
    "--page", "pages", multiple=True, required=True, metavar="URL", help="Page, or pattern with *. Repeatable."
)
@click.option("--type", "kind", type=_TYPES, default="text", show_default=True, help="How the value is read.")
@click.option("--only", is_flag=True, help="Of its pages, report changes of such fields only.")
@click.option("--no-repair", is_flag=True, help="If the selector stops matching, only propose a new one.")
@click.option("--force", is_flag=True, help="Replace the field of this name.")
@json_option
@with_cli
def fields_add(
    cli: CliContext,
    name: str,
    select: str,
    pages: tuple[str, ...],
    kind: str,
    only: bool,
    no_repair: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Add a field, and show what it reads now.

    \b
    evercrawl fields add version 'text:Version (\\S+)' --page https://example.org/download
    """
    with cli.open_collection() as collection:
        urls = tuple(page if "*" in page else collection.typed_url(page) for page in pages)
        rule = FieldRule(name, urls, select, FieldType(kind), only, not no_repair)
        collection.add_field(rule, force=force)
        rows = list(collection.field_values([name]))
    if as_json:
        emit_json("field", _rule_fields(rule) | {"values": [_row_fields(row) for row in rows]})
        return
    found = [row for row in rows if row.readings[name].value is not None]
    cli.note(f"field {name} added; {len(found)} of {len(rows)} stored pages have a value")
    for row in found[:5]:
        click.echo(f"  {_value(row.readings[name])}  {safe_line(row.url)}")


@fields_command.command("list")
@json_lines_option
@with_cli
def fields_list(cli: CliContext, as_json: bool) -> None:
    """List the fields.

    \b
    evercrawl fields list --json | jq -r .name
    """
    with cli.open_collection() as collection:
        rules = collection.fields()
        lost = collection.lost_fields()
    for rule in rules:
        if as_json:
            emit_json("field", _rule_fields(rule) | {"is_lost": rule.name in lost})
        else:
            click.echo(f"{rule.name}  {rule.type}  {safe_line(rule.select)}  {safe_line(' '.join(rule.pages))}")
            for repair in rule.repairs:
                click.echo(f"  since {repair.at[:10]} also {safe_line(repair.select)}")
    for name in sorted(lost - {""}) if not as_json else ():
        cli.note(f"field {name} was not found at the last visit; see: evercrawl fields repair {name}")
    if not rules and not as_json:
        cli.note("there are no fields yet; add one with: evercrawl fields add NAME SELECTOR --page URL")


@fields_command.command("repair")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--accept", is_flag=True, help="Use what is proposed for these fields.")
@click.option("--reject", is_flag=True, help="Never use what is proposed for these fields.")
@json_lines_option
@with_cli
def fields_repair(cli: CliContext, names: tuple[str, ...], accept: bool, reject: bool, as_json: bool) -> None:
    """Find fields again whose selector stopped matching.

    Searches the newest version for the value by its text, its label, its names and its form. A new selector is
    checked on earlier versions. Crawls use it at once if it is sure, unless you added the field with --no-repair.

    \b
    evercrawl fields repair                     show what is lost and what is proposed
    evercrawl fields repair price --accept
    """
    if accept and reject:
        raise click.UsageError("give either --accept or --reject")
    with cli.open_collection() as collection:
        if (accept or reject) and not names:
            names = tuple(dict.fromkeys(one.repair.name for one in collection.field_repairs() if one.repair.select))
        if accept or reject:
            for name in names:
                repair = collection.decide_field_repair(name, accept=accept)
                _show_decision(cli, repair, accept=accept, as_json=as_json)
            return
        found = list(collection.field_repairs(names))
    none = "every field is found where it was"
    emit_list(cli, "repair", found, _repair_fields, _repair_line, none, as_json=as_json)


def _show_decision(cli: CliContext, repair: FieldRepair, *, accept: bool, as_json: bool) -> None:
    if as_json:
        emit_json("repair", {"name": repair.name, "select": repair.select, "accepted": accept})
        return
    verb = "is now read by" if accept else "is not read by"
    cli.note(f"field {repair.name} {verb} {safe_line(repair.select)}")


def _repair_fields(found: RepairProposal) -> dict[str, Any]:
    repair = found.repair
    return {
        "name": repair.name,
        "url": repair.url,
        "lost": repair.was,
        "select": repair.select or None,
        "text": repair.text,
        "is_sure": repair.is_sure,
        "checked": found.checked,
        "contradicted": found.contradicted,
    }


def _repair_line(found: RepairProposal) -> str:
    repair = found.repair
    text = safe_line(repair.text, longest=_VALUE_CHARS)
    if not repair.select:
        return f"{repair.name}  not found; last: {text}  {safe_line(repair.url)}"
    checks = f"agrees with {found.checked} earlier versions" + (
        f", differs on {found.contradicted}" if found.contradicted else ""
    )
    return f"{repair.name}  {safe_line(repair.select)} reads {text}; {checks}  {safe_line(repair.url)}"


@fields_command.command("suggest")
@click.argument("url")
@click.option("--add", "chosen", multiple=True, metavar="NAME", help="Add this field; `all` adds every one.")
@json_option
@with_cli
def fields_suggest(cli: CliContext, url: str, chosen: tuple[str, ...], as_json: bool) -> None:
    """Suggest fields for a page and pages like it.

    Fields come from structured data that pages carry (JSON-LD, microdata, RDFa, Open Graph), from tables, from parts
    that differ between stored pages with URLs like this one, and from lists.

    \b
    evercrawl fields suggest https://shop.example/item/7
    evercrawl fields suggest https://shop.example/item/7 --add price --add weight
    """
    with cli.open_collection() as collection:
        found = collection.suggest_fields(collection.typed_url(url))
        known = {one.name for one in found.fields}
        if missing := [name for name in chosen if name not in known | {"all"}]:
            raise click.UsageError(f"{', '.join(missing)} is not suggested; leave out --add to see what is")
        added = [one for one in found.fields if one.name in chosen or "all" in chosen]
        for one in added:
            collection.add_field(FieldRule(one.name, (found.pattern,), one.select, one.type))
    if as_json:
        rows = [one._asdict() | {"values": list(one.values)} for one in found.fields]
        names = [one.name for one in added]
        emit_json("suggestions", {"pattern": found.pattern, "pages": list(found.pages), "fields": rows, "added": names})
        return
    if added:
        cli.note(f"added for {safe_line(found.pattern)}: {', '.join(one.name for one in added)}")
        return
    cli.note(f"{len(found.fields)} fields of {safe_line(found.pattern)}; {len(found.pages)} pages were compared")
    for one in found.fields:
        values = safe_line("; ".join(one.values), longest=_VALUE_CHARS)
        click.echo(f"{one.name}  {one.type}  {safe_line(one.select)}  {values}")


@fields_command.command("table")
@click.argument("pattern", required=False)
@click.option("--field", "names", multiple=True, metavar="NAME", help="Only this field. Repeatable.")
@click.option("--where", metavar="CONDITION", help="Only rows like: price below 50, title matches sale.")
@click.option("--history", is_flag=True, help="A row per version. Default: per page.")
@click.option(
    "--to",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this .csv, .jsonl or .parquet file.",
)
@json_lines_option
@with_cli
def fields_table(
    cli: CliContext,
    pattern: str | None,
    names: tuple[str, ...],
    where: str | None,
    history: bool,
    target: Path | None,
    as_json: bool,
) -> None:
    """Show the fields of all pages of a pattern as one table, or write it to a file.

    \b
    evercrawl fields table 'https://shop.example/item/*'
    evercrawl fields table 'https://shop.example/item/*' --history --to prices.parquet
    """
    from evercrawl.collection.field_values import choose_rules, table_rows, write_table

    with cli.open_collection() as collection:
        rows = collection.field_values(names, all_versions=history, pattern=pattern, where=where)
        rules = [rule for rule in choose_rules(collection.path, names) if _is_for(rule, pattern)]
        if target is not None:
            count = write_table(rules, (row for row in rows if row.readings), target)
            cli.note(f"{count:,} rows written to {target}")
            return
        for number, row in enumerate(table_rows(rules, rows)):
            if as_json:
                emit_json("field", row)
                continue
            if not number:
                click.echo("\t".join(row))
            click.echo("\t".join(safe_line(_cell(cell), longest=_VALUE_CHARS) for cell in row.values()))


def _cell(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else ("" if value is None else str(value))


def _is_for(rule: FieldRule, pattern: str | None) -> bool:
    """Return whether a field may occur on pages of a pattern."""
    return pattern is None or any(
        page == pattern
        or page.partition("*")[0].startswith(pattern.partition("*")[0])
        or pattern.partition("*")[0].startswith(page.partition("*")[0])
        for page in rule.pages
    )


@fields_command.command("remove")
@click.argument("name")
@json_option
@with_cli
def fields_remove(cli: CliContext, name: str, as_json: bool) -> None:
    """Remove a field; the stored pages stay.

    \b
    evercrawl fields remove price
    """
    with cli.open_collection() as collection:
        rule = collection.remove_field(name)
    if as_json:
        emit_json("field", _rule_fields(rule))
    else:
        cli.note(f"field {name} removed")


@fields_command.command("show")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--history", is_flag=True, help="Every version, oldest first. Default: the newest of each page.")
@click.option("--site", metavar="S", help="Only pages of this host or origin.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per version.")
@with_cli
def fields_show(
    cli: CliContext, names: tuple[str, ...], history: bool, site: str | None, as_csv: bool, as_json: bool
) -> None:
    """Show the values of fields, a row per page, or per version with --history.

    \b
    evercrawl fields show price --history --csv > prices.csv
    """
    with cli.open_collection() as collection:
        wanted = [rule.name for rule in collection.fields() if not names or rule.name in names]
        rows = collection.field_values(names, all_versions=history, site=site)
        if as_csv:
            _print_csv(wanted, rows)
            return
        for row in rows:
            if as_json:
                emit_json("field", _row_fields(row))
            else:
                values = "  ".join(f"{name}: {_value(reading)}" for name, reading in row.readings.items())
                version = f"v{row.version} {local_time(row.seen_at)}  " if history else ""
                click.echo(f"{version}{values}  {safe_line(row.url)}")


def _print_csv(names: list[str], rows: Any) -> None:
    from evercrawl.collection.exchange.tables import escape_formula

    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["url", "version", "seen_at", *(part for name in names for part in (name, f"{name}_unit"))])
    for row in rows:
        cells: list[object] = [row.url, row.version, f"{row.seen_at:%Y-%m-%dT%H:%M:%SZ}"]
        for name in names:
            reading = row.readings.get(name, FieldReading(None))
            value = "\n".join(reading.value) if isinstance(reading.value, tuple) else reading.value
            cells += [escape_formula(value), reading.unit]
        writer.writerow(cells)
    click.echo(text.getvalue(), nl=False)


def _value(reading: FieldReading) -> str:
    if reading.text is None:
        return "not found"
    if reading.value is None:
        return f"no value in {safe_line(reading.text, longest=_VALUE_CHARS)!r}"
    if isinstance(reading.value, tuple):
        return safe_line(", ".join(reading.value), longest=_VALUE_CHARS)
    return safe_line(f"{reading.value} {reading.unit or ''}".strip(), longest=_VALUE_CHARS)


def _rule_fields(rule: FieldRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "pages": list(rule.pages),
        "select": rule.select,
        "type": rule.type,
        "only": rule.only,
        "repairs": [{"select": one.select, "at": one.at, "url": one.url} for one in rule.repairs],
    }


def _row_fields(row: FieldRow) -> dict[str, Any]:
    return {
        "url": row.url,
        "version": row.version,
        "seen_at": row.seen_at,
        "values": {
            name: {"value": reading.value, "unit": reading.unit, "text": reading.text}
            for name, reading in row.readings.items()
        },
    }
