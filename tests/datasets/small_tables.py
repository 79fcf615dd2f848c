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


SENSORS = """\
site,temperature,vibration,state
north,20.5,0.31,ok
south,21.0,0.29,ok
north,35.2,0.94,broken
east,?,0.30,ok
south,33.8,0.88,broken
east,19.9,0.27,ok
"""
