"""A table of one's own, with names, numbers and gaps, and its entry in a catalog."""

import numpy as np
import pandas as pd
import yaml


def own_table(folder):
    """A CSV with names, numbers and gaps in both."""
    rng = np.random.default_rng(3)
    n = 240
    table = pd.DataFrame(
        {
            "length": rng.normal(170, 10, n).round(1),
            "colour": rng.choice(["red", "green", "blue"], n),
            "amount": rng.exponential(1000, n).round(),
        }
    )
    up = table["length"] + 8 * (table["colour"] == "red") + rng.normal(size=n) > 172
    table.loc[::17, "length"] = np.nan
    table["answer"] = np.where(up, "yes", "no")
    table.to_csv(folder / "own.csv", index=False)
    counts = {"no": int((~up).sum()), "yes": int(up.sum())}
    entry = {
        "own-table": {
            "task": "binary",
            "n": n,
            "d": 5,
            "raw_d": 3,
            "classes": counts,
            "positive": "yes",
            "missing": "mean",
            "logarithm": [2],
            "scaling": "standard",
            "read": {"format": "csv", "header": True, "target": "answer", "nominal": ["colour"]},
            "files": [{"path": "own.csv"}],
        }
    }
    (folder / "own-datasets.yaml").write_text(yaml.safe_dump(entry))
    return table
