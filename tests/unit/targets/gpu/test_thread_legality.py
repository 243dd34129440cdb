"""The proof that threads are independent."""

from dataclasses import replace

import islpy as isl
import pytest

from polybuild.options import Options
from polybuild.schedule.legality import IllegalSchedule
from polybuild.targets.base import DeviceLimits
from polybuild.targets.gpu.mapping import map_to_gpu
from polybuild.targets.gpu.target import CUDA
from polybuild.targets.gpu.thread_legality import check_mapping
from polybuild.targets.gpu.thread_storage import find_private

VECTORS = "int n, double *restrict a, double *restrict b"
RECURRENCE = "for (int i = 1; i < n; i++) a[i] = 2 * a[i - 1] + b[i];"
TEMPORARY = "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t; }"


def mapping_of(found, *, say_parallel=False):
    schedule = found.scop.schedule
    if say_parallel:
        band = schedule.get_root().child(0).band_member_set_coincident(0, 1)
        schedule = band.band_set_permutable(1).get_schedule()
    mapping = map_to_gpu(found.scop, schedule, Options(), CUDA.limits)
    # the claim itself would be found out before the threads are looked at
    quiet = isl.Schedule(str(mapping.schedule).replace("coincident: [ 1 ]", "coincident: [ 0 ]"))
    return replace(mapping, schedule=quiet)


def test_threads_that_depend_on_each_other(model):
    found = model(RECURRENCE, VECTORS)
    check_mapping(found.scop, mapping_of(found), found.dependences, ())
    with pytest.raises(IllegalSchedule, match="threads of one launch depend on each other"):
        check_mapping(found.scop, mapping_of(found, say_parallel=True), found.dependences, ())


def test_a_temporary_needs_a_copy_in_each_thread(model):
    found = model(TEMPORARY, VECTORS, before="double t;")
    mapping = mapping_of(found, say_parallel=True)
    private = find_private(mapping, found.dependences, DeviceLimits())
    assert [array.name for array in private] == ["t"]
    check_mapping(found.scop, mapping, found.dependences, private)
    with pytest.raises(IllegalSchedule):
        check_mapping(found.scop, mapping, found.dependences, ())
