"""Print how the fields of the ten templates were read."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.worlds.values.markets import MARKETS
from tests.worlds.values.moves import MOVES
from tests.worlds.values.others import OTHERS
from tests.worlds.values.served import watch_served
from tests.worlds.values.sites import DEVELOPED, HELD
from tests.worlds.values.software import SOFTWARE
from tests.worlds.values.templates import TEMPLATES
from tests.worlds.values.traditions import TRADITIONS
from tests.worlds.values.watch import lines_of, watch_all

SETS = {
    "own": TEMPLATES, "software": SOFTWARE, "moves": MOVES, "sites": DEVELOPED, "held": HELD, "traditions": TRADITIONS,
    "others": OTHERS, "markets": MARKETS,
}  # fmt: skip


def main() -> None:
    """Watch the pages and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the pages that a collection crawls")
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--accept", action="store_true", help="accept what is proposed")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--templates", choices=SETS, default="own", help="which set of templates")
    parser.add_argument("--collection", action="store_true", help="crawl the pages with a real collection and alerts")
    given = parser.parse_args()
    if given.collection:
        with TemporaryDirectory() as folder:
            found = watch_served(
                Path(folder) / "c.evercrawl", seed=given.seed, days=given.days, templates=SETS[given.templates]
            )
        print(f"versions: {next(lines_of(found.fields))}")
        print(f"alerts: {dict(found.alerts)}; requests: {found.requests}")
        for event in found.wrong_alerts[:40]:
            print(f"  {event}")
        print(found.fields.wrong.most_common(20))
        return
    for seed in range(given.first, given.first + given.seeds):
        print(f"seed {seed}")
        for line in lines_of(
            watch_all(seed=seed, days=given.days, accepts=given.accept, templates=SETS[given.templates])
        ):
            print(line)


if __name__ == "__main__":
    main()
