"""The compiled build sees the types of every package that the core imports, those of the extras too."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = re.compile(r"[\w-]+")


def test_the_compiler_has_the_extras_that_the_core_imports() -> None:
    """Without its types a package makes the checker of the compiler fail, and with it the wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]
    untyped = {
        name.removesuffix(".*") for override in project["tool"]["mypy"]["overrides"] for name in override["module"]
    }
    extras = {_name(need) for needs in project["project"]["optional-dependencies"].values() for need in needs}
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src/evercrawl/core").rglob("*.py")]
    imported = {name for text in sources for name in re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE)}
    assert (extras & imported) - untyped - {"evercrawl"} <= {_name(need) for need in hook["dependencies"]}


def _name(need: str) -> str:
    found = _PACKAGE.match(need)
    assert found is not None
    return found.group()
