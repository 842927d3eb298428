"""An incremental build writes the same bytes as a full one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.sitemaps.folder_pages import FolderRules
from evercrawl.sitemaps.generator import SitemapTarget, build_from_folder

BASE = "https://example.org/"
SECOND = 1_000_000_000
NAMES = ("index.html", "a.html", "sub/index.html", "sub/b.html", "c d.html")
ACTIONS = ("edit", "touch", "remove", "hide", "style", "restore")

steps = st.lists(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(ACTIONS), st.integers(0, 3)), max_size=4),
    min_size=1,
    max_size=6,
)


def act(path: Path, action: str, choice: int, now_ns: int) -> None:
    """Change one file; each change leaves another modification time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if action == "remove":
        path.unlink(missing_ok=True)
        return
    if action == "touch" and path.exists():
        os.utime(path, ns=(now_ns, now_ns))
        return
    head = '<meta name="robots" content="noindex">' if action == "hide" else ""
    style = f"<style>p {{ margin: {now_ns}px }}</style>" if action == "style" else ""
    path.write_text(f"<title>t</title>{head}{style}<p>edition {'x' * choice} of this page</p>")
    moment = now_ns - 1000 * SECOND + choice if action == "restore" else now_ns
    os.utime(path, ns=(moment, moment))


@given(steps)
@settings(max_examples=60, deadline=None)
def test_incremental_is_the_same_as_full(rounds: list[list[tuple[str, str, int]]]) -> None:
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        site, quick, full = root / "site", root / "quick", root / "full"
        for folder in (site, quick, full):
            folder.mkdir()
        rules = FolderRules(BASE)
        now_ns = 1_700_000_000 * SECOND
        for happenings in rounds:
            for name, action, choice in happenings:
                now_ns += SECOND // 3
                act(site / name, action, choice, now_ns)
            now_ns += 10 * SECOND
            reports = [
                build_from_folder(
                    site, rules, SitemapTarget(to, BASE, root / f"{to.name}.state"), read_all=to == full, now_ns=now_ns
                )
                for to in (quick, full)
            ]
            assert reports[0].changed == reports[1].changed
            assert (reports[0].added, reports[0].removed) == (reports[1].added, reports[1].removed)
            for name in ("sitemap.xml", "sitemap-extended.xml"):
                assert (quick / name).read_bytes() == (full / name).read_bytes()
