"""islpy knows its version, however it is imported."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

TELL = "; import islpy; print(islpy.__version__, islpy.version.VERSION, 'email.message' in sys.modules)"


def test_islpy_knows_its_version_without_its_metadata():
    start = "import sys; from polybuild.poly.start import import_islpy; import_islpy()"
    quick, plain = (
        subprocess.run([sys.executable, "-c", head + TELL], capture_output=True, text=True, check=True).stdout
        for head in (start, "import sys")
    )
    assert quick.split()[0] == metadata.version("islpy")
    assert quick.split()[:-1] == plain.split()[:-1]
    assert quick.split()[-1] == "False"
