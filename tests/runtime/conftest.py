"""The handwritten program on the runtime, compiled in several ways."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from polybuild.targets.gpu.image import module_object
from polybuild.targets.gpu.nvcc import build_image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.emulator.stand_ins import RUNTIME, StandIns, build  # noqa: E402

STRICT = (
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Werror",
)
KERNELS = ("twice", "interior", "heat", "turn")


@dataclass(frozen=True)
class Client:
    """The program: its scenarios are in client.c."""

    program: Path

    def run(self, *scenarios: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.program), *scenarios],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            timeout=120,
        )


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> StandIns:
    return build(tmp_path_factory.mktemp("emulator"))


@pytest.fixture(scope="session")
def compile_client(stand_ins: StandIns, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Client]:
    """Compiles the program: compiler, flags and text of the kernels are the caller's."""

    def compile_it(compiler: str = "gcc", *flags: str, source: str = "", client: str = "") -> Client:
        folder = tmp_path_factory.mktemp("client")
        kernels = source or (HERE / "kernels.cu").read_text()
        image = build_image(kernels, stand_ins.nvcc, (80,), contract=False)
        module = module_object(
            "module", KERNELS, fatbin=image.data, opencl=kernels, opencl_options="-cl-std=CL1.2"
        )
        (folder / "module.h").write_text(module)
        (folder / "client.c").write_text(client or (HERE / "client.c").read_text())
        command = [compiler, *STRICT, "-O1", "-g", "-D_POSIX_C_SOURCE=200809L", *flags]
        command += [f"-I{folder}", f"-I{RUNTIME / 'include'}", str(folder / "client.c")]
        command += [*map(str, sorted((RUNTIME / "src").glob("*.c")))]
        command += ["-o", str(folder / "client"), "-ldl", "-lpthread"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        return Client(folder / "client")

    return compile_it


@pytest.fixture(scope="session")
def client(compile_client: Callable[..., Client]) -> Client:
    return compile_client()
