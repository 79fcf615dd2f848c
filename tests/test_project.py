"""Which files of the current folder come before the project's own."""

from harness import project


def test_a_checkout_has_no_counterparts_of_its_own_files(tmp_path, monkeypatch):
    monkeypatch.chdir(project.ROOT)
    assert project.IS_CHECKOUT
    assert project.own("plugins") is None
    monkeypatch.chdir(tmp_path)
    assert project.own("plugins") is None
    (tmp_path / "plugins").mkdir()
    assert project.own("plugins").resolve() == tmp_path / "plugins"


def test_everything_that_is_named_is_there():
    places = (project.PLUGINS, project.STUDIES, project.PUBLISHED)
    assert all(place.is_dir() for place in places)
    assert all(path.is_file() for path in (project.SNAKEFILE, project.CATALOG))
    assert (project.PROFILE / "profile.yaml").is_file()
