"""What `deploy/release.py` refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from evercrawl.model import __version__
from tests.docs.test_docs import load_script

ROOT = Path(__file__).resolve().parents[2]
READ = (
    "src/evercrawl/model/__init__.py",
    "CITATION.cff",
    "CHANGELOG.md",
    "deploy/kubernetes/workers.yaml",
    "pyproject.toml",
)


def _release() -> ModuleType:
    return load_script(ROOT / "deploy" / "release.py")


def test_every_place_that_names_the_version_agrees() -> None:
    assert list(_release().problems(ROOT, __version__)) == []


def test_another_version_is_refused_everywhere() -> None:
    assert len(list(_release().problems(ROOT, "9.9.9"))) == 5


def test_a_placeholder_or_a_missing_date_keeps_it_from_strangers(tmp_path: Path) -> None:
    for name in READ:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    release = _release()
    changes, project = tmp_path / "CHANGELOG.md", tmp_path / "pyproject.toml"
    changes.write_text(re.sub(r"\(not released yet\)", "(2026-12-01)", changes.read_text()))
    project.write_text(project.read_text().replace("evercrawl.example/", "evercrawl.test/"))
    assert list(release.unready(tmp_path, __version__)) == []
    project.write_text(project.read_text().replace("evercrawl.test/", "evercrawl.example/"))
    changes.write_text(changes.read_text().replace("(2026-12-01)", "(soon)"))
    assert len(list(release.unready(tmp_path, __version__))) == 2


@pytest.mark.slow
def test_the_wheel_contains_every_file_of_the_package(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix not in (".pyc", ".so")]
    names = {str(path.relative_to(ROOT / "src")) for path in files}
    assert {name for name in names - packed if ".egg-info" not in name} == set()
    assert "evercrawl/core/document/phrases.txt" in packed
