import json

from synthetic_trials import make_trials, write_results

from harness.report.provenance import describe_provenance
from harness.report.results import read_results
from harness.report.versions import count_versions, several_versions


def rows(**versions):
    return json.dumps(versions)


def test_trials_are_counted_by_version():
    counted = count_versions({rows(numpy="2.4", scipy="1.17"): 3, rows(numpy="2.3"): 5, None: 2})
    assert counted == {"numpy": {"2.3": 5, "2.4": 3}, "scipy": {"1.17": 3}}
    assert "numpy 2.3 (5 trials), 2.4 (3 trials)." in several_versions(counted)[0]


def test_what_computes_no_score_is_no_warning():
    assert several_versions(count_versions({rows(kernel="6.1"): 3, rows(kernel="6.2"): 5})) == []
    assert several_versions({}) == []


def test_the_page_is_told_what_the_table_says(tmp_path):
    trials = make_trials(seeds=[0])
    trials["versions"] = rows(numpy="2.4.0", python="3.11.7")
    trials.loc[trials.index[:2], "versions"] = rows(numpy="2.3.0", python="3.11.7")
    results = read_results(write_results(tmp_path / "s", trials))
    assert results.versions["numpy"] == {"2.4.0": len(trials) - 2, "2.3.0": 2}
    told = describe_provenance(results)["versions"]
    assert told == {
        "python": "3.11.7",
        "numpy": f"2.4.0 ({len(trials) - 2} trials), 2.3.0 (2 trials)",
    }
