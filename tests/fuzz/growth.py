"""Look for inputs on which a reader takes more than linear time: parts of the inputs to start from, and signs, are
joined at random and repeated, plainly or with a number that differs each time. The last line is JSON.

python -m tests.fuzz.growth [--seconds 600] [--seed 1] [--only NAME] [--input NUMBER]
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from tests.fuzz.mutation import BYTES, SIGNS
from tests.fuzz.targets import TARGETS, Target

SIZES = (32 * 1024, 64 * 1024, 128 * 1024)
FAST_S = 0.15  # Of the longest input: its growth is not measured.
HANG_S = 6.0  # An input is stopped after this time.
MOST_GROWTH = 3.0  # Of the time, for twice the input: linear is 2, quadratic is 4.
MAX_PARTS = 4  # Of what is repeated.
TURN = 20  # Inputs of one reader before the next.
SAME_SIZE = frozenset(("WARC", "WACZ", "PDF", "changedetection", "settings"))  # What is repeated is not all they read.
_TOKEN = re.compile(rb"</?[A-Za-z][^<>]{0,60}>?|[A-Za-z0-9_-]+|\s+|[^A-Za-z0-9\s]{1,3}", re.DOTALL)
_NUMBER = b"\x01N"


class Pump(NamedTuple):
    """An input: what comes first, what is repeated, and what comes last."""

    start: bytes
    piece: bytes
    end: bytes

    def of_size(self, size: int) -> bytes:
        """Return the input with about this many bytes."""
        times = max(1, size // len(self.piece))
        if _NUMBER not in self.piece:
            return self.start + self.piece * times + self.end
        pieces = (self.piece.replace(_NUMBER, b"%d" % (7919 * number % 1_000_003)) for number in range(times))
        return self.start + b"".join(pieces)[:size] + self.end


def make_pump(seeds: Sequence[bytes], number: str) -> Pump:
    """Return the input with this number."""
    draw = Random(number)
    seed = draw.choice(seeds)
    tokens = _TOKEN.findall(seed) or [seed]
    parts = []
    for _ in range(draw.randint(1, MAX_PARTS)):
        match draw.randrange(10):
            case 0:
                parts.append(draw.choice(BYTES))
            case 1 | 2:
                parts.append(draw.choice(SIGNS))
            case 3:
                parts.append(_NUMBER)
            case 4:
                at = draw.randrange(len(seed) or 1)
                parts.append(seed[at : at + draw.choice((2, 8, 40))])
            case 5:
                parts.append(draw.choice((b" ", b"\n", b"a", b"a ", b"1")))
            case _:
                at = draw.randrange(len(tokens))
                parts.append(b"".join(tokens[at : at + draw.randint(1, 3)]))
    cut = draw.choice((0, 0, draw.randint(0, len(seed)), draw.randint(0, len(seed))))
    end = seed[cut:] if draw.random() < 0.4 else draw.choice((b"", b"\0", b"!", b">", b'"', b"</main>"))
    return Pump(seed[:cut], b"".join(parts) or b"a", end)


class _TooLongError(BaseException):
    """Not an Exception, so that no reader catches it."""


def seconds(target: Target, data: bytes) -> float:
    """Return the processor time that the reader takes; one that does not end soon is stopped."""

    def stop(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, HANG_S)
    try:
        target.read(data)
    except (_TooLongError, Exception):
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.process_time() - start


def growth_of(target: Target, pump: Pump) -> tuple[float, float] | None:
    """Return by what the time grows when the input doubles, and the time; None: nothing is wrong."""
    longest = seconds(target, pump.of_size(SIZES[2]))
    if longest < FAST_S:
        return None
    for _ in range(3):
        middle, short = seconds(target, pump.of_size(SIZES[1])), seconds(target, pump.of_size(SIZES[0]))
        growth = min(longest / max(middle, 0.005), max(middle / max(short, 0.005), 2.5 if longest >= HANG_S else 0))
        if growth < MOST_GROWTH and longest < HANG_S:
            return None
        longest = min(longest, seconds(target, pump.of_size(SIZES[2])))
    return growth, longest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--input", help="one input, to see what it does")
    options = parser.parse_args()
    names = [options.only] if options.only else [name for name in TARGETS if name not in SAME_SIZE]
    if options.input is not None:
        pump = make_pump(TARGETS[options.only].seeds, options.input)
        print(pump, [seconds(TARGETS[options.only], pump.of_size(size)) for size in SIZES])
        return
    tried: Counter[str] = Counter()
    found = number = 0
    while time.process_time() < options.seconds:
        name = names[number // TURN % len(names)]
        number += 1
        pump = make_pump(TARGETS[name].seeds, f"{options.seed}-{number}")
        tried[name] += 1
        if (grown := growth_of(TARGETS[name], pump)) is not None:
            found += 1
            print(json.dumps([name, f"{options.seed}-{number}", *grown, repr(pump)[:600]]), flush=True)
    print(json.dumps({"cpu_seconds": round(time.process_time()), "inputs": tried.total(), "found": found, **tried}))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
