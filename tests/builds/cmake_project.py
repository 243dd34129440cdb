"""Projects in temporary directories, those of CMake above all: configure, build, run, edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = ROOT / "tests" / "projects"

GENERATORS = ("Ninja", "Unix Makefiles", "Ninja Multi-Config")
CONFIGURATION = "Release"


@dataclass(frozen=True)
class Project:
    source: Path
    build_directory: Path
    generator: str

    def configure(self, *settings: str, check: bool = True, env: dict[str, str] | None = None) -> str:
        """Run CMake; what it printed. Later calls need only the settings that change."""
        command = ["cmake", "-S", self.source, "-B", self.build_directory, "-G", self.generator]
        if "Multi" not in self.generator:
            command.append(f"-DCMAKE_BUILD_TYPE={CONFIGURATION}")
        return self._run([*command, *settings], check, env)

    def build(self, *arguments: str, check: bool = True) -> str:
        """Build everything; what was printed."""
        command = ["cmake", "--build", self.build_directory, "--config", CONFIGURATION, *arguments]
        return self._run(command, check, None)

    def run(self, program: str) -> str:
        """What a program of the build prints."""
        path = self.build_directory / program
        if "Multi" in self.generator:
            path = path.parent / CONFIGURATION / path.name
        return self._run([path], check=True, env=None).strip()

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.source / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def generated(self, name: str) -> Path:
        """The one file under the build's polybuild directories whose path ends in ``name``."""
        (path,) = [path for path in self.build_directory.rglob(name) if "polybuild" in path.parts]
        return path

    def state(self) -> dict[Path, int]:
        """When each result of the build was written, in nanoseconds."""
        endings = (".c", ".o", ".so", ".a", ".flags", ".d", ".json", "")
        return {
            path: path.stat().st_mtime_ns
            for path in self.build_directory.rglob("*")
            if path.is_file()
            and path.suffix in endings
            and ("polybuild" in path.parts or path.suffix in {".o", ".a", ".so"} or os.access(path, os.X_OK))
        }

    def _run(self, command: list[str | Path], check: bool, env: dict[str, str] | None) -> str:
        environment = {**os.environ, **(env or {})}
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment
        )
        assert not check or done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
        assert check or done.returncode != 0, done.stdout
        return done.stdout


def copy_of(name: str, directory: Path, generator: str, settings: list[str]) -> Project:
    """A copy of one of the test projects, configured."""
    shutil.copytree(PROJECTS / name, directory / "source")
    project = Project(directory / "source", directory / "build", generator)
    project.configure(*settings)
    return project


def subdirectory_settings() -> list[str]:
    """What CMake must be told to use polybuild from this source tree."""
    return [f"-DPOLYBUILD_TREE={ROOT}", f"-DPython3_EXECUTABLE={sys.executable}"]


def run_or_fail(*command: str | Path) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
