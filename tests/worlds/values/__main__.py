"""Print how the fields of the ten templates were read."""

from __future__ import annotations

import argparse

from tests.worlds.values.watch import lines_of, watch_all


def main() -> None:
    """Watch the pages and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--accept", action="store_true", help="accept what is proposed")
    given = parser.parse_args()
    for seed in range(given.seeds):
        print(f"seed {seed}")
        for line in lines_of(watch_all(seed=seed, days=given.days, accepts=given.accept)):
            print(line)


if __name__ == "__main__":
    main()
