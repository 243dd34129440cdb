from __future__ import annotations

import pytest

from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError, Unsupported


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (Location("in.c", 3, 7), "in.c:3:7"),
        (Location("in.c", 3), "in.c:3"),
        (Location("in.c", 0), "in.c"),
    ],
)
def test_a_location_reads_as_compilers_write_it(location, text):
    assert str(location) == text


def test_locations_are_ordered_as_they_stand_in_a_file():
    places = [Location("in.c", 10, 1), Location("in.c", 9, 5), Location("in.c", 9)]
    assert sorted(places) == places[::-1]


def test_a_refusal_is_a_warning_about_its_place():
    refusal = Unsupported("loop-bound", "no bound", Location("in.c", 3, 7), "add one")
    assert str(refusal) == "in.c:3:7: no bound"
    assert refusal.diagnostic == Diagnostic(
        Severity.WARNING, "loop-bound", "no bound", Location("in.c", 3, 7), "add one"
    )


def test_a_source_error_knows_what_was_read():
    diagnostic = Diagnostic(Severity.ERROR, "preprocess-failed", "no such header", Location("in.c", 1))
    assert SourceError(diagnostic).dependencies == ()
    assert SourceError(diagnostic, ("in.c", "h.h")).dependencies == ("in.c", "h.h")
