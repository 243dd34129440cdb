"""The handwritten program on the runtime, compiled in several ways."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from client_programs import HERE, Client, build_client

from tests.emulator.stand_ins import StandIns, build


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> StandIns:
    return build(tmp_path_factory.mktemp("emulator"))


@pytest.fixture(scope="session")
def compile_client(stand_ins: StandIns, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Client]:
    """Compiles the program: compiler, flags and texts are the caller's."""

    def compile_it(
        compiler: str = "gcc", *flags: str, source: str = "", client: str = "", hip: str = ""
    ) -> Client:
        kernels = source or (HERE / "kernels.cu").read_text()
        text = client or (HERE / "client.c").read_text()
        folder = tmp_path_factory.mktemp("client")
        command = [compiler, *flags]
        return build_client(folder, stand_ins, command, kernels=kernels, hip=hip or kernels, client=text)

    return compile_it


def _after_client(name: str) -> str:
    """The text of a file that uses functions of client.c."""
    regions, scenarios = ((HERE / each).read_text() for each in ("client.c", name))
    return f"#define main client\n{regions}#undef main\n{scenarios}"


@pytest.fixture(scope="session")
def memories(compile_client: Callable[..., Client]) -> Client:
    return compile_client(client=_after_client("memories.c"))


@pytest.fixture(scope="session")
def estimates(compile_client: Callable[..., Client]) -> Client:
    return compile_client(client=_after_client("estimates.c"))


@pytest.fixture(scope="session")
def client(compile_client: Callable[..., Client]) -> Client:
    return compile_client()
