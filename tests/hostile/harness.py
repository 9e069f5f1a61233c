"""Runs hostile inputs against the command, each in a folder of its own, and checks what every one of them is
promised: README.md here. A kind of inputs is a function that yields cases (kinds.py)."""

import dataclasses
import os
import pathlib
import select
import signal
import stat
import subprocess
import tempfile
import time

ENDS_WELL = (0,)
REFUSED = (1, 2)
ANY = (0, 1, 2)
# A finding of a sanitizer has a status that no case promises, so that it shows where stderr is closed, too. Leaks are not looked
# for: what clang had allocated where it gave up is lost. LLVM's headers mark, in our code, memory that Debian's LLVM then writes to.
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:allow_user_poisoning=0:exitcode=86",
              "UBSAN_OPTIONS": "exitcode=86:print_stacktrace=1"}


@dataclasses.dataclass
class Case:
    """One command line and what it is promised."""
    name: str
    command: list  # what follows `warptime`
    files: dict = dataclasses.field(default_factory=dict)  # name: text, bytes, or a function of its path
    status: tuple = ANY
    says: str = ""  # a piece of stderr
    writes: tuple = ()  # the files that it may make or change
    environment: dict = dataclasses.field(default_factory=dict)  # "@" stands for the case's own folder
    stdin: object = None
    seconds: float = 20
    mebibytes: int = 600
    send: int = 0  # a signal, after `after` seconds
    after: float = 0.4
    stdout: object = "out"  # a device in its place; None: closed
    gone: bool = False  # the working folder is removed before the command starts


KEEP_OPEN = object()  # a standard input that says nothing and does not end


def place_files(folder, files):
    for name, content in files.items():
        path = os.path.join(os.fsencode(folder), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if callable(content):
            content(path)
            continue
        with open(path, "wb") as file:
            file.write(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)


def snapshot(folder):
    """What lies in a folder: type, mode, and contents or target, by name."""
    found = {}
    for root, folders, files in os.walk(os.fsencode(folder)):
        for name in folders + files:
            path = os.path.join(root, name)
            status = os.lstat(path)
            content = None
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = (status.st_size, file.read(1 << 24))
            found[os.path.relpath(path, os.fsencode(folder))] = (status.st_mode, content)
    return found


def changed(before, after, allowed):
    """`allowed`: files and folders of the working folder."""
    allowed = {os.fsencode(name) for name in allowed}
    return sorted(os.fsdecode(name) for name in before.keys() | after.keys()
                  if before.get(name) != after.get(name) and name.split(b"/")[0] not in allowed)


def control_characters(text):
    return sorted({byte for byte in text if byte < 0x20 and byte not in b"\n\t" or byte == 0x7f})


class Outcome:
    def __init__(self, status, stdout, stderr, seconds, mebibytes):
        self.status, self.stdout, self.stderr = status, stdout, stderr
        self.seconds, self.mebibytes = seconds, mebibytes


class Runner:
    def __init__(self, warptime, slow=1, memory=1):
        self.warptime = os.path.abspath(warptime)
        self.slow, self.memory = slow, memory  # factors: a build with sanitizers takes more of both

    def _start(self, case, work, temporary):
        environment = {"PATH": os.environ["PATH"], "HOME": str(work), "TMPDIR": str(temporary),
                       "LC_ALL": "C.UTF-8", **SANITIZERS}
        for name, value in case.environment.items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value.replace("@", str(work))
        stdin = subprocess.DEVNULL if case.stdin is None else subprocess.PIPE
        output = [open(work.parent / name, "w+b") for name in ("out", "err")]
        command = [self.warptime, *case.command]
        stdout = output[0]
        if case.stdout is None:
            command = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *command]
        elif case.stdout != "out":
            stdout = open(case.stdout, "wb")
        if case.gone:
            command = ["/bin/sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *command]
        process = subprocess.Popen([os.fsencode(word) for word in command], cwd=work, env=environment, stdin=stdin,
                                   stdout=stdout, stderr=output[1], start_new_session=True)
        return process, output

    @staticmethod
    def _ends(handle, seconds):
        """Whether a process ends within so many seconds."""
        return bool(select.select([handle], [], [], max(seconds, 0))[0])

    def run(self, case, work, temporary):
        begin = time.monotonic()
        process, output = self._start(case, work, temporary)
        if case.stdin not in (None, KEEP_OPEN):
            try:
                process.stdin.write(case.stdin)
                process.stdin.close()
            except BrokenPipeError:
                pass
        hung = False
        handle = os.pidfd_open(process.pid)
        if case.send and not self._ends(handle, case.after):
            os.kill(process.pid, case.send)
        if not self._ends(handle, begin + case.seconds * self.slow - time.monotonic()):
            hung = True
            os.killpg(process.pid, signal.SIGKILL)
        os.close(handle)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = 0  # waited for above
        texts = []
        for file in output:
            file.seek(0)
            texts.append(file.read())
            file.close()
        ended = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return Outcome("hangs" if hung else ended, *texts, time.monotonic() - begin, usage.ru_maxrss / 1024)

    def check(self, case):
        """What is not as promised; nothing: all is. And the outcome."""
        with tempfile.TemporaryDirectory(prefix="hostile-") as root:
            work, temporary = pathlib.Path(root) / "folder", pathlib.Path(root) / "tmp"
            work.mkdir()
            temporary.mkdir()
            place_files(work, case.files)
            before = snapshot(work)
            outcome = self.run(case, work, temporary)
            differs = changed(before, snapshot(work), case.writes) if not case.gone else []
            wrong = self._judge(case, outcome, differs,
                                sorted(os.listdir(temporary)))
            self._clean(root)
            return wrong, outcome

    def _judge(self, case, outcome, differs, left):
        wrong = []
        if outcome.status not in case.status:
            wrong.append(f"status {outcome.status}, promised {case.status}")
        if outcome.status in REFUSED and not outcome.stderr:
            wrong.append("fails without a word")
        if case.says and case.says.encode() not in outcome.stderr:
            wrong.append(f"does not say {case.says!r}")
        for name, text in (("stderr", outcome.stderr), ("stdout", outcome.stdout)):
            if found := control_characters(text):
                wrong.append(f"control characters {found} in {name}")
        if b"Sanitizer" in outcome.stderr or b"runtime error:" in outcome.stderr:
            wrong.append("a finding of a sanitizer")
        if differs:
            wrong.append(f"changes {differs}")
        if left:
            wrong.append(f"leaves {left} in TMPDIR")
        if outcome.mebibytes > case.mebibytes * self.memory:
            wrong.append(f"takes {outcome.mebibytes:.0f} MiB, promised {case.mebibytes}")
        return wrong

    @staticmethod
    def _clean(root):
        for path, folders, _ in os.walk(root):  # what a case made unreadable
            for name in folders:
                os.chmod(os.path.join(path, name), 0o700)


def make_fifo(path):
    os.mkfifo(path)


def make_link(target):
    return lambda path: os.symlink(target, path)


def make_read_only(text):
    def make(path):
        pathlib.Path(os.fsdecode(path)).write_text(text)
        os.chmod(path, 0o444)
    return make


def make_program(text):
    """An executable script."""
    def make(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
    return make


def make_repository(path):
    """A Git repository, with all that was placed beside it committed."""
    folder = os.path.dirname(path)
    me = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "gc.auto=0"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-C", folder, *me, *words], check=True)


def make_sparse(size):
    def make(path):
        with open(path, "wb") as file:
            file.truncate(size)
    return make
