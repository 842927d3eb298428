"""Commands to set evercrawl up: `config`, `doctor`, `completion`, `version` and `signature`."""

from __future__ import annotations

import platform
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import (
    CliContext,
    CommandGroup,
    allow_private_option,
    common_options,
    json_option,
    network_flags,
    resolve_option,
    with_cli,
)
from evercrawl.cli.terminal import ExitCode, emit_json
from evercrawl.errors import ConfigError
from evercrawl.model import __version__
from evercrawl.model.sanitize import mask_passwords, safe_line

if TYPE_CHECKING:
    from evercrawl.collection.doctor import CheckResult

_CHECK_STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}
_SHELLS = {
    "bash": ('eval "$(evercrawl completion bash)"', "~/.bashrc"),
    "zsh": ('eval "$(evercrawl completion zsh)"', "~/.zshrc"),
    "fish": ("evercrawl completion fish | source", "~/.config/fish/config.fish"),
}
"""The line that turns completion on, and the file it belongs in."""


@click.group("config", cls=CommandGroup)
@common_options
def config_command() -> None:
    """Show or change settings.

    \b
    evercrawl config contact you@example.org    your contact, for all your collections
    evercrawl config show --origin              every value and where it comes from
    evercrawl config set pace.delay 5s          for this collection
    evercrawl config set site.news.example.org.priority 3
    """


@config_command.command("show")
@click.option("--origin", is_flag=True, help="Show where each value comes from.")
@json_option
@with_cli
def config_show(cli: CliContext, origin: bool, as_json: bool) -> None:
    """List all settings with their values."""
    loaded = cli.load_settings(cli.find_collection())
    forms = {key: _setting_text(key, loaded.value(key)) for key in loaded.origins}
    if as_json:
        emit_json("config", {"settings": _with_origin(forms, loaded.origins)})
        return
    widest = max(len(f"{key} = {form}") for key, form in forms.items() if len(form) < 40)
    for key, form in forms.items():
        line = safe_line(f"{key} = {form}")
        click.echo(f"{line:<{widest}}  # {loaded.origins[key]}" if origin else line)


def _with_origin(forms: dict[str, str], origins: Any) -> dict[str, dict[str, str]]:
    return {key: {"value": form, "origin": origins[key]} for key, form in forms.items()}


def _setting_text(key: str, value: object) -> str:
    from evercrawl.config.load import find_setting
    from evercrawl.config.schema import show_value

    return show_value(find_setting(key), value)


@config_command.command("get")
@click.argument("key")
@json_option
@with_cli
def config_get(cli: CliContext, key: str, as_json: bool) -> None:
    """Print one value, for example: evercrawl config get pace.mode."""
    loaded = cli.load_settings(cli.find_collection())
    form = _setting_text(key, loaded.value(key))
    if as_json:
        emit_json("config", {"settings": _with_origin({key: form}, {key: "default"} | dict(loaded.origins))})
    else:
        click.echo(safe_line(form.removeprefix('"').removesuffix('"')))


@config_command.command("set")
@click.argument("key")
@click.argument("value")
@click.option("--user", "for_user", is_flag=True, help="Set it for all your collections.")
@json_option
@with_cli
def config_set(cli: CliContext, key: str, value: str, for_user: bool, as_json: bool) -> None:
    """Set a value in the collection's settings file, or with --user in your own."""
    _write_setting(cli, _user_file(cli) if for_user else _collection_file(cli), key, value, as_json=as_json)


@config_command.command("contact")
@click.argument("address")
@json_option
@with_cli
def config_contact(cli: CliContext, address: str, as_json: bool) -> None:
    """Set the mail address or page that sites see in every request.

    It applies to all your collections, or with -C only to that one.
    """
    file = _collection_file(cli) if cli.directory else _user_file(cli)
    _write_setting(cli, file, "identity.contact", address, as_json=as_json)


def _write_setting(cli: CliContext, file: Path, key: str, value: str, *, as_json: bool) -> None:
    from evercrawl.config import write_setting

    if key == "store.shards":
        raise ConfigError("store.shards cannot change later; set EVERCRAWL_STORE__SHARDS when you create a collection")
    write_setting(file, key, value)
    value = mask_passwords(value)
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
        raise ConfigError("no collection here; give one with -C DIR, or use --user for all of yours")
    return collection_file(found)


@click.command("trust")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--remove", is_flag=True, help="Trust it no longer.")
@json_option
@with_cli
def trust_command(cli: CliContext, folder: Path | None, remove: bool, as_json: bool) -> None:
    """Trust a collection that somebody else made, or that you copied or moved here.

    \b
    evercrawl trust copied.evercrawl       its alerts, filters and files work as in your own
    evercrawl trust ~/collections          passwords and tokens that are stored there, for serve
    evercrawl trust --remove               for the collection here: turn them off

    A collection that you did not create here runs, sends and follows nothing that its files name. Look first at its
    collection.toml, and at evercrawl alert list.
    """
    from evercrawl.collection.folder import collections_in
    from evercrawl.config import is_collection
    from evercrawl.config.trust import distrust_collection, trust_collection

    path = folder or cli.require_collection()
    if not is_collection(path) and not collections_in(path):
        raise ConfigError(f"{path} is neither a collection nor a folder of collections")
    if remove:
        distrust_collection(path, cli.env)
    else:
        trust_collection(path, cli.env)
    if as_json:
        emit_json("trust", {"collection": str(path.resolve()), "trusted": not remove})
    else:
        cli.note(f"{path} is {'not trusted any more' if remove else 'trusted'}")


@click.command("doctor")
@click.argument("url", required=False)
@allow_private_option
@resolve_option
@json_option
@with_cli
def doctor_command(
    cli: CliContext, /, url: str | None, allow_private: bool, resolve: tuple[str, ...], as_json: bool
) -> int:
    """Check Python, SQLite, DNS, TLS, clock, disk, extras, contact, mail and browser.

    With a URL, also check what the site's robots.txt allows. Only this sends a request.

    \b
    evercrawl doctor
    evercrawl doctor https://example.org/some/page

    The exit code is 1 if a check fails.
    """
    from evercrawl.collection.doctor import check_machine, check_site
    from evercrawl.collection.urls import parse_page_url

    collection = cli.find_collection()
    settings = cli.load_settings(collection, network_flags(allow_private=allow_private, resolve=resolve)).settings
    checks = list(check_machine(settings, collection or Path.cwd()))
    if url is not None:
        checks += check_site(parse_page_url(url), settings)
    _show_checks(cli, checks, as_json=as_json)
    return ExitCode.ERROR if any(check.verdict == "fail" for check in checks) else ExitCode.OK


def _show_checks(cli: CliContext, checks: list[CheckResult], *, as_json: bool) -> None:
    if as_json:
        fields = [
            {"name": one.name, "verdict": one.verdict, "detail": one.detail, "remedy": one.remedy} for one in checks
        ]
        emit_json("doctor", {"checks": fields})
        return
    from rich.text import Text

    for one in checks:
        verdict = (f"{one.verdict:<5}", _CHECK_STYLES[one.verdict])
        cli.out.print(Text.assemble(verdict, f"{one.name:<11} {safe_line(one.detail)}"), soft_wrap=True)
        if one.remedy:
            cli.out.print(Text(f"     {'':<11} → {one.remedy}", style="dim"), soft_wrap=True)


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@common_options
def completion_command(shell: str) -> None:
    """Print the script that completes commands and options with Tab.

    To turn it on, add one line to your shell's start-up file:

    \b
    bash  ~/.bashrc                   eval "$(evercrawl completion bash)"
    zsh   ~/.zshrc                    eval "$(evercrawl completion zsh)"
    fish  ~/.config/fish/config.fish  evercrawl completion fish | source
    """
    from click.shell_completion import get_completion_class

    from evercrawl.cli.main import root

    found = get_completion_class(shell)
    if found is None:
        raise ConfigError(f"there is no completion for {shell!r}")
    line, file = _SHELLS[shell]
    click.echo(f"# To turn completion on, add this line to {file}: {line}")
    click.echo(found(root, {}, "evercrawl", "_EVERCRAWL_COMPLETE").source())


@click.command("version")
@json_option
@common_options
def version_command(as_json: bool) -> None:
    """Show the versions of evercrawl, Python and SQLite, for bug reports."""
    versions = {"evercrawl": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    if as_json:
        emit_json("version", versions)
        return
    for name, version in versions.items():
        click.echo(f"{name} {version}")


@click.group("signature", cls=CommandGroup)
@common_options
def signature_command() -> None:
    """Sign your requests, so that sites can tell them from impostors.

    Signed requests follow Web Bot Auth (HTTP Message Signatures, RFC 9421). Only requests with TLS are signed.

    \b
    evercrawl signature create ~/.config/evercrawl/signing.pem --json
    evercrawl signature directory ~/.config/evercrawl/signing.pem
    evercrawl config set --user identity.signature_key ~/.config/evercrawl/signing.pem
    evercrawl config set --user identity.signature_agent https://crawler.example.org/keys
    """


@signature_command.command("create")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@json_option
@with_cli
def signature_create(cli: CliContext, file: Path, as_json: bool) -> None:
    """Create a key in a new file that only you can read."""
    from evercrawl.collection.site_logins import create_signing_key

    name = create_signing_key(file)
    if as_json:
        emit_json("signature", {"file": str(file), "keyid": name})
    else:
        click.echo(f"key {name} in {file}")
        cli.note(f"publish its directory: evercrawl signature directory {file}")


@signature_command.command("directory")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print it on one line.")
@common_options
def signature_directory(file: Path, as_json: bool) -> None:
    """Print the key directory (a JSON Web Key Set) to publish.

    Serve it with TLS at /.well-known/http-message-signatures-directory, with the media type
    application/http-message-signatures-directory+json. It holds only the public key.
    """
    import json

    from evercrawl.collection.site_logins import signing_key_directory

    click.echo(json.dumps(signing_key_directory(file), indent=None if as_json else 2))
