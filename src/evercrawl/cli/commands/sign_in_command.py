"""The command `login`: credentials of sites."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evercrawl.cli.context import CliContext, allow_private_option, json_option, network_flags, resolve_option, with_cli
from evercrawl.cli.terminal import ExitCode, emit_json
from evercrawl.errors import ConfigError
from evercrawl.model.sanitize import safe_line

if TYPE_CHECKING:
    from evercrawl.collection.site_logins import LoginTarget

_WAYS = ("cookies", "form", "basic", "bearer", "remove")


@click.command("login")
@click.argument("url", required=False)
@click.option("--cookies", type=click.Path(path_type=Path), metavar="FILE", help="Use cookies.txt or JSON cookies.")
@click.option("--form", is_flag=True, help="Fill in the login form at URL here; signs in again by itself.")
@click.option("--basic", is_flag=True, help="Ask for user name and password of HTTP Basic.")
@click.option("--bearer", is_flag=True, help="Ask for a token.")
@click.option("--check", metavar="URL", help="A page that looks different to people who are signed in. Default: /")
@click.option("--check-text", metavar="TEXT", help="Text of that page that only they see.")
@click.option("--remove", is_flag=True, help="Remove the site's credentials and its session.")
@click.option("--all-collections", is_flag=True, help="Store them for all your collections.")
@allow_private_option
@resolve_option
@json_option
@with_cli
def login_command(
    cli: CliContext,
    /,
    url: str | None,
    check: str | None,
    check_text: str | None,
    all_collections: bool,
    allow_private: bool,
    resolve: tuple[str, ...],
    as_json: bool,
    **ways: Any,
) -> int:
    """Sign in to a site, so that it is crawled signed in.

    \b
    evercrawl login https://wiki.example.org              sign in in a browser window
    evercrawl login https://wiki.example.org --cookies cookies.txt
    evercrawl login https://wiki.example.org/login --form
    evercrawl login https://files.example.org --basic
    evercrawl login                                       list sites with credentials

    Credentials are sent to this site only (scheme, host and port). They are stored in credentials.toml in the
    collection, which only you can read. Proxies and headers are set there by hand: see the guide on signing in.
    """
    flags = network_flags(allow_private=allow_private, resolve=resolve)
    if url is None:
        return _list(cli, _target(cli, None, flags, all_collections), as_json=as_json)
    chosen = [way for way in _WAYS if ways[way]]
    if len(chosen) > 1:
        raise click.UsageError(f"choose one of --{' and --'.join(chosen)}")
    from evercrawl.collection.site_logins import remove_login, store_login, try_login
    from evercrawl.collection.urls import parse_page_url, site_of

    page = parse_page_url(url)
    site, target = site_of(page), _target(cli, page, flags, all_collections)
    if ways["remove"]:
        cli.note(f"removed {site} from {remove_login(target, site)}")
        return ExitCode.OK
    target.file()
    values = _ask(target, page, ways)
    values |= {key: text for key, text in (("check", check), ("check_text", check_text)) if text is not None}
    path = store_login(target, site, values)
    problem = asyncio.run(try_login(target, site))
    if problem:
        raise ConfigError(f"{site}: {safe_line(problem)}")
    cli.note(f"signed in at {site}; stored in {path}")
    return ExitCode.OK


def _target(cli: CliContext, page: str | None, flags: dict[str, object], all_collections: bool) -> LoginTarget:
    """Return where credentials are stored: a collection that does not exist yet if `login` is the first command."""
    from evercrawl.collection.site_logins import LoginTarget
    from evercrawl.config import default_collection_path, enclosing_collection, is_collection

    if all_collections:
        return LoginTarget(None, cli.load_settings(None, flags).settings)
    path = cli.named_collection() or enclosing_collection(Path.cwd())
    if path is None and page is not None:
        path = default_collection_path(page)
    if path is None or (page is None and not is_collection(path)):
        path = cli.require_collection()
    return LoginTarget(path, cli.load_settings(path if is_collection(path) else None, flags).settings)


def _list(cli: CliContext, target: LoginTarget, *, as_json: bool) -> int:
    from evercrawl.collection.site_logins import known_logins

    for known in known_logins(target):
        if as_json:
            emit_json("login", {"site": known.site, "credentials": list(known.kinds)})
        else:
            click.echo(f"{known.site}  {', '.join(known.kinds)}")
    return ExitCode.OK


def _ask(target: LoginTarget, page: str, ways: dict[str, Any]) -> dict[str, Any]:
    """Return the values to store, from a file, the terminal or a browser."""
    from evercrawl.collection.site_logins import cookie_values, cookies_from_browser, cookies_from_file, require_display

    if ways["cookies"] is not None:
        return cookie_values(cookies_from_file(ways["cookies"], page))
    if ways["basic"]:
        return {"basic": f"{_prompt('User name')}:{_prompt('Password', is_secret=True)}"}
    if ways["bearer"]:
        return {"bearer": _prompt("Token", is_secret=True)}
    if ways["form"]:
        return {"login": _fill_form(target, page)}
    require_display()
    click.echo("Sign in in the browser window. Then press Enter here, or close the window.", err=True)
    return cookie_values(asyncio.run(_from_browser(target, page, cookies_from_browser)))


async def _from_browser(target: LoginTarget, page: str, read: Any) -> Any:
    entered, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(sys.stdin, entered.set)
    try:
        return await read(page, target.settings, is_done=entered.wait())
    finally:
        loop.remove_reader(sys.stdin)


def _fill_form(target: LoginTarget, page: str) -> dict[str, Any]:
    from evercrawl.collection.site_logins import read_form

    url, form = asyncio.run(read_form(page, target))
    click.echo(f"The form at {url} asks for:", err=True)
    values = {
        field.name: _prompt(safe_line(field.label, longest=60) or field.name, is_secret=field.is_secret)
        for field in form.typed
    }
    return {"url": url, "fields": values}


def _prompt(label: str, *, is_secret: bool = False) -> str:
    return str(click.prompt(label, hide_input=is_secret, err=True))
