"""Follows every link of a built site: scripts/site runs it."""
import html.parser
import os
import re
import urllib.parse

# What a page loads by itself, as opposed to what it links to.
LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        with open(path, encoding="utf-8") as stream:
            self.feed(stream.read())

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.update(values[key] for key in ("id", "name") if values.get(key))
        for key in ("href", "src", "data"):
            if values.get(key) is None:
                continue
            if (tag, key) in LOADED and values.get("rel") not in ("canonical", "prev", "next"):
                self.loads.append(values[key])
            elif tag == "a":
                self.links.append(values[key])


def file_of(folder, page, address):
    """The file that an address of a page is, and its anchor."""
    parts = urllib.parse.urlsplit(address)
    path = urllib.parse.unquote(parts.path)
    base = folder if path.startswith("/") else os.path.dirname(page)
    whole = os.path.normpath(os.path.join(base, path.lstrip("/"))) if path else page
    if os.path.isdir(whole):
        whole = os.path.join(whole, "index.html")
    return whole, urllib.parse.unquote(parts.fragment)


def is_elsewhere(address):
    return address.startswith("//") or bool(re.match(r"[a-z][a-z0-9+.-]*:", address))


def check(folder):
    """The number of pages, and what is wrong: links and anchors that lead nowhere, and what is loaded from another machine."""
    pages, faults = {}, []
    for place, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(place, name)
            if name.endswith(".html"):
                pages[path] = Page(path)
            elif name.endswith(".css"):
                with open(path, encoding="utf-8") as stream:
                    faults += [f"{os.path.relpath(path, folder)} loads {found}"
                               for found in re.findall(r"url\(['\"]?((?:https?:)?//[^)'\"]+)", stream.read())]
    for path, page in pages.items():
        where = os.path.relpath(path, folder)
        for address in page.loads:
            if is_elsewhere(address) and not address.startswith("data:"):
                faults.append(f"{where} loads {address}")
            elif not is_elsewhere(address) and not os.path.exists(file_of(folder, path, address)[0]):
                faults.append(f"{where}: {address} is missing")
        if where == "404.html":
            continue  # its links are from the root of where the site will be
        for address in page.links:
            if is_elsewhere(address):
                continue
            target, anchor = file_of(folder, path, address)
            if not os.path.exists(target):
                faults.append(f"{where}: the link leads nowhere: {address}")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                faults.append(f"{where}: no such anchor: {address}")
    return len(pages), faults
