"""Names of machines, people and folders, taken out of what is published."""

from __future__ import annotations

import getpass
import re
import socket
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow

from harness.project import ROOT

_SHORTEST = 4
"""Letters of a name that is looked for in sentences: shorter ones are words as well."""

_OF_PEOPLE = re.compile(r"/(?:home|Users)/[A-Za-z0-9._-]+")
_NO_TEXT = (".parquet", ".npz", ".scores", ".png")


@dataclass(frozen=True)
class Scrubber:
    """Replaces what tells of a machine or its user.

    Parameters
    ----------
    hosts : mapping of str to str
        What each host is called instead.
    places : sequence of (str, str)
        Folders, the longest first, and what stands for each.
    people : sequence of str
        Names of users, which become "user".
    """

    hosts: Mapping[str, str]
    places: Sequence[tuple[str, str]]
    people: Sequence[str]

    @classmethod
    def of_this_machine(cls, hosts: Iterable[str], *, named: bool = False) -> Scrubber:
        """Return one for the current folder, home and user.

        Parameters
        ----------
        hosts : iterable of str
            That rows name; this machine is added.
        named : bool, default False
            Whether hosts keep their names.
        """
        known = [host for host in dict.fromkeys([*hosts, socket.gethostname()]) if host]
        aliases = {host: f"host-{number}" for number, host in enumerate(known, 1)}
        folders = {
            str(Path.cwd()): ".",
            str(ROOT): "harness",
            tempfile.gettempdir(): "TMP",
            str(Path.home()): "~",
        }
        whole = {path: word for path, word in folders.items() if path.count("/") > 1}
        places = sorted(whole.items(), key=lambda item: -len(item[0]))
        user = getpass.getuser()
        people = [user] if len(user) >= _SHORTEST and user != "root" else []
        return cls({} if named else aliases, places, people)

    def text(self, text: str) -> str:
        """Return a text without them."""
        for path, word in self.places:
            text = text.replace(path, word)
        for name, word in self._words():
            text = re.sub(rf"\b{re.escape(name)}\b", word, text)
        return _OF_PEOPLE.sub("~", text)

    def content(self, content: Any) -> Any:
        """Return JSON content without them; a value that is the name of a host is another."""
        if isinstance(content, Mapping):
            return {key: self.content(value) for key, value in content.items()}
        if isinstance(content, list):
            return [self.content(value) for value in content]
        if not isinstance(content, str):
            return content
        return self.hosts.get(content) or self.text(content)

    def table(self, rows: pyarrow.Table) -> pyarrow.Table:
        """Return a table without them in any column of texts."""
        for place, field in enumerate(rows.schema):
            if pyarrow.types.is_string(field.type):
                coded = rows.column(place).combine_chunks().dictionary_encode()
                if isinstance(coded, pyarrow.ChunkedArray):
                    coded = coded.combine_chunks()
                words = coded.dictionary.to_pylist()
                told = [self.content(word) for word in words]
                if told != words:
                    texts = pyarrow.array(told, field.type).take(coded.indices)
                    rows = rows.set_column(place, field, texts)
        return rows

    def leaks(self, folder: Path) -> list[str]:
        """Say where files of a folder still name a machine, a user or a folder of either."""
        names = [path for path, _ in self.places]
        pattern = [re.escape(name) for name in names]
        pattern += [rf"\b{re.escape(name)}\b" for name, _ in self._words()]
        looked_for = re.compile("|".join([*pattern, _OF_PEOPLE.pattern]))
        found = []
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            if path.suffix in _NO_TEXT:
                continue
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            for number, line in enumerate(lines, 1):
                if match := looked_for.search(line):
                    where = f"{path.relative_to(folder)}: line {number}"
                    found.append(f"{where} names {match[0]}")
                    break
        return found

    def _words(self) -> list[tuple[str, str]]:
        long = [(host, word) for host, word in self.hosts.items() if len(host) >= _SHORTEST]
        return [*long, *((name, "user") for name in self.people)]
