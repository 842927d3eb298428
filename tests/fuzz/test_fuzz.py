"""No reader of foreign bytes raises an unexpected error, hangs or grows on mutated inputs."""

from __future__ import annotations

import pytest

from tests.fuzz.run import error_of, try_input
from tests.fuzz.targets import TARGETS

INPUTS = 60
SEED = "test"


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_survives_mutated_inputs(name: str) -> None:
    tried = (try_input(name, f"{SEED}-{number}") for number in range(INPUTS))
    assert [found for found in tried if found is not None] == []


@pytest.mark.parametrize("name", TARGETS)
def test_the_inputs_to_start_from_are_read(name: str) -> None:
    target = TARGETS[name]
    assert [error for seed in target.seeds if (error := error_of(target._replace(errors=()), seed))] == []
