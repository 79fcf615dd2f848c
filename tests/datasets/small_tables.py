"""Tables that several tests add."""

import pandas as pd

NUMBERED = [f"{row / 8},{row % 5},{'ab'[row % 2]}" for row in range(40)]

FRAME = pd.DataFrame(
    {
        "size": [1.5, None, 3.0, 4.0] * 5,
        "colour": ["red", "blue", None, "red"] * 5,
        "flag": [True, False] * 10,
        "y": ["no", "yes"] * 10,
    }
)


def rows(*lines):
    return "\n".join(lines) + "\n"
