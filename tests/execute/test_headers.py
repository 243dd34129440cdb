"""Regions in headers: transformed in every file that includes them; headers that must be left alone are."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from pathlib import Path

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
        ("other.c", '#line 9 "real.c"\n' + FILES["other.c"]),
    ],
    ids=["C++ reads it", "renumbered"],
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


def test_a_header_that_is_included_twice_is_transformed_twice(project):
    again = '#undef KERNELS_H\n#undef SIZE\n#define scale again\n#include "kernels.h"\n#undef scale\nvoid'
    text = (
        FILES["other.c"]
        .replace("void", again, 1)
        .replace("scale(n, a, 0.5)", "scale(n, a, 0.5), again(n, a, 2)")
    )
    (project / "other.c").write_text(text)
    result, found = regions("other.c")
    assert found == [("inc/kernels.h", 5, 8, "transformed")] * 2
    (project / "new-other.c").write_text(result.text)
    assert run("main.c", "new-other.c") == run("main.c", "other.c")


BODY = """\
void NAME(smooth)(int n, const TYPE *x, TYPE *y)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    y[i] = (x[i - 1] + x[i + 1]) / 2 + STEP;
#pragma endscop
}
"""
TYPES = {"int": "i", "float": "f", "double": "d"}
MAIN = """\
int main(void)
{
  static int xi[300], yi[300];
  static float xf[300], yf[300];
  static double xd[300], yd[300];
  for (int i = 0; i < 300; i++) xi[i] = i * i % 77, xf[i] = xi[i] / 7.0f, xd[i] = xi[i] / 7.0;
  smooth_i(300, xi, yi);
  smooth_f(300, xf, yf);
  smooth_d(300, xd, yd);
  for (int i = 0; i < 300; i++) printf("%d %.9g %.17g\\n", yi[i], yf[i], yd[i]);
  printf("%s %d\\n", __FILE__, __LINE__);
  return 0;
}
"""


def instances(include):
    made = [
        f"#define TYPE {name}\n#define NAME(x) x##_{letter}\n{include}\n#undef TYPE\n#undef NAME\n"
        for name, letter in TYPES.items()
    ]
    return f"#include <stdio.h>\n#define STEP 1\n{''.join(made)}{MAIN}"


ITSELF = '#include "main.c"'
TEMPLATES = {
    "of a file": {"main.c": instances('#include "body.inc"'), "body.inc": BODY},
    "by a macro": {
        "main.c": instances("#include SOURCE").replace(
            "#define STEP", '#define SOURCE "body.inc"\n#define STEP'
        ),
        "body.inc": BODY,
    },
    "of one that includes it": {
        "main.c": instances('#include "all.inc"'),
        "all.inc": '/* all */\n#include "body.inc"\n',
        "body.inc": BODY,
    },
    "of the file itself": {"main.c": f"#ifdef TYPE\n{BODY}#else\n{instances(ITSELF)}#endif\n"},
}
"""Functions that are written once, and compiled for several types."""


@pytest.fixture(params=TEMPLATES)
def template(request, tmp_path, monkeypatch):
    for name, text in TEMPLATES[request.param].items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("more", [{}, {"verify": True}, {"adapt": True}, {"runtime_report": True}], ids=str)
def test_templates_are_transformed_for_each_type(template, more):
    options = dataclasses.replace(OPTIONS, **more)
    result = compile_source("main.c", options, ["gcc"], [])
    assert [each.status for each in result.regions] == ["transformed"] * 3
    assert len({(each.file, each.line) for each in result.regions}) == 1
    assert "./" not in result.text.replace("../", "")
    (template / "new.c").write_text(result.text)
    assert run("new.c") == run("main.c")


@pytest.mark.usefixtures("template")
def test_loops_of_templates_are_found():
    for name in ("main.c", "body.inc"):
        path = Path(name)
        if path.exists():
            path.write_text(re.sub("#pragma (end)?scop\n", "", path.read_text()))
    expected = run("main.c")
    result = compile_source("main.c", dataclasses.replace(OPTIONS, autodetect=True), ["gcc"], [])
    assert len([each for each in result.regions if each.function.startswith("smooth_")]) == 3
    Path("main.c").write_text(result.text)
    assert run("main.c") == expected


def test_a_region_of_a_template_is_refused_where_a_type_does_not_suit(template):
    files = {path: path.read_text() for path in template.iterdir()}
    for path, text in files.items():
        path.write_text(text.replace("+ STEP", "+ NAME(rounded)(i)"))
    main = template / "main.c"
    first = "#define rounded_i(i) (i)\n#define rounded_f(i) (i)\ndouble rounded_d(int i);\n"
    main.write_text(first + main.read_text())
    result = compile_source("main.c", OPTIONS, ["gcc"], [])
    assert sorted(each.status for each in result.regions) == ["kept", "transformed", "transformed"]
    assert len(result.diagnostics) == 1
