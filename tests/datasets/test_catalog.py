import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness import GeneratedDataset
from harness.datasets import load_catalog
from harness.datasets.table import markdown_table
from harness.errors import HarnessError
from harness.project import CATALOG

ROOT = CATALOG.parent
DOCS = ROOT / "docs" / "datasets.md"
MIRROR = os.environ.get("HARNESS_MIRROR")
MANIFEST_NAMES = {"german": "german-numeric"}


def write(path, text):
    path.write_text(text)
    return path


def test_reading_the_catalog_imports_nothing_heavy():
    code = (
        "import sys; from harness.datasets import load_catalog; c = load_catalog();"
        "[e.digest for e in c.values()]; from harness.datasets import split_sizes;"
        "print([m for m in ('numpy', 'pandas', 'sklearn', 'scipy', 'pooch') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_entries_of_the_current_folder_come_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = "task: multiclass, n: 5, d: 13, classes: {a: 2, b: 3}, source: mine"
    read = "read: {format: sklearn, loader: wine}"
    write(Path("datasets.yaml"), f"wine: {{{entry}, {read}}}\nred: {{{entry}, {read}}}\n")
    # named by a study too, it is the same file
    catalog = load_catalog([tmp_path / "datasets.yaml"])
    assert (catalog["wine"].n, catalog.origins["wine"]) == (5, "datasets.yaml")
    assert (catalog["red"].source, catalog.origins["iris"]) == ("mine", str(CATALOG))


def test_every_entry_says_where_it_is_from_and_can_be_verified():
    for entry in load_catalog().values():
        assert entry.source, entry.name
        assert entry.citation, entry.name
        for file in entry.files:
            verified = file.sha256 or file.packed_sha256 or "No checksum" in entry.notes
            assert verified, (entry.name, file.name)
            assert file.urls or "mirror" in entry.notes, (entry.name, file.name)
            assert bool(file.bytes) == bool(file.urls), (entry.name, file.name)


def test_every_address_says_how_it_was_checked():
    found = {(e.name, f.name): f for e in load_catalog().declared() for f in e.files if f.urls}
    assert len(found) > 40
    unsaid = [name for name, file in found.items() if len(file.checked) < 10]
    assert unsaid == []
    for name, file in found.items():
        pinned = all(re.search(r"/[0-9a-f]{40}/", url) for url in file.urls)
        assert pinned == ("commit" in file.checked), name
        assert ("not tried" in file.checked) == (not pinned), name


def test_the_address_of_covertype_is_that_of_scikit_learn():
    from sklearn.datasets import _covtype

    (file,) = load_catalog()["covertype"].files
    archive = _covtype.ARCHIVE
    assert (file.urls, file.packed_sha256) == ((archive.url,), archive.checksum)


def test_digests_differ_and_directories_are_theirs():
    catalog = load_catalog()
    assert len({entry.digest for entry in catalog.values()}) == len(catalog)
    for name, entry in catalog.items():
        ending = r"\.csr" if entry.sparse else ""
        assert re.fullmatch(f"{re.escape(name)}-[0-9a-f]{{12}}{ending}", entry.directory)


@pytest.mark.skipif(not MIRROR, reason="HARNESS_MIRROR names no mirror of the real data")
def test_entries_agree_with_the_manifest_of_the_mirror():
    catalog = load_catalog()
    manifest = json.loads((Path(MIRROR) / "MANIFEST.json").read_text())["datasets"]
    assert len(manifest) >= 28
    for told in manifest:
        entry = catalog[MANIFEST_NAMES.get(told["name"], told["name"])]
        assert entry.task == told["task"], entry.name
        assert (entry.raw_n or entry.n) == told["n"], entry.name
        assert (entry.raw_d or entry.d) == told["d"], entry.name
        if entry.task == "regression":
            continue
        if entry.missing == "drop":
            counts = json.loads(re.search(r"\{.*\}", told["notes"])[0])
        else:
            counts = told["class_counts"]
            if "positive_rate" in told:
                rate = entry.class_counts[1] / entry.n
                assert rate == pytest.approx(told["positive_rate"], abs=1e-6), entry.name
        assert entry.classes == counts, entry.name
        known = {file.get("unpacked_sha256", file["sha256"]) for file in told["files"]}
        published = {file["sha256"] for file in told["files"]} | known
        for file in entry.files:
            plain = not any(f["path"].endswith((".gz", ".bz2")) for f in told["files"])
            if plain or all("unpacked_sha256" in f for f in told["files"]):
                assert file.sha256 in published, (entry.name, file.name)


def test_unknown_name_gets_the_nearest_one():
    with pytest.raises(
        HarnessError, match=r"study.yaml: datasets: unknown data set 'a9'; did you"
    ):
        load_catalog().entry("a9", where="study.yaml: datasets")


ENTRY = """\
  task: binary
  n: 4
  d: 2
  classes: [a, b]
  positive: b
  read: {format: csv}
  files: [{path: x.csv}]
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  task: binary", "  taks: binary", r"mine: unknown key 'taks'; did you mean 'task'"),
        ("task: binary", "task: ordinal", r"mine: task: .*'binary', 'multiclass'.*'ordinal'"),
        (
            "format: csv",
            "format: cvs",
            r"mine: read.format: 'cvs' is none; allowed are svmlight, csv, ",
        ),
        ("{format: csv}", "{format: csv, sep: x}", r"unknown key 'read.sep'.*separator"),
        ("{path: x.csv}", "{path: x.csv, sha: x}", r"unknown key 'files.0.sha'.*sha256"),
        ("{path: x.csv}", "{path: x.csv, sha256: abc}", r"files.0.sha256: .*pattern.*'abc'"),
        ("  positive: b", "  positive: c", r"positive is \['c'\], which is not among .*'a', 'b'"),
        (
            "  positive: b",
            "",
            r"positive is missing: name some, not all, of the classes \['a', 'b",
        ),
        ("  positive: b", "  positive: [a, b]", r"positive is \['a', 'b'\]: it must be some, not"),
        ("  positive: b", "  positive: b\n  scaling: max", r"scaling: .*'unit'.*'max'"),
        ("classes: [a, b]", "classes: {a: 1, b: 2}", r"class counts sum to 3, but n is 4"),
        ("classes: [a, b]", "classes: [b]", r"at least two classes"),
        ("classes: [a, b]", "classes: [{a: 1}, b]", r"classes: .*\{'a': 1\} is no label"),
        ("classes: [a, b]", "classes: [[a], b]", r"classes: .*\['a'\] is no label"),
        ("classes: [a, b]", "classes: [a, a, b]", r"classes: .*the label 'a' is there twice"),
        ("classes: [a, b]", "classes: [1, '1', b]", r"the label '1' is there twice"),
        ("classes: [a, b]", "classes: [yes, no]", r"True is no label: .* quoted if need be"),
        ("classes: [a, b]", "classes: {a: -1, b: 5}", r"classes.a: .*greater than or equal to 0"),
        ("classes: [a, b]", "classes: 3", r"classes: "),
        ("  n: 4", "  n: " + "9" * 400, r"is beyond what a figure can be"),
        ("  n: 4", "  n: " + "9" * 20, r"n: .*less than or equal to"),
        ("  n: 4", "  n: 4\n  name: ../x", r"mine: name: an entry's name is the key"),
        ("  n: 4", "  n: 4\n  divide_by: 1.0e-300", r"divide_by: .*greater than"),
        ("  n: 4", "  n: 4\n  divide_by: .nan", r"divide_by: .*finite"),
        ("  n: 4", "  n: four", r"mine: n: .*integer.*'four'"),
        ("  n: 4", "  n: 4\n  n_train: 4", r"n_train 4 must be below n 4"),
        ("  files: [{path: x.csv}]", "", r"format csv needs files"),
        ("  n: 4", "  n: 4\n  n: 5", r"'n' is written twice"),
        ("  n: 4", "  n: [4", r"not YAML as it is read here"),
    ],
)
def test_mistakes_are_named_with_file_entry_and_key(tmp_path, old, new, said):
    path = write(tmp_path / "mine.yaml", "mine:\n" + ENTRY.replace(old, new))
    with pytest.raises(HarnessError, match=said) as caught:
        load_catalog([path])
    assert str(path) in str(caught.value)


def test_all_mistakes_are_told_at_once(tmp_path):
    text = "one:\n" + ENTRY.replace("n: 4", "n: -4").replace("d: 2", "d: x")
    path = write(
        tmp_path / "mine.yaml", text + "two:\n" + ENTRY.replace("read", "raed") + "three: 3"
    )
    with pytest.raises(HarnessError) as caught:
        load_catalog([path])
    told = str(caught.value)
    for part in ("one: n:", "one: d:", "two: unknown key 'raed'", "two: read", "three: an entry"):
        assert part in told


def test_a_name_defined_twice_names_both_files(tmp_path):
    first = write(tmp_path / "first.yaml", "mine:\n" + ENTRY)
    second = write(tmp_path / "second.yaml", "mine:\n" + ENTRY)
    with pytest.raises(HarnessError, match="'mine' is defined twice") as caught:
        load_catalog([first, second])
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    third = write(tmp_path / "third.yaml", "iris:\n" + ENTRY)
    with pytest.raises(HarnessError, match=r"datasets\.yaml and in .*third\.yaml"):
        load_catalog([third])


def test_a_missing_catalog_is_named(tmp_path):
    with pytest.raises(
        HarnessError, match=r"none\.yaml: the catalog cannot be read: No such file"
    ):
        load_catalog([tmp_path / "none.yaml"])


def test_digest_follows_what_determines_the_bytes(tmp_path):
    def entry(text, content="1,2,a\n"):
        (tmp_path / "x.csv").write_text(content)
        return load_catalog([write(tmp_path / "mine.yaml", "mine:\n" + text)])["mine"]

    base = entry(ENTRY).digest
    assert entry(ENTRY + "  notes: other words\n  citation: x\n").digest == base
    for changed in (
        ENTRY + "  scaling: unit\n",
        ENTRY + "  dtype: float32\n",
        ENTRY + "  missing: drop\n",
        ENTRY.replace("positive: b", "positive: a"),
        ENTRY.replace("{format: csv}", "{format: csv, header: true}"),
        ENTRY.replace("[a, b]", "[b, a]"),
    ):
        assert entry(changed).digest != base
    assert entry(ENTRY, "1,3,a\n").digest != base


def test_generated_sets_join_the_catalog_and_follow_their_plugin():
    moons = GeneratedDataset("moons", None, "binary", 100, 2)
    catalog = load_catalog([], {"moons": moons}, {"moons": "1"})
    assert (catalog["moons"].n_classes, catalog["moons"].download_bytes) == (2, 0)
    other = load_catalog([], {"moons": moons}, {"moons": "2"})
    assert catalog["moons"].digest != other["moons"].digest
    with pytest.raises(HarnessError, match=r"'iris' is defined twice.*a plugin"):
        load_catalog([], {"iris": GeneratedDataset("iris", None, "binary", 100, 2)})
    with pytest.raises(HarnessError, match=r"a plugin: odd: task"):
        load_catalog([], {"odd": GeneratedDataset("odd", None, "ordinal", 100, 2)})


def test_the_table_in_the_manual_is_current():
    text = DOCS.read_text(encoding="utf-8")
    table = text.split("harness.datasets.table -->\n")[1].split("<!-- end of table")[0]
    assert table == markdown_table(load_catalog())
