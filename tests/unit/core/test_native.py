"""The native package is used only if it follows the rules of this version."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from evercrawl.core.native import load_native
from evercrawl.model import __version__


@pytest.mark.parametrize(("version", "is_used"), [(__version__, True), ("0.0.1", False), (None, False)])
def test_a_package_of_another_version_is_not_used(
    monkeypatch: pytest.MonkeyPatch, version: str | None, is_used: bool
) -> None:
    module = ModuleType("evercrawl_native")
    if version is not None:
        module.__dict__["__version__"] = version
    monkeypatch.setitem(sys.modules, "evercrawl_native", module)
    assert (load_native() is module) is is_used
