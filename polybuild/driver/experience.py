"""What earlier runs found out about the regions of a file."""

from __future__ import annotations

from polybuild.driver.region_store import RegionStore
from polybuild.driver.tuning_files import UNTUNED, Tuning
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Experience:
    """What earlier runs found out: the fastest settings of some regions, and what became of some.

    Of what is found in the ``store`` there are no details.
    """

    tuning: Tuning = UNTUNED
    store: RegionStore | None = None


NO_EXPERIENCE = Experience()
