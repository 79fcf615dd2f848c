"""Numbers of points that a study's splits have, before any data are read."""

import numpy as np
import pytest

from harness.datasets import load_catalog
from harness.errors import HarnessError
from harness.planning.study_splits import bad_splits, sizes_of
from harness.study.study import load_study


@pytest.fixture
def sizes(tmp_path):
    def sizes(evaluation, dataset="breast_cancer", labeled="labeled: 40, "):
        path = tmp_path / "s.yaml"
        written = f"{labeled}seeds: 2, evaluation: {evaluation}"
        path.write_text(f"{{datasets: {dataset}, methods: prior, {written}}}")
        study = load_study(path)
        (grid,) = study.grids
        return sizes_of(study, grid, load_catalog()[dataset], grid.labeled[0])

    return sizes


def test_folds_of_a_file_have_the_most_points_of_any_of_them(sizes, tmp_path):
    part = np.full((2, 569), 2, np.uint8)
    part[0, :100] = part[1, :130] = 3
    np.savez(tmp_path / "folds.npz", part=part)
    assert sizes("{splits: folds.npz}") == (40, 429, 130)
    assert sizes("{splits: folds.npz, unlabeled_per_labeled: 2}") == (40, 80, 130)
    with pytest.raises(HarnessError, match=r"labeled 460 is 460 points; allowed: 2 \.\. 439, the"):
        sizes("{splits: folds.npz}", labeled="labeled: 460, ")
    with pytest.raises(HarnessError, match=r"folds\.npz has training and test rows alone: give"):
        sizes("{splits: folds.npz}", labeled="")


def test_a_file_that_names_labeled_rows_says_how_many(sizes, tmp_path):
    np.savez(tmp_path / "own.npz", labeled=[[1, 2, 3], [4, 5, 6]], test=[[7], [8]])
    assert sizes("{splits: own.npz}", labeled="") == (3, 565, 1)
    with pytest.raises(HarnessError, match=r"labeled: is said by .*own\.npz; leave it out"):
        sizes("{splits: own.npz}")


def test_a_feature_that_is_not_there_is_told_before_anything_runs(sizes):
    shift = "{test: 0.3, unlabeled: {beyond: 0.5, column: COLUMN}}"
    assert sum(sizes(shift.replace("COLUMN", "29"))) <= 569
    with pytest.raises(HarnessError, match="column is 30; its prepared features are 0 to 29"):
        sizes(shift.replace("COLUMN", "30"))


def test_points_without_a_label_are_neither_clustered_nor_shown_to_a_search(tmp_path):
    path = tmp_path / "s.yaml"
    usual = "datasets: digits-2to7, methods: svm, labeled: 60"
    entry = load_catalog()["digits-2to7"]
    for more, told in (
        ("task: clustering", "714 of its points have no label that clusters could be compared"),
        ("evaluation: {test: 0.2}, tuning: {labeled: 90}", "714 points of digits-2to7 have none"),
    ):
        path.write_text(f"{{{usual}, {more}}}")
        study = load_study(path)
        (mistake,) = bad_splits(study, study.grids[0], entry)
        assert told in str(mistake)
