"""What a small file may grow into is refused at once, with a sentence and its place."""

import time

import pytest
import yaml

from harness.errors import HarnessError
from harness.strict_yaml import read_document, read_yaml


def grown(item, alias):
    lines = [f"a0: &a0 {item}"]
    lines += [f"a{i}: &a{i} {alias(', '.join([f'*a{i - 1}'] * 9))}" for i in range(1, 30)]
    return "\n".join(lines)


REFUSED = {
    "laughs": (grown("[lol]", "[{}]".format), "holds more than 400000 values, aliases written"),
    "merged": (grown("{x: 1}", "{{<<: [{}]}}".format), "holds more than 400000 values"),
    "long": (f"a: &a {'x' * 10**6}\nb: [{'*a, ' * 999}]", "holds more than 400000 values"),
    "in itself": ("a: &a [*a]", "the alias 'a' holds itself"),
    "of nothing": ("a: *a", "the alias 'a' holds itself, or stands for nothing"),
    "deep": ("[" * 10**5, "exceeded maximum nesting depth|nested more than 40 deep"),
    "deep list": ("- " * 10**5, "nested more than 40 deep"),
    "400 digits": (f"a: {'9' * 400}", "'999.* is beyond what a figure can be"),
    "5000 hexadecimal digits": (f"a: 0x{'f' * 5000}", "is beyond what a figure can be"),
    "overflow": ("a: 1.0e+400", "is beyond what a figure can be"),
    "overflow without a point": ("a: 1e400", "is beyond what a figure can be"),
    "of base 60": ("a: 1" + ":59" * 400 + ".5", "is beyond what a figure can be"),
    "tag": ("a: !!binary /w==", "the tag 'tag:yaml.org,2002:binary' is not for this file"),
    "object": ("a: !!python/object:os.system x", "the tag .* is not for this file"),
    "control": (r'a: "\e[31m"', "holds a character that is no text"),
    "surrogate": (r'a: "\ud800"', "Unicode character|is no text"),
    "twice": ("a: 1\na: 2", "the key 'a' is written twice"),
    "key of a list": ("? [a]\n: 1", "found unhashable key"),
    "two documents": ("a\n---\nb", "expected a single document"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_unbounded_or_odd_is_refused_at_once(tmp_path, name):
    text, said = REFUSED[name]
    began = time.process_time()
    with pytest.raises(yaml.YAMLError, match=said) as caught:
        read_yaml(text)
    assert "line " in str(caught.value)
    assert time.process_time() - began < 1
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(HarnessError, match=rf"x\.yaml: the study is not YAML as .*({said})"):
        read_document(tmp_path / "x.yaml", "the study ")


def test_what_people_write_is_read():
    text = "a: [1, -2.5, .inf, ~, yes, 1_000, 2024-01-31, 1.5e3]\nb: &b {c: d}\ne: {<<: *b}\nf: *b"
    assert read_yaml(text) == {
        "a": [1, -2.5, float("inf"), None, True, 1000, "2024-01-31", 1500.0],
        "b": {"c": "d"},
        "e": {"c": "d"},
        "f": {"c": "d"},
    }


@pytest.mark.parametrize("content", [b"\xff", b" " * (5 << 20), None])
def test_a_file_that_is_not_read(tmp_path, content):
    if content is not None:
        (tmp_path / "x.yaml").write_bytes(content)
    said = "not YAML as it is read here|more than 4194304 bytes|cannot be read: No such file"
    with pytest.raises(HarnessError, match=rf"x\.yaml: .*({said})"):
        read_document(tmp_path / "x.yaml")
