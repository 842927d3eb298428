"""`evercrawl doctor [URL]`: is this machine fit, and what does a site say to us?"""

from __future__ import annotations

from pathlib import Path

import click

from evercrawl.cli.checks import Finding, machine_findings
from evercrawl.cli.commands.crawl import seed_url
from evercrawl.cli.exit_codes import ExitCode
from evercrawl.cli.output import emit_json
from evercrawl.cli.safe_text import safe_line
from evercrawl.cli.session import Session, common_options, pass_session

_CHECK_STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command("doctor")
@click.argument("url", required=False)
@click.option("--allow-private", is_flag=True, help="Allow loopback, private and link-local addresses.")
@click.option("--resolve", multiple=True, metavar="HOST:PORT:ADDR", help="Use this address, as curl does.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
@pass_session
def doctor_command(session: Session, /, url: str | None, allow_private: bool, resolve: tuple[str, ...], as_json: bool) -> int:
    """Check Python, SQLite, DNS, TLS, clock, disk, extras and your contact; with a URL, its robots.txt too.

    \b
    evercrawl doctor
    evercrawl doctor https://example.org/some/page

    The exit code is 1 when a check fails. Only the form with a URL makes a request.
    """
    collection = session.find_collection()
    flags: dict[str, object] = {"http.allow_private": True} if allow_private else {}
    flags |= {"http.resolve": resolve} if resolve else {}
    settings = session.configured(collection, flags).settings
    findings = list(machine_findings(settings, collection or Path.cwd()))
    if url is not None:
        from evercrawl.cli.site_check import site_findings

        findings += site_findings(seed_url(url), settings)
    _show_checks(session, findings, as_json=as_json)
    return ExitCode.ERROR if any(finding.verdict == "fail" for finding in findings) else ExitCode.OK


def _show_checks(session: Session, findings: list[Finding], *, as_json: bool) -> None:
    if as_json:
        fields = [
            {"name": one.name, "verdict": one.verdict, "detail": one.detail, "remedy": one.remedy} for one in findings
        ]
        emit_json("doctor", {"checks": fields})
        return
    from rich.text import Text

    for one in findings:
        line = Text.assemble((f"{one.verdict:<5}", _CHECK_STYLES[one.verdict]), f"{one.name:<11} {safe_line(one.detail)}")
        session.out.print(line, soft_wrap=True)
        if one.remedy:
            session.out.print(Text(f"     {'':<11} → {one.remedy}", style="dim"), soft_wrap=True)
