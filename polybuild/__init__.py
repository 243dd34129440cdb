"""Polyhedral compilation as a build step: marked C loops in, parallel tiled C out."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from polybuild.integrations.loading import load as load

__version__ = "0.1.0"


def __getattr__(name: str) -> "Any":
    # Most of what runs here is the command, which starts for every file of a build.
    if name == "load":
        from polybuild.integrations.loading import load  # noqa: PLC0415 -- see above

        return load
    if name == "load_ipython_extension":  # %load_ext polybuild
        from polybuild.integrations.notebook import load_ipython_extension  # noqa: PLC0415 -- see above

        return load_ipython_extension
    raise AttributeError(f"module 'polybuild' has no attribute '{name}'")
