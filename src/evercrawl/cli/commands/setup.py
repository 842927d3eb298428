"""`evercrawl config`: show or change settings."""

from __future__ import annotations

import platform
import sqlite3
from pathlib import Path
from typing import Any

import click

from evercrawl.cli.context import CliContext, pass_cli
from evercrawl.cli.options import CommandGroup, common_options
from evercrawl.cli.terminal import ExitCode, emit_json
from evercrawl.collection.doctor import CheckResult, check_machine
from evercrawl.collection.urls import parse_page_url
from evercrawl.errors import ConfigError
from evercrawl.model import __version__
from evercrawl.model.sanitize import safe_line


@click.group("config", cls=CommandGroup)
@common_options
def config_command() -> None:
    """Show or change settings; every one of them is in the reference and in `config show`.

    \b
    evercrawl config contact you@example.org          your contact, for all your collections
    evercrawl config show --origin                    every value and where it comes from
    evercrawl config set pace.gap 5s                  for the collection that is here
    """


@config_command.command("show")
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def config_show(cli: CliContext, origin: bool, as_json: bool) -> None:
    """Every setting in force."""
    from evercrawl.config.schema import known_settings

    configured = cli.configured(cli.find_collection())
    forms = {key: _setting_text(key, configured.value(key)) for key in known_settings()}
    if as_json:
        emit_json("config", {"settings": _with_origin(forms, configured.origins)})
        return
    widest = max(len(f"{key} = {form}") for key, form in forms.items() if len(form) < 40)
    for key, form in forms.items():
        line = safe_line(f"{key} = {form}")
        click.echo(f"{line:<{widest}}  # {configured.origins[key]}" if origin else line)


def _with_origin(forms: dict[str, str], origins: Any) -> dict[str, dict[str, str]]:
    return {key: {"value": form, "origin": origins[key]} for key, form in forms.items()}


def _setting_text(key: str, value: object) -> str:
    from evercrawl.config.schema import known_settings, written_form

    return written_form(known_settings()[key], value)


@config_command.command("get")
@click.argument("key")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def config_get(cli: CliContext, key: str, as_json: bool) -> None:
    """One value, such as: evercrawl config get pace.mode."""
    configured = cli.configured(cli.find_collection())
    form = _setting_text(key, configured.value(key))
    if as_json:
        emit_json("config", {"settings": _with_origin({key: form}, configured.origins)})
    else:
        click.echo(safe_line(form.removeprefix('"').removesuffix('"')))


@config_command.command("set")
@click.argument("key")
@click.argument("value")
@click.option("--user", "for_user", is_flag=True, help="For all your collections.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def config_set(cli: CliContext, key: str, value: str, for_user: bool, as_json: bool) -> None:
    """Set one value in the collection's settings file (or, with --user, in your own)."""
    _write_setting(cli, _user_file(cli) if for_user else _collection_file(cli), key, value, as_json=as_json)


@config_command.command("contact")
@click.argument("address")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def config_contact(cli: CliContext, address: str, as_json: bool) -> None:
    """Set your mail address or page, shown to sites in every request; with -C only for that collection."""
    file = _collection_file(cli) if cli.directory else _user_file(cli)
    _write_setting(cli, file, "identity.contact", address, as_json=as_json)


def _write_setting(cli: CliContext, file: Path, key: str, value: str, *, as_json: bool) -> None:
    from evercrawl.config import write_setting

    if key == "store.shards":
        raise ConfigError("store.shards is fixed when a collection is made; set it with EVERCRAWL_STORE__SHARDS then")
    write_setting(file, key, value)
    if as_json:
        emit_json("config", {"key": key, "value": value, "file": str(file)})
    else:
        cli.note(f"{key} = {safe_line(value)} in {file}")


def _user_file(cli: CliContext) -> Path:
    from evercrawl.config import user_file

    return user_file(cli.env)


def _collection_file(cli: CliContext) -> Path:
    from evercrawl.config import collection_file

    found = cli.find_collection()
    if found is None:
        raise ConfigError("no collection here; name one with -C DIR, or set it for all of them with --user")
    return collection_file(found)


_CHECK_STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command("doctor")
@click.argument("url", required=False)
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="Use this address, as curl does.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_cli
def doctor_command(
    cli: CliContext, /, url: str | None, allow_private: bool, resolve: tuple[str, ...], as_json: bool
) -> int:
    """Check Python, SQLite, DNS, TLS, clock, disk, extras and your contact; with a URL, its robots.txt too.

    \b
    evercrawl doctor
    evercrawl doctor https://example.org/some/page

    The exit code is 1 when a check fails. Only the form with a URL makes a request.
    """
    collection = cli.find_collection()
    flags: dict[str, object] = {"http.allow_private": True} if allow_private else {}
    flags |= {"http.resolve": resolve} if resolve else {}
    settings = cli.configured(collection, flags).settings
    findings = list(check_machine(settings, collection or Path.cwd()))
    if url is not None:
        from evercrawl.collection.doctor import check_site

        findings += check_site(parse_page_url(url), settings)
    _show_checks(cli, findings, as_json=as_json)
    return ExitCode.ERROR if any(finding.verdict == "fail" for finding in findings) else ExitCode.OK


def _show_checks(cli: CliContext, findings: list[CheckResult], *, as_json: bool) -> None:
    if as_json:
        fields = [
            {"name": one.name, "verdict": one.verdict, "detail": one.detail, "remedy": one.remedy} for one in findings
        ]
        emit_json("doctor", {"checks": fields})
        return
    from rich.text import Text

    for one in findings:
        line = Text.assemble(
            (f"{one.verdict:<5}", _CHECK_STYLES[one.verdict]), f"{one.name:<11} {safe_line(one.detail)}"
        )
        cli.out.print(line, soft_wrap=True)
        if one.remedy:
            cli.out.print(Text(f"     {'':<11} → {one.remedy}", style="dim"), soft_wrap=True)


@click.command("version")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def version_command(as_json: bool) -> None:
    """The version of evercrawl and of what it stands on."""
    versions = {"evercrawl": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    if as_json:
        emit_json("version", versions)
        return
    for name, version in versions.items():
        click.echo(f"{name} {version}")
