"""``python -m polybuild.reducer SETTING KIND DETAIL FILE``: ends with 0 where the file still shows it.

It is what the reducer runs for each smaller file.
"""

import sys
from pathlib import Path

from polybuild.reducer.setting import Setting
from polybuild.reducer.symptom import Symptom, shows

if __name__ == "__main__":
    setting, kind, detail, source = sys.argv[1:]
    known = Setting.from_json(Path(setting).read_text("utf-8"))
    sys.exit(0 if shows(Path(source).absolute(), known, Symptom(kind, detail)) else 1)
