"""What scikit-learn holds, as storage models count it: ridge regression and distances."""

from __future__ import annotations


def ridge_bytes(labeled: int, m: int, i: int, n_classes: int) -> int:
    """Bytes of a ridge regression: features and two copies, the smaller Gram matrix, weights.

    With the labels and their binary codes, as integers and as floats.
    """
    gram, codes = 16 * min(labeled, m) ** 2 // 5, 26 + 16 * max(n_classes, 2)
    return i * (3 * labeled * m + gram) + weights_bytes(m, i, n_classes) + labeled * codes


def weights_bytes(m: int, i: int, n_classes: int) -> int:
    """Bytes of the weights of m features and an intercept, for each class but of two."""
    return i * (m + 1) * (n_classes if n_classes > 2 else 1)


def upcast_bytes(rows: int, m: int, d: int, i: int) -> int:
    """Bytes by which scikit-learn turns float32 into float64 for distances: 10 MiB or a tenth.

    Parts of both sets, the product of two parts, and itself in float32.
    """
    if i == 8:
        return 8 * (rows + m)
    terms = max(((rows + m) * d + rows * m) / 10, 10 * 2**17)
    part = int((d * d + terms) ** 0.5 - d) + 1
    # of a set that is cut, one part is held while the next is made
    parts = min(2 * part, rows) + min(2 * part, m)
    product = min(part, rows) * min(part, m)
    # NumPy doubles a product in place, unless it is small
    return 8 * parts * d + 12 * product + min(8 * product, 1 << 18)
