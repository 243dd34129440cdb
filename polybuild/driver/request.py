"""What is asked for one C file: its name, the options given, and how the build compiles it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polybuild.driver import flags_file
from polybuild.options import Options
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """One file to transform.

    ``settings`` maps names of Options to text. ``compiler`` is the command of the build's C
    compiler, ``flags`` are those of the file, with response files still unread. What the passes
    ``print_after`` make of each region is printed; passes are ``timed`` where that is asked for.
    """

    source: str
    settings: Mapping[str, str]
    compiler: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    print_after: tuple[str, ...] = ()
    timed: bool = False

    def detects(self) -> bool:
        """Whether more may be wanted than the regions marked in the file itself."""
        options = Options().with_settings(self.settings)
        return any(getattr(options, name) for name in Options.finding_more())

    def expanded_flags(self) -> list[str]:
        """The compiler's flags with response files replaced by what they hold."""
        return flags_file.expand(self.flags)

    def response_files(self) -> tuple[str, ...]:
        """The response files among the flags."""
        return tuple(flag[1:] for flag in self.flags if flag.startswith("@") and Path(flag[1:]).is_file())
