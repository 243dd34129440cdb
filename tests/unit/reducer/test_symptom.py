from __future__ import annotations

import pytest

from polybuild.reducer.setting import Setting
from polybuild.reducer.symptom import Symptom, accepted, shows, symptoms

PARALLEL = """\
#include <stdio.h>
double a[300];
int main(void)
{
#pragma scop
  for (int i = 0; i < 300; i++)
    a[i] = 2.0 * i;
#pragma endscop
  printf("%g\\n", a[299]);
  return 0;
}
"""
REFUSED = PARALLEL.replace("a[i] = 2.0 * i;", "{ a[i] = 2.0 * i; return 1; }")


@pytest.fixture
def setting(tmp_path):
    return Setting(("gcc",), ("-O1",), ("--min-work=0",), ("-lm",), ("3",), str(tmp_path), str(tmp_path))


def written(folder, text):
    (folder / "in.c").write_text(text)
    return folder / "in.c"


def test_a_setting_travels_as_text(setting):
    assert Setting.from_json(setting.as_json()) == setting


def test_what_the_compiler_does_not_take(tmp_path, setting):
    assert not accepted(written(tmp_path, PARALLEL), setting)
    assert "error" in accepted(written(tmp_path, "int main(void) { return none; }\n"), setting)


def test_a_good_file_shows_nothing(tmp_path, setting):
    assert list(symptoms(written(tmp_path, PARALLEL), setting)) == []


def test_a_refusal_has_its_code(tmp_path, setting):
    source = written(tmp_path, REFUSED)
    found = list(symptoms(source, setting))
    assert [each.kind for each in found] == ["refusal"]
    assert str(found[0]) == f"refusal={found[0].detail}" != "refusal="
    assert shows(source, setting, Symptom("refusal"))
    assert shows(source, setting, found[0])
    assert not shows(source, setting, Symptom("refusal", "another-code"))
    assert not shows(written(tmp_path, "no C"), setting, Symptom("refusal"))


def test_headers_beside_the_file_are_found_from_elsewhere(tmp_path, setting):
    (tmp_path / "kinds.h").write_text("typedef double number;\n")
    (tmp_path / "elsewhere").mkdir()
    text = '#include "kinds.h"\n' + REFUSED.replace("double a", "number a")
    assert shows(written(tmp_path / "elsewhere", text), setting, Symptom("refusal"))


@pytest.mark.parametrize(
    ("one", "other", "matches"),
    [
        (Symptom("crash"), Symptom("crash", "TypeError"), True),
        (Symptom("crash", "TypeError"), Symptom("crash", "KeyError"), False),
        (Symptom("crash"), Symptom("wrong-result"), False),
    ],
)
def test_what_is_the_same(one, other, matches):
    assert one.matches(other) == matches
