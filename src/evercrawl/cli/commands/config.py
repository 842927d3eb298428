"""`evercrawl config`: show or change settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evercrawl.cli.output import emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session
from evercrawl.errors import ConfigError


@click.group("config")
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
@pass_session
def config_show(session: Session, origin: bool, as_json: bool) -> None:
    """Every setting in force."""
    from evercrawl.config.known import known_settings

    configured = session.configured(session.find_collection())
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
    from evercrawl.config.known import known_settings
    from evercrawl.config.value import written_form

    return written_form(known_settings()[key], value)


@config_command.command("get")
@click.argument("key")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def config_get(session: Session, key: str, as_json: bool) -> None:
    """One value, such as: evercrawl config get pace.mode."""
    configured = session.configured(session.find_collection())
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
@pass_session
def config_set(session: Session, key: str, value: str, for_user: bool, as_json: bool) -> None:
    """Set one value in the collection's settings file (or, with --user, in your own)."""
    _write_setting(session, _user_file(session) if for_user else _collection_file(session), key, value, as_json=as_json)


@config_command.command("contact")
@click.argument("address")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def config_contact(session: Session, address: str, as_json: bool) -> None:
    """Set your mail address or page, shown to sites in every request; with -C only for that collection."""
    file = _collection_file(session) if session.directory else _user_file(session)
    _write_setting(session, file, "identity.contact", address, as_json=as_json)


def _write_setting(session: Session, file: Path, key: str, value: str, *, as_json: bool) -> None:
    from evercrawl.config import write_setting

    if key == "store.shards":
        raise ConfigError("store.shards is fixed when a collection is made; set it with EVERCRAWL_STORE__SHARDS then")
    write_setting(file, key, value)
    if as_json:
        emit_json("config", {"key": key, "value": value, "file": str(file)})
    else:
        session.note(f"{key} = {safe_line(value)} in {file}")


def _user_file(session: Session) -> Path:
    from evercrawl.config import user_file

    return user_file(session.env)


def _collection_file(session: Session) -> Path:
    from evercrawl.config import collection_file

    found = session.find_collection()
    if found is None:
        raise ConfigError("no collection here; name one with -C DIR, or set it for all of them with --user")
    return collection_file(found)
