"""The report as JSON, for tools."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from polybuild.report.record.model import RegionReport


def as_json(regions: Sequence[RegionReport]) -> bytes:
    """``{"regions": [...]}``, in the order of the file, one key for each field of RegionReport."""
    record = {"regions": [dataclasses.asdict(region) for region in regions]}
    return (json.dumps(record, indent=2) + "\n").encode("ascii")
