"""Rendered pages per minute, memory and requests of the server, beside Crawlee's PlaywrightCrawler.

python bench/render_race.py --site http://127.0.0.1:9301 --pages 24 --rounds 3 --node FOLDER

The site is a React application with the pages /item/1, /item/2 and so on, and an access log as JSON at /__log.
FOLDER has the npm packages @crawlee/playwright and playwright. Both use the same Chromium on one core, page by page."""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.request import urlopen

from evercrawl.adapters.browser.launch import find_browser
from evercrawl.adapters.browser.renderer import ChromiumRenderer
from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.system import SystemClock
from evercrawl.model.fetch import Fetched, Rendered, Request
from evercrawl.model.settings import HttpSettings, RenderSettings, Settings

CRAWLEE = """
import { Configuration, PlaywrightCrawler } from '@crawlee/playwright';
const [browser, ...urls] = process.argv.slice(2);
const crawler = new PlaywrightCrawler({
    maxConcurrency: 1, maxRequestRetries: 0,
    launchContext: { launchOptions: { executablePath: browser, args: ['--no-sandbox'], headless: true } },
    async requestHandler({ page, request }) {
        await page.waitForLoadState('networkidle');
        console.log(JSON.stringify([request.url, (await page.content()).length]));
    },
}, new Configuration({ persistStorage: false, logLevel: 'ERROR' }));
await crawler.run(urls);
"""
MEMORY_EVERY_S = 0.2


async def render_all(urls: list[str]) -> None:
    """Render the pages as a crawl does, without its pace; print the size of each document."""
    settings = Settings(http=HttpSettings(allow_private=True), render=RenderSettings(browsers=1))
    client, renderer = HttpFetcher(settings, SystemClock(), "evercrawl-bench/1"), ChromiumRenderer(settings.render)
    for url in urls:
        page = await client.fetch(Request(url))
        assert isinstance(page, Fetched), page
        result = await renderer.render(page, client.fetch)
        assert isinstance(result, Rendered), result
        print(json.dumps([url, len(result.dom)]), flush=True)
    await renderer.close()
    await client.close()


def memory_of_tree(root: int) -> int:
    """Return the proportional memory of a process and everything it started, in bytes."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    tree, total = [root], 0
    for pid in tree:
        tree += parents.get(pid, [])
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


def log_of(site: str) -> Counter[str]:
    """Return how often each path was requested so far."""
    with urlopen(f"{site}/__log") as answer:
        paths: list[str] = json.load(answer)
    return Counter(path for path in paths if path != "/__log")


def measure(name: str, command: list[str], site: str, folder: str) -> dict[str, object]:
    """Run one crawler and return its figures."""
    before, began, peak = log_of(site), time.monotonic(), 0
    process = subprocess.Popen(["taskset", "-c", "0", *command], stdout=subprocess.PIPE, text=True, cwd=folder)
    lines: list[str] = []
    assert process.stdout is not None
    reading = threading.Thread(target=lambda stream: lines.extend(stream), args=(process.stdout,))
    reading.start()
    while process.poll() is None:
        peak = max(peak, memory_of_tree(process.pid))
        time.sleep(MEMORY_EVERY_S)
    reading.join()
    took = time.monotonic() - began
    sizes = [json.loads(line)[1] for line in lines if line.startswith("[")]
    requests = log_of(site) - before
    return {
        "crawler": name,
        "pages": len(sizes),
        "smallest_document": min(sizes, default=0),
        "pages_per_minute": round(60 * len(sizes) / took, 1),
        "peak_mb": round(peak / 1e6),
        "requests": sum(requests.values()),
        "requests_per_page": round(sum(requests.values()) / max(1, len(sizes)), 2),
    }


def main() -> None:
    """Race both, round by round."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--site", required=True)
    parser.add_argument("--path", default="/item/", help="what comes before the number of a page")
    parser.add_argument("--pages", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--node", required=True)
    parser.add_argument("urls", nargs="*")
    given = parser.parse_args()
    if given.urls:
        asyncio.run(render_all(given.urls))
        return
    urls = [f"{given.site}{given.path}{number}" for number in range(1, given.pages + 1)]
    script = Path(given.node) / "render_race.mjs"
    script.write_text(CRAWLEE)
    ours = [sys.executable, str(Path(__file__).resolve()), "--site", given.site, "--node", given.node, *urls]
    theirs = ["node", str(script), find_browser(), *urls]
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.rounds):
            for name, command in (("evercrawl", ours), ("crawlee", theirs)):
                print(json.dumps(measure(name, command, given.site, folder)), flush=True)


if __name__ == "__main__":
    main()
