"""Which profile a name stands for."""

import pytest

from harness.errors import HarnessError
from harness.jobs.profiles import find_profile, sees_sources
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


@pytest.mark.parametrize(
    ("said", "sees"),
    [
        ("jobs: 1\n", True),
        ("shared-fs-usage: none\n", False),
        ("shared-fs-usage: [persistence, source-cache]\n", False),
        ("shared-fs-usage: [sources, persistence]\n", True),
    ],
)
def test_a_profile_says_whether_jobs_see_the_workflow(here, said, sees):
    folder = made(here / "mine")
    (folder / "profile.yaml").write_text(said)
    assert sees_sources(folder) is sees
    assert sees_sources(folder / "profile.yaml") is sees


def test_profiles_that_came_along_say_so():
    assert sees_sources(find_profile("slurm"))
    assert not sees_sources(find_profile("s3"))
