"""Seeded damage to files: to what they say, and to their bytes."""

import copy
import json
import math

import yaml

LONG = "9" * 400
TEXTS = [
    *("", " ", ".", "..", "../../theirs/kept.txt", "a/../../../theirs", "/etc/hostname", "~/x"),
    *("x" * 300, "x" * 5000, "ü" * 200, "a\nb", "a\tb", "a\0b", "\x1b[31m", "\u202e", "{x}", "%s"),
    *("=1+1", "<script>", "none", "null", "true", "nan", "inf", "-1", "1e400", LONG, f"{LONG}MB"),
    *("0MB", "200 MBB", "9 landmarks", "0.1B", "1:59:59", "*", "a,b", "'", '"', "$(id)", "`id`"),
    *(
        "{a}.yaml",
        "con",
        "-n",
        "--help",
        "wine",
        "svm",
        "grid",
        "auc",
        "hou2017/table3",
        "none/none",
    ),
]
NUMBERS = [
    *(0, 1, -1, 2, 7, 10**3, 10**6, 10**9, 2**31, 2**63 - 1, 2**63, 10**18, 10**39, -(10**39)),
    *(0.1, 0.5, 1.5, -0.5, 1e-300, 1e300, 5e-324, math.inf, -math.inf, math.nan, 10**400),
]
ODD = [None, True, False, [], {}, [[]], [{}], {"a": {"b": []}}, [None], [1, "a", None], {"": ""}]


def value(rng, sandbox):
    """A value that may stand anywhere; some name places outside the sandbox."""
    kind = rng.integers(6)
    if kind == 0:
        outside = [sandbox.theirs, sandbox.theirs / "kept.txt", sandbox.around, sandbox.pipe]
        return str(outside[rng.integers(len(outside))])
    if kind == 1:
        return "../" * int(rng.integers(1, 5)) + "theirs/kept.txt"
    if kind == 2:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if kind == 3:
        return copy.deepcopy(ODD[rng.integers(len(ODD))])
    return TEXTS[rng.integers(len(TEXTS))]


def places(tree, path=()):
    """Every place in a tree of mappings and lists, as a path of keys."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def damaged_tree(tree, rng, sandbox):
    """A copy of a tree with one thing wrong, or a few."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        known = list(places(tree))
        if not known:
            return value(rng, sandbox)
        path = known[rng.integers(len(known))]
        holder = tree
        for key in path[:-1]:
            holder = holder[key]
        change(holder, path[-1], rng, sandbox)
    return tree


def change(holder, key, rng, sandbox):
    item, kind = holder[key], rng.integers(8)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        name = value(rng, sandbox)
        holder[name if isinstance(name, str | int | float | None) else str(name)] = item
    elif kind == 2 and isinstance(holder, list):
        holder += [copy.deepcopy(item)] * int(rng.choice([1, 2, 50]))
    elif kind == 3:
        holder[key] = [item] * int(rng.choice([1, 2, 300]))
    elif kind == 4:
        holder[key] = {value_name(rng): item}
    elif kind == 5 and isinstance(item, int | float) and not isinstance(item, bool):
        holder[key] = -item if rng.integers(2) else item * 10 ** int(rng.integers(1, 30))
    else:
        holder[key] = value(rng, sandbox)


def value_name(rng):
    return TEXTS[rng.integers(len(TEXTS))] or "x"


def damaged_bytes(raw, rng):
    """A copy of some bytes that was cut, flipped, doubled or filled with something else."""
    raw = bytearray(raw)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(raw) + 1))
        length = int(rng.choice([1, 2, 8, 64, 4096]))
        kind = rng.integers(6)
        if kind == 0:
            del raw[at:]
        elif kind == 1:
            raw[at : at + length] = rng.bytes(length)
        elif kind == 2:
            raw[at:at] = raw[max(0, at - length) : at] * int(rng.choice([1, 3, 200]))
        elif kind == 3:
            del raw[at : at + length]
        elif kind == 4:
            parts = [b"\0", b"\xff\xfe", b"\n", b"&a [*a]", b"[" * 3000, b"- " * 3000, b"{", b'"']
            parts += [
                b"\\ud800",
                b"NaN",
                b"1e999",
                LONG.encode(),
                b"!!binary x",
                b"? ",
                b"<<: *x\n",
            ]
            raw[at:at] = parts[rng.integers(len(parts))]
        elif raw:
            raw[at % len(raw)] ^= 1 << int(rng.integers(8))
    return bytes(raw)


def damaged_yaml(tree, rng, sandbox):
    """A damaged tree as YAML, its bytes damaged too now and then, or unbounded."""
    kind = rng.integers(12)
    if kind == 0:
        grown = "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30))
        return f"a0: &a0 [x]\n{grown}\n{yaml.safe_dump(tree)}".encode()
    if kind == 11:  # whole, so that what comes behind the reading is tried too
        return yaml.safe_dump(tree).encode()
    text = yaml.safe_dump(damaged_tree(tree, rng, sandbox), allow_unicode=True)
    raw = text.encode("utf-8", "surrogatepass")
    return damaged_bytes(raw, rng) if kind < 4 else raw


def damaged_json(tree, rng, sandbox):
    """A damaged tree as JSON, its bytes damaged too now and then."""
    tree = damaged_tree(tree, rng, sandbox)
    raw = json.dumps(tree, skipkeys=True).encode()
    return damaged_bytes(raw, rng) if rng.integers(3) == 0 else raw
