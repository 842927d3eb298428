"""Release a version: check, build, try, tag. `make release VERSION=0.2.0 DRY=1` does everything but the tag.

Nothing is uploaded: the last line says how. In a dry run, problems that only matter for a real release are notes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "build" / "release"
DIST = TOOLS / "dist"
PINNED = ("build==1.6.1", "twine==7.0.0", "pyroma==5.0.1", "pip-audit==2.10.1")


def problems(root: Path, version: str) -> Iterator[str]:
    """Yield what does not agree with the version."""
    own = re.search(r'__version__ = "(.+)"', (root / "src/evercrawl/model/__init__.py").read_text())
    if own is None or own[1] != version:
        yield f"src/evercrawl/model/__init__.py says {own[1] if own else 'nothing'}"
    if f"version: {version}\n" not in (root / "CITATION.cff").read_text():
        yield "CITATION.cff has another version"
    if f'version = "{version}"\n' not in (root / "native/Cargo.toml").read_text():
        yield "native/Cargo.toml has another version, so that the native package would not be used"
    if not re.search(rf"(?m)^## {re.escape(version)} \(", (root / "CHANGELOG.md").read_text()):
        yield "CHANGELOG.md has no section for it"
    if f"evercrawl:{version}" not in (root / "deploy/kubernetes/workers.yaml").read_text():
        yield "deploy/kubernetes names another image"


def unready(root: Path, version: str) -> Iterator[str]:
    """Yield what must be settled before strangers get it."""
    if not re.search(rf"(?m)^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", (root / "CHANGELOG.md").read_text()):
        yield "CHANGELOG.md has no date"
    urls = tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]
    if any(".example/" in url for url in urls.values()):
        yield "pyproject.toml: the project's URLs are placeholders"
    if subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True).stdout:
        yield "there are changes that are not committed"


def run(*command: str) -> None:
    """Run a step; its failure ends the release."""
    print("$ " + " ".join(command), flush=True)
    if subprocess.run(command, cwd=ROOT).returncode:
        raise SystemExit(f"failed: {' '.join(command)}")


def build(*, dry: bool) -> None:
    """Build the source package and the wheel from it, and check both."""
    if not (TOOLS / "bin" / "python").exists():
        venv.create(TOOLS, with_pip=True)
    tool = str(TOOLS / "bin") + "/"
    run(f"{tool}pip", "install", "--quiet", "--disable-pip-version-check", *PINNED)
    shutil.rmtree(DIST, ignore_errors=True)
    run(f"{tool}python", "-m", "build", "--outdir", str(DIST), str(ROOT))
    run(f"{tool}twine", "check", "--strict", *map(str, DIST.iterdir()))
    run(f"{tool}pyroma", "--min", "10", str(next(DIST.glob("*.tar.gz"))))
    audit = [f"{tool}pip-audit", "--strict", "--require-hashes", "--disable-pip", "-r", "requirements.lock"]
    if subprocess.run(audit, cwd=ROOT).returncode:
        message = "pip-audit found a weakness, or its database does not know every dependency"
        if not dry:
            raise SystemExit(message)
        print(f"note: {message}")
    run("deploy/try_install.sh", str(next(DIST.glob("*.whl"))), sys.executable)


def main() -> None:
    """Release, or in a dry run say what is missing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    found, later = list(problems(ROOT, options.version)), list(unready(ROOT, options.version))
    for text in [*found, *later]:
        print(f"{'note' if options.dry_run and text in later else 'problem'}: {text}", flush=True)
    if found or (later and not options.dry_run):
        raise SystemExit(1)
    build(dry=options.dry_run)
    if options.dry_run:
        print(f"dry run: {options.version} is built in {DIST}; nothing was tagged")
        return
    run("git", "tag", "--annotate", f"v{options.version}", "--message", f"evercrawl {options.version}")
    print(f"tagged. Upload with: git push origin v{options.version} && {TOOLS}/bin/twine upload {DIST}/*")


if __name__ == "__main__":
    main()
