"""Build hook: removes compiled files from the source tree once they are in the wheel.

Python prefers a compiled module to the source beside it, so one that stayed behind would hide later edits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RemoveCompiledFiles(BuildHookInterface[Any]):
    """Hatchling runs this around every build of a wheel, editable installs included."""

    PLUGIN_NAME = "custom"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete what the compiler wrote into the source tree."""
        for pattern in ("*.so", "*.pyd"):
            for path in Path(self.root, "src").rglob(pattern):
                path.unlink()
