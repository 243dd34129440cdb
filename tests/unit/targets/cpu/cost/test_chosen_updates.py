"""Which updates of one element, or variable, gcc 12 takes for reductions: it reports so."""

from __future__ import annotations

import pytest

from polybuild.poly.trees import descendants, is_band
from polybuild.storage.element_promotion import promote_elements
from polybuild.targets.cpu.cost.chosen_updates import has_chosen_updates
from polybuild.targets.cpu.strides import references

PARAMETERS = "int n, int m, const int *restrict x, const int *restrict c, int *restrict o"
# of a loop over i, and whether it is unknown to compilers
UPDATES = {
    "if (x[i] > m) m = x[i];": False,
    "if (m < x[i]) m = x[i];": False,
    "m = x[i] > m ? x[i] : m;": False,
    "if (c[i] > 3) m += x[i];": False,
    "m += c[i] > 3 && x[i] < 9 ? x[i] : 0;": False,
    "o[5] = x[i] > o[5] ? x[i] : o[5];": False,
    "o[5] += x[i];": False,
    "if (c[i] > 3) o[i] += x[i];": False,
    "if (c[i] > 3 && x[i] > m) m = x[i];": True,
    "if (x[i] > m && c[i] > 3) m = x[i];": True,
    "if (c[i] > 3) if (x[i] > m) m = x[i];": True,
    "if (c[i] > 3) m = m > x[i] ? m : x[i];": True,
    "m = c[i] > 3 ? m > x[i] ? m : x[i] : m;": True,
    "if (x[i] + 1 > m + c[i]) m = x[i];": True,
    "if (x[i] > o[5]) o[5] = x[i];": True,
    "if (c[i] > 3) o[5] += x[i];": True,
}


@pytest.mark.parametrize("body", UPDATES)
def test_updates_that_are_no_reductions_to_compilers(model, body):
    found = model(f"for (int i = 0; i < n; i++) {{ {body} }}", PARAMETERS, after="o[0] = m;")
    accesses = references(found.scop, found.scop.schedule.get_root().child(0))
    assert has_chosen_updates(accesses, 0, generated=False) is UPDATES[body]


@pytest.mark.parametrize("generated", [False, True])
def test_elements_are_in_variables_of_generated_loops(model, generated):
    """A variable that holds an element stands for a store to it, in the program."""
    body = "for (int j = 0; j < n; j++) { o[j] = 0; for (int i = 0; i < n; i++) if (x[i] > c[j]) o[j]++; }"
    scop = promote_elements(model(body, PARAMETERS).scop, ())
    (loop,) = (
        each
        for each in descendants(scop.schedule.get_root())
        if is_band(each) and each.get_schedule_depth() == 1
    )
    assert has_chosen_updates(references(scop, loop), 0, generated=generated) is not generated
