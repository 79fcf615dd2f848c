"""What a catalog says of columns of texts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator

from harness.datasets.matrix_reading import Column
from harness.datasets.strict_model import Strict, as_tuple


class Text(Strict):
    """Columns that are texts, and how their words become features.

    Parameters
    ----------
    column : str, int, or list of them
        Of several columns the texts are joined with a blank between them. A missing text is an
        empty one.
    by : {"hashing", "tf-idf"}, default "hashing"
        scikit-learn's `HashingVectorizer`, which counts words under numbers that a hash gives
        them, or its `TfidfVectorizer`, which weights the counts of known words.
    features : int, default 65536
        Columns of the hash, or at most so many words: those that occur most often.
    ngrams : (int, int), default (1, 1)
        Fewest and most words (or characters) that make one feature together.
    analyzer : {"word", "char", "char_wb"}, default "word"
        Whether features are of words, of characters, or of characters within words.
    """

    column: Annotated[
        tuple[Column, ...], Field(min_length=1, max_length=100), BeforeValidator(as_tuple)
    ]
    by: Literal["hashing", "tf-idf"] = "hashing"
    features: int = Field(default=65536, ge=1, le=10_000_000)
    ngrams: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(le=10)]] = (1, 1)
    analyzer: Literal["word", "char", "char_wb"] = "word"

    @field_validator("ngrams")
    @classmethod
    def _ascending(cls, ngrams: tuple[int, int]) -> tuple[int, int]:
        if ngrams[0] > ngrams[1]:
            raise ValueError("the fewest words come first, such as [1, 2]")
        return ngrams
