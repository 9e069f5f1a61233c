#!/usr/bin/env python3
"""Types command lines into a shell, presses Tab, and looks at what the shell made of them.

    completion_test.py bash|zsh|fish WARPTIME

bash and zsh run in a terminal. fish is asked for its candidates (`complete -C`), of which there must be the expected one.
Exits with 77 where the shell is not installed.
"""
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

# What is typed, and its last word after Tab.
CASES = [
    ("warptime pred", "predict"),
    ("warptime help calib", "calibrate"),
    ("warptime predict gpu_dwt_m4_n", "gpu_dwt_m4_nw"),
    ("warptime predict mtx --agai", "--against"),
    ("warptime predict mtx --gpu rtx-2080-t", "rtx-2080-ti"),
    ("warptime predict mtx --gpu h200,rtx-2080-t", "h200,rtx-2080-ti"),
    ("warptime predict mtx --gpu=gtx-8", "--gpu=gtx-860m"),
    ("warptime predict mtx --param N", "N="),
    ("warptime predict mtx --param K=8,N", "K=8,N="),
    ("warptime predict dwt_kernels/mtx.cu --threads N --param K", "K="),
    ("warptime predict dwt_kernels/mtx.cu --format cs", "csv"),
    ("warptime predict dwt_kernels/ltt_inverse.c", "dwt_kernels/ltt_inverse.cu"),
    ("warptime analyze dwt_kernels/bands.cu --kernel spl", "split_bands"),
    ("warptime analyze dwt_kernels/mtx.cu --emit=perio", "--emit=periods"),
    ("warptime run dwt_kernels/mtx.cu --arg coe", "coefs="),
    ("warptime gpus gtx-8", "gtx-860m"),
    ("warptime plans walsh", "walsh_hadamard"),
    ("warptime models upd", "update"),
    ("warptime models update dwt_ker", "dwt_kernels/"),
]


class Terminal:
    """A shell in a terminal."""

    def __init__(self, command, environment):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvpe(command[0], command, environment)

    def read_until(self, text, seconds=30):
        """What the shell prints until `text` shows."""
        said, end = "", time.monotonic() + seconds
        while text not in said:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise SystemExit(f"no {text!r} in {seconds} s; the shell printed:\n{said}")
            said += os.read(self.terminal, 65536).decode("utf-8", "replace")
        return said

    def send(self, text):
        os.write(self.terminal, text.encode())

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def last_words(shell, setup, environment):
    """The last word of each case after Tab, in bash or zsh."""
    terminal = Terminal([shell, "--norc" if shell == "bash" else "-f", "-i"], environment)
    terminal.send(setup + "; echo rea''dy\n")
    terminal.read_until("ready\r\n")
    found = []
    for typed, _ in CASES:
        terminal.send(typed + "\t")
        time.sleep(0.05)
        # The completed line becomes the arguments of a function; a space from the shell ends no word of its own.
        terminal.send("\x05 end\x01show \n")
        said = terminal.read_until("<end>\r\n")
        found.append(said.rsplit("<last ", 1)[1].split(">", 1)[0])
    terminal.send("exit\n")
    terminal.close()
    return found


SHOW = "show() { while (($# > 2)); do shift; done; printf '<last %s><%s>\\n' \"$@\"; }"


def of_bash(script, environment):
    return last_words("bash", f"PS1='$ '; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; {SHOW}; source {script}",
                      environment)


def of_zsh(script, environment):
    folder = os.path.dirname(script)
    setup = f"PS1='$ '; bindkey -e; unsetopt beep; {SHOW}; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D"
    return last_words("zsh", setup, environment)


def of_fish(script, environment):
    found = []
    for typed, expected in CASES:
        said = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'"], env=environment, check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        words = [line.split("\t")[0] for line in said.splitlines()]
        found.append(expected if words == [expected] else str(words))
    return found


def main():
    shell, warptime = sys.argv[1], os.path.abspath(sys.argv[2])
    if shutil.which(shell) is None:
        print(f"{shell} is not installed")
        return 77
    with tempfile.TemporaryDirectory() as home:
        script = os.path.join(home, "_warptime")
        subprocess.run([warptime, "completion", shell, "-o", script], check=True)
        environment = os.environ | {"PATH": os.path.dirname(warptime) + os.pathsep + os.environ["PATH"], "HOME": home,
                                    "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        found = {"bash": of_bash, "zsh": of_zsh, "fish": of_fish}[shell](script, environment)
    failures = 0
    for (typed, expected), got in zip(CASES, found, strict=True):
        if got.rstrip("/") != expected.rstrip("/"):  # zsh takes the slash back before a space
            failures += 1
            print(f"`{typed}` and Tab: {got}, not {expected}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
