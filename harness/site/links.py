"""Links of a site that lead nowhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where a tag leads, and what leads to it."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name == "id" and value:
                self.anchors.add(value)


def broken_links(folder: Path) -> list[str]:
    """Return a line for each link between pages that leads nowhere; other sites are not asked.

    Behind # a name with "=" is what a report's script shows, and no anchor.
    """
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        pages[path.resolve()] = found = _Links()
        found.feed(path.read_text(encoding="utf-8"))
    lost = []
    for path, found in pages.items():
        for target in dict.fromkeys(found.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            missing = not other.is_file()
            fragment = unquote(parts.fragment)
            if not missing and fragment and "=" not in fragment and other in pages:
                missing = fragment not in pages[other].anchors
            if missing:
                lost.append(f"{path.relative_to(folder.resolve())}: {target}")
    return lost
