#!/usr/bin/python3
"""Opens every page of the built site in headless Chromium, in a window of 1,280 pixels that is then made 390 wide.

    tests/site/open_pages.py [--screenshots FOLDER [PAGE…]]

A page must not log an error, must not ask another machine for anything, and must not scroll sideways. Searching must find what is there.
--screenshots: pictures of these pages (index.html where none is named) in both widths, and no check. Needs Debian's chromium-driver and
python3-selenium, and the site (scripts/site); exits with 77 where one is missing.
"""
import argparse
import functools
import http.server
import json
import os
import sys
import threading
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
HTML = os.path.join(ROOT, "build", "site", "html")
INDEX = "/search/search_index.json"
WIDTHS = (1280, 390)
DRIVER = "/usr/bin/chromedriver"
SEARCHES = {"occupancy": "gpus", "l1tex__t_sectors": "counters", "PredictionRow": "cpp"}  # words, and parts of the pages' addresses

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None


@functools.lru_cache
def empty_index():
    with open(HTML + INDEX, encoding="utf-8") as file:
        return json.dumps({**json.load(file), "docs": []}).encode()


class Site(http.server.SimpleHTTPRequestHandler):
    # Each page makes a search index of all pages as soon as it is open, which takes ten times as long as the page. What is not
    # searched gets an empty one.
    searched = False

    def do_GET(self):
        if self.searched or not self.path.endswith(INDEX):
            super().do_GET()
            return
        text = empty_index()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def browser():
    options = Options()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


def resize(driver, width, height=900):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})


def faults_of(driver, page, base, width):
    for entry in driver.get_log("browser"):
        if entry["level"] in ("SEVERE", "WARNING"):
            yield f"{page} at {width}: {entry['message']}"
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith((base, "data:", "blob:", "about:", "chrome")):
                yield f"{page} asks for {url}"
    wide = driver.execute_script("return [document.scrollingElement.scrollWidth, window.innerWidth]")
    if wide[0] > width or wide[1] > width:
        yield f"{page} is {max(wide)} pixels wide in a window of {width}"


def search(driver, base, words):
    driver.get(f"{base}/index.html?q={words}")
    for _ in range(100):
        found = driver.execute_script("return [...document.querySelectorAll('.md-search-result__link')].map(a => a.href)")
        if found:
            return found
        time.sleep(0.1)
    return []


def all_pages():
    for folder, _, files in os.walk(HTML):
        for name in sorted(files):
            if name.endswith(".html") and name != "404.html":
                yield os.path.relpath(os.path.join(folder, name), HTML)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", metavar="FOLDER")
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_args()
    if webdriver is None or not os.path.exists(DRIVER) or not os.path.isdir(HTML):
        print("skipped: needs chromium-driver, python3-selenium, and the site")
        return 77
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Site, directory=HTML))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    driver = browser()
    faults, opened = [], 0
    try:
        for page in arguments.pages or (["index.html"] if arguments.screenshots else sorted(all_pages())):
            resize(driver, WIDTHS[0])
            driver.get(f"{base}/{page}")
            opened += 1
            for width in WIDTHS:
                if width != WIDTHS[0]:
                    resize(driver, width)
                if not arguments.screenshots:
                    faults += faults_of(driver, page, base, width)
                    continue
                os.makedirs(arguments.screenshots, exist_ok=True)
                name = page.replace("/index.html", "").replace("/", "-").replace(".html", "")
                driver.save_screenshot(os.path.join(arguments.screenshots, f"{name}-{width}.png"))
        Site.searched = True
        for words, part in SEARCHES.items() if not arguments.screenshots and not arguments.pages else ():
            found = search(driver, base, words)
            if not any(part in address for address in found):
                faults.append(f"searching for {words} does not find {part}, but {found[:5]}")
    finally:
        driver.quit()
        server.shutdown()
    for fault in faults:
        print(fault)
    print(f"{opened} pages opened, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
