"""How every mapping of a study file is read: keys that are not known are refused."""

from pydantic import ConfigDict

STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
