from __future__ import annotations

from pathlib import Path

import pytest

from evercrawl.adapters.plugins import load_filter
from evercrawl.errors import ConfigError

SOURCE = """
class OnlyNews:
    def accepts(self, url):
        return "/news/" in url

class NeedsMore:
    def __init__(self, more):
        pass

class Space:
    inner = OnlyNews()

ready = OnlyNews()
number = 3
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugin_filters.py").write_text(SOURCE)
    (tmp_path / "plugin_broken.py").write_text("1 / 0")
    (tmp_path / "plugin_lacking.py").write_text("import plugin_that_does_not_exist")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize("name", ["plugin_filters:OnlyNews", "plugin_filters:ready", "plugin_filters:Space.inner"])
def test_objects_and_classes_are_loaded(name: str):
    found = load_filter(name)
    assert found.accepts("https://a.test/news/1")
    assert not found.accepts("https://a.test/")


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plugin_filters", "write it as module:object"),
        (":OnlyNews", "write it as module:object"),
        ("no_such_module:X", "there is no module 'no_such_module'"),
        ("no_such_module.inner:X", "there is no module 'no_such_module'"),
        ("plugin_filters.inner:X", "plugin_filters"),
        ("plugin_broken:X", "importing plugin_broken failed: ZeroDivisionError"),
        ("plugin_lacking:X", "plugin_lacking needs a missing module"),
        ("plugin_filters:Missing", "plugin_filters has no object 'Missing'"),
        ("plugin_filters:NeedsMore", r"NeedsMore\(\) failed: TypeError"),
        ("plugin_filters:number", r"number has no method accepts\(url\)"),
        ("plugin_filters:Space", r"Space has no method accepts\(url\)"),
    ],
)
def test_what_cannot_be_loaded_is_explained(name: str, message: str):
    with pytest.raises(ConfigError, match=message):
        load_filter(name)
