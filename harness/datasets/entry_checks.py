"""What keys of an entry do not go together, a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.datasets.matrix_reading import Mat, Npz
from harness.datasets.reading import TEXT_FORMATS, OpenML

if TYPE_CHECKING:
    from harness.datasets.entry import Declared

KEEPS_ZEROS = ("none", "unit", "maxabs")
"""Scalings after which a zero is still one: those of sparse data."""


def refuse_filled_zeros(entry: Declared) -> None:
    """Refuse what makes a sparse matrix dense, and counts that cannot be."""
    if entry.sparse and entry.scaling not in KEEPS_ZEROS:
        raise ValueError(
            f"scaling is {entry.scaling}, which fills the zeros of a sparse matrix; with "
            f"`sparse: true` it is one of {', '.join(KEEPS_ZEROS)}"
        )
    if entry.nnz is not None and not entry.sparse:
        raise ValueError("nnz is a count of sparse data: add `sparse: true`, or leave it out")
    if entry.nnz is not None and entry.n and entry.d and entry.nnz > entry.n * entry.d:
        raise ValueError(f"nnz is {entry.nnz}, but n x d are {entry.n * entry.d} elements")


def refuse_unread_facts(entry: Declared) -> None:
    """Refuse what is told of points without a label, of groups and of an order that are not."""
    if entry.n_unlabeled and entry.other_classes != "unlabeled":
        raise ValueError("n_unlabeled is told where `other_classes: unlabeled` is written")
    if entry.largest_group is not None and entry.groups is None:
        raise ValueError("largest_group is told of groups: add `groups: COLUMN`")
    for key, fact in entry.fact_sources.items():
        reason = fact.why_not(key, entry.format)
        if reason:
            raise ValueError(f"{key}: {reason}")
    if entry.openml is not None and isinstance(entry.read, OpenML):
        raise ValueError("openml is said by read.id; leave it out")


def refuse_unread_texts(entry: Declared) -> None:
    """Refuse texts of formats that have none, and folders of texts that are not at hand."""
    if entry.text is not None and entry.format not in TEXT_FORMATS:
        raise ValueError(
            f"text names columns of texts, and format {entry.format} has none; formats with "
            f"texts are {', '.join(TEXT_FORMATS)}"
        )
    if entry.text is not None and getattr(entry.read, "side_by_side", 1) > 1:
        raise ValueError("text and side_by_side do not go together: join the files beforehand")
    if entry.text is None and entry.format == "texts":
        raise ValueError("format texts needs the key text, such as `text: {column: text}`")
    if entry.format == "texts" and any(file.path is None for file in entry.files):
        raise ValueError("format texts reads folders at hand: give each of files a path")


def refuse_altered_integers(entry: Declared) -> None:
    """Refuse small integers of which preparation makes other numbers."""
    if entry.small_integers and (entry.sparse or entry.scaling != "none" or entry.logarithm):
        raise ValueError(
            "dtype uint8 is of dense features as they are: no `sparse`, `logarithm` or "
            "`scaling`; `divide_by` may be given"
        )


def refuse_unknown_topic(entry: Declared) -> None:
    """Refuse points of several labels, unless one of these is what the task is about."""
    if not getattr(entry.read, "several_labels", False):
        return
    if entry.task != "binary" or len(entry.positive) != 1:
        raise ValueError(
            "read.several_labels needs task: binary and one label under `positive`, such as 34: "
            "class 1 are the points that have it among theirs"
        )


def refuse_unpaired(entry: Declared) -> None:
    """Refuse matrices without targets, unless their points are to have no label."""
    read = entry.read
    if not isinstance(read, Mat | Npz) or read.y is None or entry.other_classes != "error":
        return
    lacking = [name for name, target in read.pairs if target is None]
    if lacking:
        raise ValueError(
            f"X names {len(read.pairs)} matrices and y {len(read.pairs) - len(lacking)}: each has "
            f"its targets; to keep points of {lacking[0]} without a label, write `other_classes: "
            "unlabeled`"
        )


REFUSALS = (
    refuse_unpaired,
    refuse_unknown_topic,
    refuse_filled_zeros,
    refuse_unread_facts,
    refuse_unread_texts,
    refuse_altered_integers,
)
"""In the order in which they are told."""
