#!/usr/bin/env python3
"""The manual pages: mandoc and man find nothing wrong with them, and they say what --help says.

    man_pages_test.py WARPTIME

Exits with 77 where neither mandoc nor man is installed.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def said(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def words(text):
    return re.findall(r"[\w.,;:/(){}\[\]<>=+*%|&^~@#-]+", text.replace("`", ""))


def faults_of(page, path):
    """What the checkers print."""
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(page)
    faults = ""
    if shutil.which("mandoc"):
        faults += subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, check=False).stdout
    if shutil.which("man"):
        faults += subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True, check=False, env=os.environ | {"LC_ALL": "C.UTF-8"}).stderr
    return faults


def missing_from(page, help_text):
    """Words of the help, in order, that the rendered page lacks; the lines of usage and headings come in other words."""
    plain = re.sub(r"\\f[BRI]", "", page)
    for roff, text in (("\\-", "-"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\(aq", "'"), ("\\&", ""), ("\\e", "\\")):
        plain = plain.replace(roff, text)
    there = set(words(plain))
    return [word for word in words(help_text) if word not in there and word.rstrip(":,") not in there]


def main():
    warptime = sys.argv[1]
    if not shutil.which("mandoc") and not shutil.which("man"):
        print("neither mandoc nor man is installed")
        return 77
    commands = [line.split("\t")[0] for line in said(warptime, "complete", "").splitlines()]
    commands.remove("help")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for command in [""] + commands:
            page = said(warptime, "help", "--man", *([command] if command else []))
            faults = faults_of(page, os.path.join(folder, "page.1"))
            if faults:
                failures += 1
                print(faults)
            help_text = said(warptime, *([command] if command else []), "--help")
            lacking = missing_from(page, help_text)
            allowed = {"Usage", "Usage:", "Examples", "Examples:", "Exit", "status", "status:", "Commands", "Commands:"}
            if command and set(lacking) - allowed - {command + ":"}:
                failures += 1
                print(f"the page of {command} lacks {lacking}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
