"""The manual has each key of a study file, and no other."""

import re
from pathlib import Path

from harness.study.schema import StudyFile

STUDIES = Path(__file__).parents[2] / "docs" / "studies.md"


def test_every_key_of_a_study_has_a_row():
    section = STUDIES.read_text().partition("\n## Keys\n")[2].partition("\n#")[0]
    rows = re.findall(r"(?m)^\| (`.+?) \|", section)
    told = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(told) == sorted(StudyFile.model_fields)
