"""What is wrong in a file of SVMlight's format, and in which line: its reader says neither."""

from __future__ import annotations

from pathlib import Path

from harness.datasets.fetching import open_unpacked
from harness.errors import shown


def svmlight_mistake(path: Path, zero_based: bool, told: str) -> str:
    """Say what the first line is that the reader refuses.

    Parameters
    ----------
    path : Path
        Plain or packed.
    zero_based : bool
    told : str
        What the reader said, which is returned where no line looks wrong.
    """
    with open_unpacked(path) as stream:
        for number, raw in enumerate(stream, 1):
            words = raw.split(b"#", 1)[0].decode("latin-1").split()
            reason = _mistake(words, zero_based) if words else ""
            if reason:
                return f"{path.name}: line {number}: {reason}"
    return f"{path.name}: {told}"


def _mistake(words: list[str], zero_based: bool) -> str:
    label, *pairs = words
    if ":" in label:
        told = f"it begins with {shown(label)}, and each line begins with its label"
        return f"{told}; of labels in a file of their own, `paste -d ' ' LABELS DATA` makes one"
    if "," in label:
        return (
            f"it has several labels ({shown(label)}): write `several_labels: true`, and under "
            "`positive` the one that tells class 1 from all others"
        )
    if not _is_number(label):
        return f"the label {shown(label)} is no number"
    last = -1
    for pair in pairs:
        index, colon, value = pair.partition(":")
        if index == "qid":
            continue
        if not colon or not index.isdigit() or not _is_number(value):
            return f"{shown(pair)} is no INDEX:VALUE"
        if int(index) == 0 and not zero_based:
            return "it has the index 0: write `zero_based: true`"
        if int(index) <= last:
            return f"the index {index} comes after {last}: indices ascend, and none is there twice"
        last = int(index)
    return ""


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
