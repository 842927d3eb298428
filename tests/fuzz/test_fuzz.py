"""No reader of foreign bytes raises an unexpected error, hangs or grows on mutated inputs."""

from __future__ import annotations

import pytest

from tests.fuzz.growth import SAME_SIZE, Pump, growth_of, make_pump
from tests.fuzz.run import error_of, try_input
from tests.fuzz.targets import TARGETS

INPUTS = 60
PUMPS = 6
SEED = "test"


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_survives_mutated_inputs(name: str) -> None:
    tried = (try_input(name, f"{SEED}-{number}") for number in range(INPUTS))
    assert [found for found in tried if found is not None] == []


@pytest.mark.parametrize("name", TARGETS)
def test_the_inputs_to_start_from_are_read(name: str) -> None:
    target = TARGETS[name]
    assert [error for seed in target.seeds if (error := error_of(target._replace(errors=()), seed))] == []


@pytest.mark.parametrize("name", sorted(TARGETS.keys() - SAME_SIZE - {"fields"}))  # Fields have a budget in a process.
def test_time_grows_with_repeated_parts_of_inputs(name: str) -> None:
    pumps = [make_pump(TARGETS[name].seeds, f"{SEED}-{number}") for number in range(PUMPS)]
    assert [(pump, found) for pump in pumps if (found := growth_of(TARGETS[name], pump)) is not None] == []


@pytest.mark.parametrize(
    ("name", "pump"),
    [
        ("markdown", Pump(b"<p", b"\xc4\xe3\xba\xc3</'\x01N", b">")),
        ("scripts", Pump(b"<mai", b"<.png)}/\x01N", b"</main>")),
        ("sign-in", Pump(b"<script>{}</script><script type=application/", b" \x01N1", b">")),
        ("feed", Pump(b"<rss><item><title>A</title><des", b" \x01N><title\x01N", b"")),
    ],
)
def test_growth_that_was_found_stays_mended(name: str, pump: Pump) -> None:
    """Thousands of attributes in one tag, of which < and quotes may be part; open elements that all differ."""
    assert growth_of(TARGETS[name], pump) is None
