"""Values that nothing reads: which statements set them alone, and that the last one is computed."""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.dependences import compute_dependences
from polybuild.schedule.legality import check_schedule
from polybuild.storage.rematerialisation import recompute_last_values
from polybuild.storage.unread_values import of_loops, unread_statements

PARAMETERS = "int n, int m, double a[restrict n], double b[restrict n], double s[restrict 2]"
STEP = "for (int i = 1; i < n - 1; i++) b[i] = a[i - 1]; for (int i = 1; i < n - 1; i++) a[i] = b[i];"
SUM = "s[0] = 0; for (int i = 0; i < n; i++) s[0] += a[i];"


def changed(model, body, before="", after=""):
    found = model(body, PARAMETERS, before=before, after=after)
    return found.scop, found.live, *recompute_last_values(found.scop, found.live, ())


def test_the_last_iteration_alone_computes_what_it_leaves(model):
    before, live, scop, last = changed(model, f"for (int t = 0; t < m; t++) {{ {SUM} {STEP} }}")
    assert [each.name for each in last.alone] == ["s"]
    own = [each for each in scop.statements if each.accesses_to(last.alone[0])]
    for each in own:
        first = each.domain.project_out(isl.dim_type.set, 1, each.domain.dim(isl.dim_type.set) - 1)
        assert first.reset_tuple_id().is_subset(isl.Set("[m] -> { [t] : t = m - 1 }"))
        assert all(access.relation.domain().is_subset(each.domain) for access in each.accesses)
    others = {each.name: each.domain for each in before.statements}
    assert all(each.domain.is_equal(others[each.name]) for each in scop.statements if each not in own)
    check_schedule(scop.schedule, compute_dependences(scop, live), scop.domain)


def test_what_another_statement_reads_is_computed_in_all_iterations(model):
    before, _, scop, last = changed(model, f"for (int t = 0; t < m; t++) {{ {SUM} {STEP} a[0] = s[0]; }}")
    assert scop is before
    assert not last.alone


def test_what_only_some_iterations_set_is_computed_in_these(model):
    _, _, scop, last = changed(model, f"for (int t = 0; t < m; t++) {{ if (t < 50) {{ {SUM} }} {STEP} }}")
    (array,) = last.alone
    (written,) = {str(each.domain.lexmax()) for each in scop.statements if len(each.accesses_to(array)) == 1}
    assert "49" in written


def test_statements_for_each_other_alone_are_unread(model):
    found = model(
        "for (int i = 0; i < n; i++) { x = a[i]; y = x * x; z = a[i] + 1; b[i] = z; }",
        PARAMETERS,
        before="double x, y, z;",
    )
    unread = unread_statements(found.scop.statements, of_loops(found.scop, found.live))
    names = [each.name for each in found.scop.statements]
    assert unread == {names[0], names[1]}
