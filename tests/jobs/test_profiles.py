"""Which profile a name stands for."""

import pytest

from harness.errors import HarnessError
from harness.jobs.profiles import find_profile
from harness.project import ROOT


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(folder):
    folder.mkdir(parents=True)
    (folder / "profile.yaml").write_text("jobs: 1\n")
    return folder


def test_a_name_is_one_that_came_along_unless_the_folder_has_it(here):
    assert find_profile("slurm") == ROOT / "profiles" / "slurm"
    own = made(here / "profiles" / "slurm")
    assert find_profile("slurm").resolve() == own


def test_a_path_is_a_folder_or_a_file(here):
    folder = made(here / "mine")
    assert find_profile(str(folder)) == folder
    assert find_profile("mine/profile.yaml").resolve() == folder / "profile.yaml"


def test_an_unknown_name_is_told_with_the_nearest(here):
    (here / "empty").mkdir()
    with pytest.raises(HarnessError, match="unknown profile 'slurn'; did you mean 'slurm'"):
        find_profile("slurn")
    with pytest.raises(HarnessError, match="unknown profile 'empty'"):
        find_profile("empty")
