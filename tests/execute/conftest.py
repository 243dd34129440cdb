from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from device_programs import Workbench, build_runtime
from kernel_programs import SERIAL, Sizes, build, run, source

from tests.emulator import stand_ins
from tests.emulator.real_device import RealDevice
from tests.mpi_libraries import LIBRARIES, Mpi


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


@pytest.fixture(scope="session")
def emulator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> stand_ins.StandIns:
    """Stand-ins for nvcc and CUDA's driver, or with ``--device`` what is here."""
    folder = tmp_path_factory.mktemp("stand-ins")
    return RealDevice(folder) if request.config.getoption("--device") else stand_ins.build(folder)


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runtime as one object."""
    return build_runtime(tmp_path_factory.mktemp("runtime"))


@pytest.fixture
def workbench(emulator: stand_ins.StandIns, runtime: Path, tmp_path: Path) -> Workbench:
    """Where a program with kernels is made, and runs."""
    return Workbench(emulator, runtime, tmp_path)


@functools.cache
def starts(library: Mpi) -> bool:
    """Whether an implementation of MPI is of use here; a single one has to be."""
    if len(LIBRARIES) == 1:
        return True
    with tempfile.TemporaryDirectory() as folder:
        return library.starts(Path(folder))


@pytest.fixture(scope="module", params=LIBRARIES, ids=lambda each: each.name)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each implementation of MPI that is here, and starts ranks."""
    library: Mpi = request.param
    if not starts(library):
        pytest.skip(f"{library.name} starts no ranks on this machine")
    return library


@pytest.fixture
def some_mpi(request: pytest.FixtureRequest) -> Mpi:
    """One of them, which differs from test to test: for programs that ask of MPI what others ask of each."""
    usable = [each for each in LIBRARIES if starts(each)]
    if not usable:
        pytest.skip("no MPI starts ranks on this machine")
    return usable[len(request.node.name) % len(usable)]
