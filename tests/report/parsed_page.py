"""A report as a browser reads it: its tags, texts and references."""

import re
from html.parser import HTMLParser

SECTIONS = [
    "answer",
    "fronts",
    "score",
    "cost",
    "timelines",
    "tables",
    "outcomes",
    "calibration",
    "provenance",
]
VOID = {"meta", "br", "input", "line", "path", "circle"}


class Page(HTMLParser):
    """What a browser would make of a page: its tags, texts and references."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.references, self.ids, self.texts = [], [], [], [], []
        self.data = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.ids.append(attrs.get("id"))
        self.references += [
            attrs[name]
            for name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href")
            if name in attrs
        ]
        if tag not in VOID:
            self.open.append((tag, attrs.get("id")))

    def handle_endtag(self, tag):
        if tag not in VOID and self.open[-1][0] == tag:
            self.open.pop()

    def handle_data(self, data):
        if ("script", "data") in self.open:
            self.data += data
        elif not {"script", "style"} & {tag for tag, _ in self.open}:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def read_page(path):
    """Read a report whose tags close, whose sections are all there and that needs no network."""
    html = path.read_text(encoding="utf-8")
    page = Page(html)
    assert [name for name in page.ids if name in SECTIONS] == SECTIONS
    assert all(reference.startswith("#") for reference in page.references)
    assert not re.search(r"@import|url\(\s*['\"]?(?!data:)\w+:", html.split("<script")[0])
    assert "default-src 'none'" in html
    return page
