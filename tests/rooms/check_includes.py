#!/usr/bin/env python3
"""Holds the includes of a source tree against the list of its rooms (rooms.txt beside this).

    check_includes.py ROOMS TREE

Prints a line for each include that the list does not allow, with both files, and exits with 1 where there is one.
"""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def read_rooms(path):
    """{room: rooms that it may include}, and what is wrong with the list itself."""
    rooms, wrong = {}, []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            room, _, allowed = line.partition(":")
            for below in allowed.split():
                if below not in rooms:
                    wrong.append(f"{path}:{number}: {room} may include {below}, which does not stand above it")
            rooms[room] = set(allowed.split())
    return rooms, wrong


def sources(tree, rooms):
    """Every source and header of the tree's rooms, with its folder."""
    for top in sorted({room.split("/")[0] for room in rooms}):
        for folder, folders, files in os.walk(os.path.join(tree, top)):
            folders[:] = sorted(name for name in folders if name != "cuda_headers")  # those are for kernels
            for name in sorted(files):
                if name.endswith((".h", ".cc", ".def")):
                    yield os.path.relpath(folder, tree), os.path.relpath(os.path.join(folder, name), tree)


def check(rooms, tree):
    wrong = []
    for room, file in sources(tree, rooms):
        if room not in rooms:
            wrong.append(f"{file}: its folder {room} is no room of the list")
            continue
        with open(os.path.join(tree, file), encoding="utf-8") as source:
            text = source.read()
        for match in INCLUDE.finditer(text):
            included = match.group(1)
            other = os.path.dirname(included)
            if other.split("/")[0] not in {name.split("/")[0] for name in rooms}:
                continue  # another project's header
            if not os.path.exists(os.path.join(tree, included)) and not included.endswith(".def"):
                wrong.append(f"{file}: includes {included}, which is not there")
            elif other != room and other not in rooms[room]:
                upward = other in rooms and list(rooms).index(other) > list(rooms).index(room)
                wrong.append(f"{file}: includes {included}: {room} "
                             f"{'stands below' if upward else 'may not include'} {other}")
    return wrong


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rooms, wrong = read_rooms(sys.argv[1])
    wrong += check(rooms, sys.argv[2])
    print("\n".join(wrong) if wrong else f"{len(rooms)} rooms, no include that points upward")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
