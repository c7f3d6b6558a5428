#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which sources call each other in a circle, by the symbols of a build's object files: circles.py BUILD

Files of different folders never do. Files of one folder may where its README says so, in a line that begins with
"Files that call each other:" and names them. Prints path: [circle] what, and fails when there is anything.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

MARK = "Files that call each other:"


def object_files(build):
    """The objects of the libraries in a build. walk() skips folders that other tests remove meanwhile; glob() fails."""
    for folder, _, files in os.walk(build):
        if re.search(r"/CMakeFiles/bt_[^/]*\.dir(/|$)", folder):
            yield from (pathlib.Path(folder, name) for name in files if name.endswith(".c.o"))


def symbols(build, root):
    """The symbols that each source of ours defines and asks for: {source: (defined, undefined)}"""
    found = {}
    for path in sorted(object_files(build)):
        source = path.parts[len(build.parts):]
        at = source.index("CMakeFiles")
        source = "/".join(source[:at] + source[at + 2:])[:-2]
        if source.startswith("tests/") or not (root / source).exists() or source in found:
            continue
        defined, undefined = found[source] = (set(), set())
        text = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
        for kind, name in re.findall(r"([A-Zw]) (\S+)$", text, re.M):
            (undefined if kind == "U" else defined).add(name)
    return found


def calls(found):
    """Who asks for what of whom: {source: {source: name}}"""
    home = {name: source for source, (defined, _) in found.items() for name in defined}
    graph = collections.defaultdict(dict)
    for source, (_, undefined) in found.items():
        for name in sorted(undefined):
            if home.get(name, source) != source:
                graph[source].setdefault(home[name], name)
    return graph


def reach(graph, start):
    seen, todo = set(), [start]
    while todo:
        for other in graph.get(todo.pop(), ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def circles(graph):
    """Sets of sources each of which reaches every other."""
    reached = {source: reach(graph, source) for source in graph}
    left = {source for source in graph if source in reached[source]}
    while left:
        source = min(left)
        circle = {other for other in reached[source] if source in reached.get(other, ())}
        left -= circle
        yield sorted(circle)


def named(root, folder):
    """The sets of files that a folder's README names."""
    page = root / folder / "README.md"
    lines = page.read_text().splitlines() if page.exists() else []
    return [set(re.findall(r"`([a-z0-9_]+)`", line)) for line in lines if line.startswith(MARK)]


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    graph = calls(symbols(pathlib.Path(sys.argv[1]).resolve(), root))
    failed = False
    for circle in circles(graph):
        folder = str(pathlib.PurePath(circle[0]).parent)
        stems = {pathlib.PurePath(source).stem for source in circle}
        if any(str(pathlib.PurePath(source).parent) != folder for source in circle):
            print(f"{circle[0]}: [circle] files of different folders call each other: {', '.join(circle)}")
        elif not any(stems <= names for names in named(root, folder)):
            print(f"{folder}/README.md: [circle] \"{MARK}\" does not name {', '.join(sorted(stems))}")
        else:
            continue
        failed = True
        for source in circle:
            for other, name in sorted(graph[source].items()):
                if other in circle:
                    print(f"\t{source} -> {other}: {name}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
