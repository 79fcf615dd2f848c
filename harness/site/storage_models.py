"""All storage models, written or shipped as formulas, as one script that plans as the harness."""

from __future__ import annotations

import json
import re
from typing import Any

from harness.planning import own_bytes
from harness.planning.learned.model import BEYOND, MARGIN
from harness.planning.learned.runs import NOISE, NOISY
from harness.planning.learned.shipped import ShippedStorage, read_shipped
from harness.planning.size import settings_that_count
from harness.plugin.abilities import splits_fit
from harness.plugin.method import Method
from harness.plugin.shape import Shape
from harness.project import TEMPLATES
from harness.site.function_body import UntranslatedError
from harness.site.javascript import Translator

SCRIPTS = TEMPLATES / "site"

_OWN = ("standing_bytes", "handed_bytes", "loading_bytes", "fold_bytes", "folded_bytes")


def planning_script(methods: list[Method]) -> tuple[str, dict[str, str]]:
    """Return the script, and why a method is not in it.

    Parameters
    ----------
    methods : list of Method

    Returns
    -------
    script : str
        Defines `methods`, and `planned(method, new Shape(...), bytes)`.
    left_out : dict of str to str
        Reasons by name: a storage model that is still to be learned, or has no translation.
    """
    translator, left_out, told = Translator(), {}, []
    translator.shape_class(Shape)
    own = ", ".join(f"{name}: {translator.function(getattr(own_bytes, name))}" for name in _OWN)
    for method in sorted(methods, key=lambda method: method.name):
        if method.learns_storage:
            shipped = read_shipped().get(method.name)
            if shipped is None:
                left_out[method.name] = "its storage is learned by measuring it"
                continue
            method = method.learned(shipped)
        try:
            told.append(_method(translator, method))
        except UntranslatedError as error:
            left_out[method.name] = str(error)
    python, plan = ((SCRIPTS / name).read_text() for name in ("python.js", "plan.js"))
    listed = ",\n".join(told)
    rules = json.dumps({"margin": MARGIN, "noise": NOISE, "noisy": NOISY, "beyond": BEYOND})
    given = f"const own = {{{own}}};\nconst learning = {rules};"
    parts = [python, translator.text, given, plan]
    return "\n".join([*parts, f"const methods = [{listed}];"]), left_out


def why_untranslated(method: Method) -> str:
    """Say what of a written storage model has no translation; "" where all of it has one.

    Parameters
    ----------
    method : Method
        With a storage model.
    """
    translator = Translator()
    try:
        _method(translator, method)
    except UntranslatedError as error:
        return str(error)
    # of what only some settings reach, the script says so where it is called
    found = re.search(r'untranslated\(("(?:[^"\\]|\\.)*")\)', translator.text)
    return str(json.loads(found[1])) if found else ""


def _method(translator: Translator, method: Method) -> str:
    settings = settings_that_count(method, method.space)
    known: dict[str, Any] = {
        "name": method.name,
        "tasks": sorted(method.tasks),
        "size": method.size,
        "uses_unlabeled": method.uses_unlabeled,
        "loads": "fit" in method.features,
        "bounded": method.bounded_by_landmarks,
        "enough": method.enough,
        "falls": list(method.non_monotone_at),
        "tuned": bool(method.space),
        "splits": splits_fit(method.estimator),
        "asks": method.storage_parameters,
        "control": method.control,
    }
    parts = [f"{name}: {translator.literal(value)}" for name, value in known.items()]
    each = [
        "{"
        + ", ".join(f"{k}: {translator.literal(v)}" for k, v in {**method.params, **one}.items())
        + "}"
        for one in settings
    ]
    parts.append(f"settings: [{', '.join(each)}]")
    if isinstance(method.storage, ShippedStorage):
        parts.append(f"storage: shippedStorage({json.dumps(method.storage.as_dict())})")
        parts.append(f"largest: {json.dumps(method.storage.largest)}")
    else:
        parts.append(f"storage: {translator.function(method.storage_model)}")
    parts.append(f"sizes: {translator.function(method.sizes)}")
    return "{" + ", ".join(parts) + "}"
