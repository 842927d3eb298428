"""Stories on a phone and with the keyboard: make a backup, remove a page for a takedown, restore the backup."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_interface import PHONE, console_of, violations
from tests.web.chromium import Served, chromium, serving
from tests.web.conftest import story  # noqa: F401

PAGE = "https://harbour.example/page/1"
ALERT = "ferry"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def served(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:  # noqa: F811
    copy = tmp_path_factory.mktemp("away") / "coast.evercrawl"
    shutil.copytree(story, copy, ignore=shutil.ignore_patterns("web.sqlite*"))
    with serving(copy) as found:
        yield found


def test_a_page_is_taken_down_and_a_backup_restored(browser: Browser, served: Served, tmp_path: Path):
    page = browser.new_context(viewport=PHONE, accept_downloads=True).new_page()
    said = console_of(page)
    page.goto(served.first_link)
    _make_a_backup(page)
    _remove_the_page(page, served)
    _remove_the_alert(page, served)
    file = _restore(page, served, tmp_path)
    page.goto(f"{served.address}/alerts")
    expect(page.get_by_role("link", name=ALERT, exact=True)).to_be_visible()
    _expect_it_is_gone(page, served)
    _upload_and_restore(page, served, file)
    _expect_it_is_gone(page, served)
    assert said == []
    page.context.close()


def _open(page: Page, group: str, name: str) -> None:
    page.get_by_role("button", name="Menu").press("Enter")
    page.locator("nav summary", has_text=group).press("Enter")
    page.get_by_role("link", name=name, exact=True).press("Enter")
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def _make_a_backup(page: Page) -> None:
    _open(page, "Data", "Backups")
    page.get_by_role("button", name="Make a backup").press("Enter")
    expect(page.get_by_role("link", name="Download").first).to_be_visible(timeout=20_000)
    assert violations(page) == []


def _remove_the_page(page: Page, served: Served) -> None:
    page.get_by_label("Search or open a URL").fill(PAGE)
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Remove…", exact=True).press("Enter")
    expect(page.get_by_text("for good and everywhere")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Remove", exact=True).press("Enter")
    assert "/remove?" in page.url, "nothing is removed before it is confirmed"
    page.get_by_label("Why, or on whose request").fill("ticket 4711")
    page.get_by_label("I understand that this cannot be undone").press("Space")
    page.get_by_role("button", name="Remove", exact=True).press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Removed everywhere", timeout=20_000)
    expect(page.get_by_role("cell", name="ticket 4711")).to_be_visible()
    assert violations(page) == []


def _expect_it_is_gone(page: Page, served: Served) -> None:
    answer = page.request.get(f"{served.address}/show?url={quote(PAGE, safe='')}")
    assert answer.status in (400, 404)


def _remove_the_alert(page: Page, served: Served) -> None:
    page.goto(f"{served.address}/alert?name={ALERT}")
    page.get_by_text("Remove…").press("Enter")
    page.get_by_role("button", name="Remove this alert").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("removed")


def _confirm_restore(page: Page, name: str) -> None:
    row = page.get_by_role("row", name=name)
    row.locator("summary", has_text="Restore").press("Enter")
    row.get_by_label("Replace the collection").press("Space")
    row.get_by_role("button", name="Restore").press("Enter")
    expect(page.get_by_text("all read back. What was removed on request stays removed.").first).to_be_visible(
        timeout=30_000
    )


def _restore(page: Page, served: Served, folder: Path) -> Path:
    page.goto(f"{served.address}/backups")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name.startswith("coast-")
    name = page.locator("tbody th").inner_text()
    _confirm_restore(page, name)
    return file


def _upload_and_restore(page: Page, served: Served, file: Path) -> None:
    page.goto(f"{served.address}/backups")
    page.get_by_label("Backup file").set_input_files(file)
    page.get_by_role("button", name="Upload").press("Enter")
    expect(page.get_by_role("row", name="uploaded-")).to_be_visible(timeout=20_000)
    for one in page.get_by_role("button", name="Clear").all():
        one.press("Enter")
        break
    _confirm_restore(page, "uploaded-")
