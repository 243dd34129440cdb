"""Regions are made as in the tests of the model."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "scop"))
