"""Run the polybuild of the source tree this file lies in, without an installation."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from polybuild.cli.main import main  # noqa: E402 - the line above is what makes this import work

if __name__ == "__main__":
    main()
