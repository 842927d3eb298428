"""Build hook: with EVERCRAWL_COMPILED=1 the modules on every page's way are compiled to C by mypyc.

Without it the package is plain Python, with the same results. Compiled files lie beside their sources, which
Python then passes over, so they must never be older; the Makefile and the tests see to that.
"""

from __future__ import annotations

import contextlib
import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GROUP = "evercrawl_{}"
LIBRARY = GROUP + "__mypyc"
"""The name of the library that holds the code of one group; its modules are only doors to it."""
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


class CompiledModules(BuildHookInterface):
    """Hatchling calls this before it makes a wheel or an editable installation."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile where that is asked for, and take the result into the wheel."""
        if os.environ.get("EVERCRAWL_COMPILED") != "1":
            return
        root = Path(self.root)
        groups = {name: _files(root, patterns) for name, patterns in self.config["groups"].items()}
        _compile(root, groups)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        if version != "editable":
            build_data["force_include"] |= {str(root / path): str(path.relative_to("src")) for path in _results(groups)}


def _files(root: Path, patterns: list[str]) -> list[str]:
    found = sorted(
        str(path.relative_to(root)) for pattern in patterns for path in root.glob(f"src/evercrawl/{pattern}")
    )
    return [file for file in found if not file.endswith("__init__.py")]


def _all(groups: dict[str, list[str]]) -> Iterator[str]:
    for files in groups.values():
        yield from files


def _results(groups: dict[str, list[str]]) -> Iterator[Path]:
    for file in _all(groups):
        yield Path(file).with_suffix(SUFFIX)
    for name in groups:
        yield Path("src", LIBRARY.format(name) + SUFFIX)


def _compile(root: Path, groups: dict[str, list[str]]) -> None:
    """Compile the groups beside each other, each into a library of its own; in place."""
    # Both are there only where compiling was asked for.
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    with contextlib.chdir(root):
        extensions = mypycify(
            ["--config-file", "pyproject.toml", *_all(groups)],
            opt_level="2",
            debug_level="0",
            separate=[(files, GROUP.format(name)) for name, files in groups.items()],
            target_dir="build/mypyc",
        )
        command = build_ext(Distribution({"ext_modules": extensions, "package_dir": {"": "src"}}))
        command.inplace, command.parallel, command.build_temp = True, os.cpu_count() or 1, "build/mypyc"
        command.ensure_finalized()
        command.run()
        wanted = set(_results(groups))
        for path in wanted:
            # What came out as before was left alone, and is as new as its source all the same.
            path.touch()
        for path in Path("src").rglob(f"*{SUFFIX}"):
            # The door of a module that is compiled no longer leads nowhere.
            if path not in wanted:
                path.unlink()
