"""Give every reader mutated inputs for some processor time, in processes that may crash, hang or grow.
The last line is JSON.

python -m tests.fuzz.run [--seconds 3600] [--seed 1] [--only NAME] [--input NUMBER]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from mmap import mmap
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.mutation import mutate
from tests.fuzz.targets import TARGETS, Target

SLICE_S = 5.0  # Each reader gets this much processor time, one after the other.
HANG_S = 2.0  # Processor time of one input.
STUCK_S = 120.0  # A process without progress for so long is killed.
GROWTH_BYTES = 300 * 1024 * 1024
MAX_MEMORY_BYTES = 4 * 1024**3
MAX_SLICE_INPUTS = 100_000


class Finding(NamedTuple):
    """An input that broke a reader."""

    target: str
    number: str
    kind: str
    detail: str


def try_input(name: str, number: str) -> Finding | None:
    """Give a reader one input; return what went wrong."""
    target = TARGETS[name]
    data = mutate(target.seeds, number)
    memory, start = peak_bytes(), time.process_time()
    detail = error_of(target, data)
    took, grown = time.process_time() - start, peak_bytes() - memory
    if detail is not None:
        return Finding(name, number, "crash", detail)
    if took > HANG_S:
        return Finding(name, number, "hang", f"{took:.1f} s for {len(data)} bytes")
    if grown > GROWTH_BYTES:
        return Finding(name, number, "growth", f"{grown >> 20} MB for {len(data)} bytes")
    return None


def error_of(target: Target, data: bytes) -> str | None:
    """Return the traceback of an error that the reader must not raise; None: there was none."""
    try:
        target.read(data)
    except target.errors:
        pass
    except Exception:
        return traceback.format_exc(limit=-4)
    return None


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def children_seconds() -> float:
    """Return the processor time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_slice(name: str, numbers: list[str], counter: mmap, out: int) -> None:
    """Try inputs until the slice is over, in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    end = time.process_time() + SLICE_S
    for done, number in enumerate(numbers, start=1):
        finding = try_input(name, number)
        counter[:8] = done.to_bytes(8, "big")
        if finding is not None:
            os.write(out, json.dumps(finding).encode() + b"\n")
        if time.process_time() > end:
            return


def watched_slice(name: str, numbers: list[str], findings: Path) -> tuple[int, Finding | None]:
    """Run a slice; return how many inputs were tried, and what ended the process if it did not end by itself."""
    counter = mmap(-1, 8)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        out = os.open(findings, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            run_slice(name, numbers, counter, out)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(99)
    done, moved_at = 0, time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        now = int.from_bytes(counter[:8], "big")
        if ended:
            why = "" if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else f"the process ended with {status}"
            return now, Finding(name, numbers[now], "crash", why) if why else None
        if now != done:
            done, moved_at = now, time.monotonic()
        if time.monotonic() - moved_at > STUCK_S:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return now, Finding(name, numbers[now], "hang", f"no end within {STUCK_S:.0f} s")
        time.sleep(0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--input", help="one input, to see what it does")
    parser.add_argument("--findings", type=Path, default=Path("scratch/fuzz.jsonl"))
    options = parser.parse_args()
    if options.input is not None:
        print(mutate(TARGETS[options.only].seeds, options.input)[:2000])
        sys.exit(str(try_input(options.only, options.input)))
    sys.exit(0 if run(options) else 1)


def run(options: argparse.Namespace) -> bool:
    """Go round the readers until the time is over; return whether nothing was found."""
    options.findings.parent.mkdir(parents=True, exist_ok=True)
    options.findings.unlink(missing_ok=True)
    names = [options.only] if options.only else list(TARGETS)
    tried: Counter[str] = Counter()
    turn = 0
    while children_seconds() < options.seconds:
        name = names[turn % len(names)]
        numbers = [f"{options.seed}-{turn}-{number}" for number in range(MAX_SLICE_INPUTS)]
        done, ended = watched_slice(name, numbers, options.findings)
        tried[name] += done
        if ended is not None:
            with options.findings.open("a") as out:
                out.write(json.dumps(ended) + "\n")
        turn += 1
        if turn % len(names) == 0:
            print(f"{children_seconds():.0f} s, {tried.total()} inputs", file=sys.stderr, flush=True)
    lines = options.findings.read_text().splitlines() if options.findings.exists() else []
    found = [Finding(*json.loads(line)) for line in lines]
    kinds = Counter(finding.kind for finding in found)
    figures = {"cpu_seconds": round(children_seconds()), "inputs": tried.total(), **kinds}
    print(json.dumps({"seconds": options.seconds, **figures, "by_target": dict(tried)}))
    return not found


if __name__ == "__main__":
    main()
