#!/usr/bin/env python3
"""Runs the workflows of docs/how-to/guard-pull-requests.md as GitHub and GitLab do: what each step runs, in a clone of a repository,
for a change that makes a kernel slower and for one that does not.

    ci_examples_test.py --warptime BINARY [--install]

Steps that use an action, or install Debian's packages, are left out; with --install the latter run, too (in a root of Debian).
Exits with 77 where git, curl, xz or Python's yaml is missing.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    yaml = None

import check_docs

PAGE = "docs/how-to/guard-pull-requests.md"
SLOWER = "  if (i < n) { out[i] = factor * in[i]; out[i + n] = in[i]; }\n"
REWRITTEN = "  if (i < n) out[i] = in[i] * factor;  // the same\n"


def run(folder, command, environment, shell=("bash", "-e", "-o", "pipefail", "-c")):
    return subprocess.run([*shell, command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)


def must(folder, command, environment):
    done = run(folder, command, environment)
    if done.returncode != 0:
        raise SystemExit(f"`{command}` ended with status {done.returncode}:\n{done.stdout}")
    return done.stdout


class Scene:
    """A repository `origin` with the page's kernels on its main branch, a tarball, and clones with a change."""

    def __init__(self, folder, warptime):
        self.folder = folder
        self.files = {one.name: one.text for one in check_docs.Page(PAGE).steps if isinstance(one, check_docs.FileBlock)}
        self.environment = {**os.environ, "HOME": folder, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@localhost",
                            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@localhost"}
        self.path = os.environ["PATH"]
        beside = os.path.join(folder, "warptime-0-linux-x86_64", "bin")
        os.makedirs(beside)
        with open(os.path.join(beside, "warptime"), "w", encoding="utf-8") as stream:
            stream.write(f'#!/bin/sh\nexec "{warptime}" "$@"\n')
        os.chmod(os.path.join(beside, "warptime"), 0o755)
        must(folder, "tar -cJf warptime.tar.xz warptime-0-linux-x86_64 && mkdir origin", self.environment)
        self.environment["WARPTIME_TARBALL"] = "file://" + os.path.join(folder, "warptime.tar.xz")
        for name, text in self.files.items():
            if name.startswith("kernels/"):
                path = os.path.join(folder, "origin", name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(text)
        must(os.path.join(folder, "origin"), f"git init -q -b main && {beside}/warptime models update kernels --gpu h100-sxm && "
             "git add . && git commit -q -m kernels", self.environment)
        self.beside = beside

    def clone(self, name, line):
        """A clone with a branch in which the kernel has another line, and its model is updated."""
        clone = os.path.join(self.folder, name)
        must(self.folder, f"git clone -q origin {clone} && cd {clone} && git switch -q -c change", self.environment)
        source = os.path.join(clone, "kernels", "scale.cu")
        with open(source, encoding="utf-8") as stream:
            lines = stream.readlines()
        lines[2] = line
        with open(source, "w", encoding="utf-8") as stream:
            stream.writelines(lines)
        must(clone, f"{self.beside}/warptime models update kernels --gpu h100-sxm && git commit -q -a -m change", self.environment)
        return clone


def run_github(scene, clone):
    """The exit status and the output of the workflow's steps."""
    workflow = yaml.safe_load(scene.files[".github/workflows/kernels.yml"])
    temporary = tempfile.mkdtemp(dir=scene.folder)
    path_file = os.path.join(temporary, "path")
    open(path_file, "w", encoding="utf-8").close()
    environment = {**scene.environment, "RUNNER_TEMP": temporary, "GITHUB_PATH": path_file, "GITHUB_BASE_REF": "main"}
    for step in workflow["jobs"]["kernels"]["steps"]:
        if "run" not in step:
            continue
        with open(path_file, encoding="utf-8") as stream:
            environment["PATH"] = os.pathsep.join([*stream.read().split(), scene.path])
        done = run(clone, step["run"], environment)
        if done.returncode != 0:
            return done.returncode, done.stdout
    return 0, done.stdout


def run_gitlab(scene, clone, install):
    job = yaml.safe_load(scene.files[".gitlab-ci.yml"])["kernels"]
    builds = tempfile.mkdtemp(dir=scene.folder)
    environment = {**scene.environment, "CI_BUILDS_DIR": builds, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    lines = [line for line in job["before_script"] + job["script"] if install or not line.startswith("apt-get")]
    done = run(clone, "\n".join(lines), environment)
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warptime", required=True)
    parser.add_argument("--install", action="store_true")
    arguments = parser.parse_args()
    missing = [name for name in ("git", "curl", "xz") if shutil.which(name) is None] + ([] if yaml else ["yaml"])
    if missing:
        print("skipped: missing " + ", ".join(missing))
        return 77
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder, os.path.abspath(arguments.warptime))
        for name, line, expected in (("slower", SLOWER, 1), ("same", REWRITTEN, 0)):
            clone = scene.clone(name, line)
            for service in ("GitHub", "GitLab"):
                status, said = run_github(scene, clone) if service == "GitHub" else run_gitlab(scene, clone, arguments.install)
                log = os.path.join(clone, "kernels.sarif")
                if status != expected or (expected == 1 and "error:" not in said) or not os.path.exists(log):
                    failures += 1
                    print(f"{service}, {name} kernel: exit status {status}, not {expected}:\n{said}")
                if os.path.exists(log):
                    os.remove(log)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
