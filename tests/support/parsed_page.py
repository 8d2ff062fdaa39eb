"""A page of a report as a browser reads it."""

from html.parser import HTMLParser


class Parsed(HTMLParser):
    """A page as a browser reads it: its scripts, texts and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.data: dict[str, str] = {}
        self.styles: list[str] = []
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._inside = ""
        self._ident = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        self._inside = {"script": "script", "style": "style"}.get(tag, "")
        if found.get("type") == "application/json":
            self._inside, self._ident = "data", found["id"] or ""
            self.data[self._ident] = ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside == "style":
            self.styles.append(data)
        elif self._inside == "data":
            self.data[self._ident] += data
        else:
            self.texts.append(data)

    def attribute(self, tag: str, name: str) -> list[str]:
        return [found[name] or "" for kind, found in self.tags if kind == tag and name in found]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def policy(self) -> str:
        (found,) = [
            given["content"]
            for tag, given in self.tags
            if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy"
        ]
        return found or ""
