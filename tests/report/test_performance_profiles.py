import json

import numpy as np
import pytest
import vl_convert
from synthetic_trials import bad_endings, make_trials, write_results

from harness.report import theme as looks
from harness.report.pairs import PairedScores
from harness.report.profiles import make_profiles, profile_chart, profile_table
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.statistics import cliques, critical_difference
from harness.report.tables import make_tables

SETS = (("one", "binary"), ("two", "binary"), ("errors", "regression"))


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    trials = make_trials(SETS, outcome=bad_endings)
    trials = trials[(trials["method"] != "1nn") | (trials["dataset"] != "two")]
    results = read_results(write_results(tmp_path_factory.mktemp("profiles") / "s", trials))
    scores = choose_scores(results)
    tables = make_tables(results, scores)
    return results, scores, make_profiles(PairedScores(results, scores), tables.cells, scores)


def test_shares_count_every_trial_against_the_best_of_its_seed(judged):
    results, _, profiles = judged
    first, second = profiles
    assert (first.metric, first.left_out, first.relative) == ("AUC", ["1nn"], False)
    assert (second.metric, second.left_out, second.relative) == ("normalised MSE", [], True)
    rows = results.cells[~results.cells["control"]]
    for profile, name, sign in ((first, "auc", 1), (second, "nmse", -1)):
        task = "binary" if sign > 0 else "regression"
        mine = rows[(rows["task"] == task) & ~rows["method"].isin(profile.left_out)]
        score = (sign * mine[name].astype(float)).where(mine["outcome"] == "ok")
        instance = mine.groupby(["problem", "budget", "seed"]).ngroup()
        best = score.groupby(instance).transform("max")
        behind = best - score
        if profile.relative:
            behind = behind / best.abs()
        scored = best.notna()
        assert profile.n == instance[scored].nunique()
        for row in profile.shares.itertuples(index=False):
            method, *shares = row
            of = behind[(mine["method"] == method) & scored]
            for tau, share in zip(profile.taus, shares, strict=True):
                assert share == pytest.approx((of <= tau + 1e-12).sum() / profile.n)
    assert len(profile_table(profiles)) == sum(p.shares.size - len(p.shares) for p in profiles)


def test_a_line_rises_from_how_often_a_method_is_best(judged):
    for profile in judged[2]:
        for method, line in profile.lines.groupby("method"):
            assert line["share"].is_monotonic_increasing
            (row,) = profile.shares[profile.shares["method"] == method].to_dict("records")
            assert line["share"].iloc[0] == row[0.0]
            assert line["share"].iloc[-1] >= row[profile.taus[-1]]
        marks = looks.styles(sorted(profile.shares["method"]))
        spec = profile_chart(profile, marks) | {"width": 300}
        svg = vl_convert.vegalite_to_svg(json.dumps(spec), config=looks.theme("light"))
        assert all(f">{method}</text>" in svg for method in marks)
        assert "NaN" not in svg


@pytest.mark.parametrize(
    ("k", "q"),
    [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)],  # Demsar 2006, table 5(a)
)
def test_the_critical_difference_is_that_of_the_printed_quantiles(k, q):
    expected = q * np.sqrt(k * (k + 1) / (6 * 14))
    assert critical_difference(k, 14) == pytest.approx(expected, rel=5e-4)


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([1.0, 1.5, 3.0, 3.2], [(0, 1), (2, 3)]),
        ([1.0, 1.9, 2.8], [(0, 1), (1, 2)]),
        ([1.0, 1.1, 1.2, 4.0], [(0, 2)]),
        ([1.0, 3.0, 5.0], []),
    ],
)
def test_cliques_are_the_largest_groups_within_the_difference(ranks, expected):
    assert cliques(ranks, 1.0) == expected
