from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
from kernel_programs import SERIAL, Sizes, build, run, source


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Sizes], list[str]]:
    """What a kernel prints at some sizes when gcc compiles the file as it stands."""
    directory = tmp_path_factory.mktemp("original")

    @functools.cache
    def output(kernel: str, sizes: Sizes) -> list[str]:
        program = directory / kernel
        if not program.exists():
            build(source(kernel), program, SERIAL)
        return run(program, tuple(map(str, sizes)))

    return output
