"""Hooks of the build: compiled files leave the source tree, and the README's links become absolute.

Python prefers a compiled module to the source beside it, so one that stayed behind would hide later edits.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE_LINK = re.compile(r"(\]\()(?!\w+:|#)")


class RemoveCompiledFiles(BuildHookInterface[Any]):
    """Hatchling runs this around every build of a wheel, editable installs included."""

    PLUGIN_NAME = "custom"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete what the compiler wrote into the source tree."""
        for pattern in ("*.so", "*.pyd"):
            for path in Path(self.root, "src").rglob(pattern):
                path.unlink()


class AbsoluteReadme(MetadataHookInterface):
    """A package index shows the README without the repository around it."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README, with links into the source at the project's page."""
        source = metadata["urls"]["Source"].rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": _RELATIVE_LINK.sub(rf"\g<1>{source}/", text)}
