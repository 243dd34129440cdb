"""Regions in headers: transformed in every file that includes them; headers that must be left alone are."""

from __future__ import annotations

import subprocess

import pytest

from polybuild.driver.file import compile_source
from polybuild.options import Options

OPTIONS = Options(min_work=0, headers=True)
KERNELS = """\
#ifndef KERNELS_H
#define KERNELS_H
#include "size.h"
static inline void scale(int n, double *a, double f) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = a[i] * f + SIZE;
#pragma endscop
}
#endif
"""
FILES = {
    "inc/kernels.h": KERNELS,
    "inc/size.h": "#define SIZE 3\n",
    "inc/outer.h": '#pragma once\n#include "kernels.h"\nstatic inline int two(void) { return 2; }\n',
    "main.c": """\
#include <stdio.h>
#include "outer.h"
void other(int n, double *a);
int main(void) {
  double a[50];
#pragma scop
  for (int i = 0; i < 50; i++)
    a[i] = i;
#pragma endscop
  scale(50, a, two());
  other(50, a);
  printf("%g %s %d\\n", a[49], __FILE__, __LINE__);
}
""",
    "other.c": '#include "kernels.h"\nvoid other(int n, double *a) { scale(n, a, 0.5); }\n',
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "inc").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*sources):
    command = ["gcc", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-fopenmp", "-Iinc", *sources]
    subprocess.run([*command, "-o", "program"], check=True)
    return subprocess.run(["./program"], check=True, capture_output=True, text=True).stdout


def regions(name):
    result = compile_source(name, OPTIONS, ["gcc"], ["-Iinc"])
    return result, [(each.file, each.line, each.end_line, each.status) for each in result.regions]


@pytest.mark.fast
def test_a_header_is_transformed_in_each_file(project):
    main, in_main = regions("main.c")
    other, in_other = regions("other.c")
    header = ("inc/kernels.h", 5, 8, "transformed")
    assert in_main == [header, ("main.c", 6, 9, "transformed")]
    assert in_other == [header]
    assert "inc/kernels.h" in other.dependencies
    (project / "new-main.c").write_text(main.text)
    (project / "new-other.c").write_text(other.text)
    assert run("new-main.c", "new-other.c") == run("main.c", "other.c")
    assert (project / "inc/kernels.h").read_text() == KERNELS


@pytest.mark.usefixtures("project")
def test_without_the_option_headers_are_as_they_were():
    result = compile_source("main.c", Options(min_work=0), ["gcc"], ["-Iinc"])
    assert [each.file for each in result.regions] == ["main.c"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("inc/kernels.h", KERNELS.replace("#endif", '#ifdef __cplusplus\nextern "C" {}\n#endif\n#endif')),
        (
            "other.c",
            FILES["other.c"].replace(
                "void", '#undef KERNELS_H\n#define scale again\n#include "kernels.h"\nvoid', 1
            ),
        ),
        ("other.c", '#line 9 "real.c"\n' + FILES["other.c"]),
    ],
    ids=["C++ reads it", "included twice", "renumbered"],
)
def test_headers_left_alone(project, name, text):
    (project / name).write_text(text)
    result, found = regions("other.c")
    assert not found
    assert result.text == (project / "other.c").read_text()


def test_a_header_with_pragma_once_that_others_include_is_left_alone(project):
    (project / "inc/kernels.h").write_text("#pragma once\n" + KERNELS)
    _, found = regions("other.c")
    assert len(found) == 1
    (project / "other.c").write_text('#include "outer.h"\n' + FILES["other.c"])
    _, found = regions("other.c")
    assert not found


def test_a_refused_region_names_its_header(project):
    (project / "inc/kernels.h").write_text(KERNELS.replace("a[i] * f", "f(i)"))
    result, found = regions("other.c")
    assert found == [("inc/kernels.h", 5, 8, "kept")]
    assert [(each.location.file, each.location.line) for each in result.diagnostics] == [("inc/kernels.h", 7)]
    assert result.text == FILES["other.c"]
