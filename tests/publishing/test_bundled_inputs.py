"""What a published study brings along: splits and printed tables of its author's."""

import yaml

from harness.publishing.bundled_inputs import write_study
from harness.study.study import load_study


def test_splits_of_parts_and_seeds_and_printed_tables_come_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"index_train_0.txt", "index_train_1.txt", "index_test_0.txt", "index_test_1.txt"}
    (tmp_path / "splits").mkdir()
    for name in names | {"index.names"}:
        (tmp_path / "splits" / name).write_text(name)
    (tmp_path / "printed").mkdir()
    for paper in ("mine", "another"):
        (tmp_path / f"printed/{paper}.csv").write_text(paper)
    splits = {part: f"splits/index_{part}_{{seed}}.txt" for part in ("train", "test")}
    told = {"datasets": ["wine"], "methods": ["prior"], "labeled": 9, "published": "mine/t"}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(told | {"evaluation": {"splits": splits}}))
    folder = tmp_path / "published"
    folder.mkdir()
    write_study(load_study(tmp_path / "s.yaml"), {}, folder)
    assert {path.name for path in (folder / "given-splits").iterdir()} == names
    assert [path.name for path in (folder / "printed").iterdir()] == ["mine.csv"]
    study = load_study(folder / "study.yaml")
    source = study.split_source(study.grids[0], "wine", None)
    assert {path.read_text() for path in source.all_files()} == names
