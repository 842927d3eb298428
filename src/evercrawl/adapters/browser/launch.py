"""Find Chromium or Chrome and start it without network, as a user of its own where we are root."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evercrawl.adapters.browser.devtools import DevTools, DevToolsError
from evercrawl.adapters.browser.wall import NO_WALL_CODE
from evercrawl.model.fetch import RenderFault
from evercrawl.model.sanitize import safe_line

HOW_TO_INSTALL = "install Chromium (on Debian: apt-get install chromium), or set render.browser to its path"
HOW_TO_ALLOW_SANDBOX = (
    "allow user namespaces for it (in a container: --security-opt seccomp=deploy/seccomp-browser.json), "
    "or render only sites that you trust"
)
NO_SANDBOX = "--no-sandbox"
START_TIMEOUT_S = 30.0
MAX_ERROR_BYTES = 100_000  # Of the browser's standard error, of which the last line is shown.
FIRST_UID, LAST_UID = 61_184, 65_519  # The users that systemd gives to services without an account.
MIN_SHM_BYTES = 256 * 1024 * 1024  # Containers often have less; then shared memory is kept in files.
_REAL_BINARIES = (  # Not the scripts beside them, which add flags and API keys.
    "/usr/lib/chromium/chromium", "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser", "/opt/google/chrome/chrome", "/opt/chromium.org/chromium/chromium",
)  # fmt: skip
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "chrome-headless-shell")
FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-startup-window", "--no-first-run",
    "--no-default-browser-check", "--no-pings", "--no-service-autorun", "--disable-gpu", "--hide-scrollbars",
    "--mute-audio", "--log-level=3", "--password-store=basic", "--use-mock-keychain", "--deny-permission-prompts",
    "--disable-background-networking", "--disable-breakpad", "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages", "--disable-component-update", "--disable-crash-reporter",
    "--disable-default-apps", "--disable-domain-reliability", "--disable-extensions", "--disable-notifications",
    "--disable-quic", "--disable-sync", "--disable-backgrounding-occluded-windows",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-site-isolation-trials",  # Frames of other sites stay in the page's process and in its clock.
    "--disable-features=IsolateOrigins,site-per-process,Prerender2,SpeculationRulesPrefetch,OptimizationHints,"
    "MediaRouter,DialMediaRouteProvider,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater,"
    "InterestFeedContentSuggestions,HttpsUpgrades,PaintHolding,DestroyProfileOnBrowserClose",
    "--block-new-web-contents", "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--disk-cache-size=1",
    "--js-flags=--random-seed=1 --max-old-space-size=512",
)  # fmt: skip


class BrowserUnavailable(Exception):
    """The browser cannot be started; the message says why and what to do."""

    def __init__(self, fault: RenderFault, detail: str) -> None:
        super().__init__(detail)
        self.fault, self.detail = fault, detail


def find_browser(path: str | None = None) -> str:
    """Return the browser's own binary, not a script that starts it; raise BrowserUnavailable."""
    if path is not None and not os.access(path, os.X_OK):
        raise BrowserUnavailable(RenderFault.NO_BROWSER, f"render.browser: {path} cannot be run; {HOW_TO_INSTALL}")
    given: list[str] = [path] if path is not None else []
    on_path: list[str] = [found for name in _NAMES if (found := shutil.which(name)) is not None]
    for candidate in (*given, *_REAL_BINARIES, *on_path):
        if _is_binary(candidate):
            return candidate
    raise BrowserUnavailable(RenderFault.NO_BROWSER, f"no Chromium or Chrome was found; {HOW_TO_INSTALL}")


def _is_binary(path: str) -> bool:
    if Path(os.path.realpath(path)).name == "snap" or not os.access(path, os.X_OK):  # A snap leaves no wall standing.
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


@dataclass(slots=True)
class BrowserProcess:
    """A running browser."""

    devtools: DevTools
    process: asyncio.subprocess.Process
    profile: Path
    has_sandbox: bool

    def memory(self) -> int:
        """Return the bytes of memory that its processes use, without what is shared with files."""
        return sum(map(_memory_of, _process_tree(self.process.pid)))

    async def end(self) -> None:
        """Kill every process of it and remove its files."""
        for pid in _process_tree(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.devtools.close()
        await self.process.wait()
        await asyncio.to_thread(shutil.rmtree, self.profile, ignore_errors=True)


async def start_browser(path: str | None = None, *, languages: str | None = None) -> BrowserProcess:
    """Start the browser, with its own sandbox if that works here; raise BrowserUnavailable."""
    binary = find_browser(path)
    flags = (*FLAGS, *((f"--accept-lang={languages}",) if languages else ()))
    shm = os.statvfs("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    if shm is None or shm.f_bavail * shm.f_frsize < MIN_SHM_BYTES:
        flags += ("--disable-dev-shm-usage",)
    try:
        return await _start(binary, flags)
    except BrowserUnavailable as error:
        if error.fault is RenderFault.NO_WALL:
            raise
        return await _start(binary, (*flags, NO_SANDBOX))


async def _start(binary: str, flags: tuple[str, ...]) -> BrowserProcess:
    if sys.platform != "linux":
        raise BrowserUnavailable(
            RenderFault.NO_WALL, "rendering needs Linux, whose kernel cuts off the browser's network"
        )
    uid = random.randint(FIRST_UID, LAST_UID) if os.geteuid() == 0 else 0
    profile = Path(tempfile.mkdtemp(prefix="evercrawl-browser-"))
    if uid:
        os.chown(profile, uid, uid)
    their_input, our_output = os.pipe()
    our_input, their_output = os.pipe()
    command = [sys.executable, "-P", "-m", "evercrawl.adapters.browser.wall", str(uid)]
    command += [str(their_input), str(their_output), binary, f"--user-data-dir={profile}", *flags]
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=errors,
            pass_fds=(their_input, their_output),
            start_new_session=True,
            env=_environment(profile),
            cwd="/",
        )
        os.close(their_input)
        os.close(their_output)
        browser = BrowserProcess(DevTools(), process, profile, NO_SANDBOX not in flags)
        try:
            await browser.devtools.connect(our_input, our_output)
            async with asyncio.timeout(START_TIMEOUT_S):
                await browser.devtools.call("Browser.getVersion")
        except (DevToolsError, TimeoutError) as error:
            await browser.end()
            errors.seek(0)
            said = _last_words(errors.read(MAX_ERROR_BYTES).decode("utf-8", "replace"))
            raise _unavailable(binary, process.returncode, said or str(error)) from error
    return browser


def _last_words(errors: str) -> str:
    """Return the last line of what the browser wrote, without what its crash reporter adds."""
    lines = [line for line in errors.splitlines() if line.strip() and "crashpad" not in line]
    return safe_line(lines[-1]) if lines else ""


def _unavailable(binary: str, code: int | None, said: str) -> BrowserUnavailable:
    if code == NO_WALL_CODE:
        detail = f"the network of the browser cannot be cut off on this system ({said}); rendering stays off"
        return BrowserUnavailable(RenderFault.NO_WALL, detail)
    return BrowserUnavailable(RenderFault.NO_BROWSER, f"{binary} does not start: {said}")


def _environment(profile: Path) -> dict[str, str]:
    """Return a bare environment: ours may hold secrets, proxies and a display."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "FONTCONFIG_PATH") if name in os.environ}
    return kept | {"HOME": str(profile), "TMPDIR": str(profile), "LANG": "C.UTF-8", "TZ": "UTC"}


def _process_tree(pid: int) -> list[int]:
    """Return a process and everything that it started."""
    found = [pid]
    for parent in found:
        with suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):
                children = Path(f"/proc/{parent}/task/{task}/children").read_text("ascii")
                found += [int(child) for child in children.split()]
    return found


def _memory_of(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8", "replace")
    except OSError:
        return 0
    lines = (line.split() for line in status.splitlines() if line.startswith(("RssAnon:", "RssShmem:")))
    return sum(int(line[1]) * 1024 for line in lines)
