"""Errors are exceptions with the diagnostics as data; Ctrl-C ends long work; the GIL is released."""
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import warptime as w

LONG = {"gpu": "rtx-2080", "K": [8, 10, 12, 14], "N": "64..200000000:64"}  # 12.5 million rows


@pytest.mark.parametrize("call, kind, message, hint", [
    (lambda: w.predict("matrix", gpu="h20", K=8, N=8), w.ArgumentError, "unknown GPU `h20`", "did you mean `h200`?"),
    (lambda: w.predict("matrx", K=8, N=8), w.InputError, "matrx", "matrix"),
    (lambda: w.predict("matrix", gpu="h200", K=8), w.InputError, "N", ""),
    (lambda: w.predict("matrix", gpu="h200", K=8, N=8, Z=3), w.InputError, "Z", ""),
    (lambda: w.predict("matrix", gpu="h200", K="eight", N=8), w.ArgumentError, "eight", ""),
    (lambda: w.predict("matrix", gpu="h200", K=8, N=8, t_p=-1), w.ArgumentError, "-1", ""),
    (lambda: w.predict("matrix", gpu="h200", K=8, N=8, t_m=float("nan")), w.ArgumentError, "nan", ""),
    (lambda: w.predict("matrix", gpu="h200", K=8, N=8, model="newton"), w.ArgumentError, "newton", ""),
    (lambda: w.predict("matrix", gpu="h200", K=8, N=8, jobs=0), w.ArgumentError, "1 to 1024", ""),
    (lambda: w.predict("matrix", gpu="h200", K=8, N=8, figures={"colour": 3}), w.ArgumentError, "colour", ""),
    (lambda: w.predict("matrix", gpu="h200", K=8, N=8, caches="tepid"), w.ArgumentError, "tepid", ""),
    (lambda: w.predict("matrix", gpu="h200", K=8, N=8, assume={"x y": 3}), w.ArgumentError, "x y", ""),
    (lambda: w.predict("none.cu", grid=1, block=1), w.InputError, "no such file", ""),
    (lambda: w.predict("dwt_kernels/mtx.cu", gpu="h200", grid=1, K=8, N=8), w.ArgumentError, "--block", ""),
    (lambda: w.predict("dwt_kernels/mtx.cu", gpu="h200", grid=1, block=2048, K=8, N=8), w.InputError, "2048", ""),
    (lambda: w.predict("dwt_kernels/mtx.cu", gpu="h200", grid=1, block="1 +", K=8, N=8), w.ArgumentError, "", ""),
    (lambda: w.predict("dwt_kernels/mtx.cu", gpu="h200", grid=(1, 1, 1, 1), block=1, K=8, N=8), w.ArgumentError, "", ""),
    (lambda: w.predict("", grid=1, block=1), w.ArgumentError, "empty", ""),
    (lambda: w.predict("-", grid=1, block=1), w.ArgumentError, "standard input", "text"),
    (lambda: w.predict("dwt_kernels/mtx.cu", gpu="h200", grid=1, block=1, args={"K": 8}, K=8, N=8), w.ArgumentError, "K is given twice", ""),
    (lambda: w.predict("dwt_kernels/mtx.cu", gpu="h200", grid=1, block=1, args=[8]), w.ArgumentError, "argument 1 (int N)", ""),
    (lambda: w.predict("dwt_kernels/mtx.cu", gpu="h200", grid=1, block=1, args="8"), w.ArgumentError, "args is a text", ""),
    (lambda: w.analyze("dwt_kernels"), w.InputError, "directory", ""),
    (lambda: w.analyze("dwt_kernels/mtx.cu", kernel="nope"), w.InputError, "nope", ""),
    (lambda: w.analyze("dwt_kernels/mtx.cu", arch="sm_1"), w.InputError, "sm_1", ""),
    (lambda: w.analyze("samples/puchala2022/matrix.plan.yaml"), w.InputError, "is a plan", ""),
    (lambda: w.analyze("dwt_kernels/mtx.cu", block=(64, 64)), w.ArgumentError, "4096", ""),
    (lambda: w.analyze("dwt_kernels/mtx.cu", compiler="gcc"), w.ArgumentError, "gcc", ""),
    (lambda: w.analyze(".version 7.0\n.target sm_70\n.entry k() { frobnicate.u32 %r1; }\n"), w.InputError, "", ""),
    (lambda: w.listing("dwt_kernels/mtx.cu", emit="poem"), w.ArgumentError, "poem", ""),
    (lambda: w.simulate("samples/puchala2022/listing_7.yaml", warps=0, t_m=2, K=8), w.ArgumentError, "at least 1", ""),
    (lambda: w.simulate("samples/puchala2022/listing_7.yaml", warps=1, K=8), w.ArgumentError, "--t-m", ""),
    (lambda: w.simulate("samples/puchala2022/listing_7.yaml", warps=1, t_m=2), w.InputError, "K", ""),
    (lambda: w.simulate("dwt_kernels/mtx.cu", warps=1, t_m=2), w.InputError, "is code", ""),
    (lambda: w.gpus("h20"), w.ArgumentError, "h20", "h200"),
    (lambda: w.gpus("--help"), w.ArgumentError, "unknown GPU `--help`", ""),
    (lambda: w.predict("samples/puchala2022/listing_7.yaml", gpu="h200", threads=64, args=[8]), w.WarptimeError, "", ""),
    (lambda: w.predict(w.read_programs("samples/puchala2022/listing_7.yaml")[0], gpu="h200", threads=64, args=[8]), w.ArgumentError, "which of the kernel's arguments", "by name: K"),
    (lambda: w.predict("matrix", gpu="h200", K=[], N=8), w.ArgumentError, "a value is missing", ""),
    (lambda: w.predict("matrix", gpu="h200", K=8.5, N=8), w.ArgumentError, "not a whole number", ""),
    (lambda: w.analyze("dwt_kernels/mtx.cu", flags=["-o", "x"]), w.InputError, "cannot pass `-o`", ""),
    (lambda: w.measure("mtx", K=8, N=1024, what="colours"), w.ArgumentError, "colours", ""),
    (lambda: w.gpus(gpu_dir="nowhere"), w.InputError, "nowhere", ""),
    (lambda: w.plan_of("int main() { return 0; }\n"), w.InputError, "no launch", ""),
    (lambda: w.measure("matrix", dry_run=True, K=8, N=8), w.WarptimeError, "--dry-run needs --gpu", ""),
    (lambda: w.calibrate("mtx", "nowhere.csv"), w.InputError, "no such file", ""),
    (lambda: w.compare("mtx", "plan,gpu,K\nmtx,h200,8\n"), w.InputError, "", ""),
    (lambda: w.counters("matrix", gpu="h20", K=8, N=8), w.ArgumentError, "h20", "h200"),
])
def test_an_exception_has_the_diagnostics(call, kind, message, hint):
    with pytest.raises(kind) as raised:
        call()
    assert any(one.severity == "error" for one in raised.value.diagnostics)
    assert message in str(raised.value)
    assert hint in str(raised.value)


def test_a_mistake_in_code_has_its_place():
    source = "__global__ void k(float* x) {\n  x[0] = y;\n}\n"
    with pytest.raises(w.InputError) as raised:
        w.analyze(source, name="mine.cu")
    assert "mine.cu:2:10: error: use of undeclared identifier 'y'" in str(raised.value)


def test_a_missing_file_is_data():
    with pytest.raises(w.WarptimeError) as raised:
        w.analyze("none.cu")
    (one,) = raised.value.diagnostics
    assert (one.severity, one.file, one.message, str(one)) == ("error", "none.cu", "no such file", "none.cu: error: no such file")


def test_exceptions_are_value_errors():
    for kind in (w.InputError, w.ArgumentError):
        assert issubclass(kind, w.WarptimeError) and issubclass(kind, ValueError)


def test_a_source_of_another_type_is_refused():
    with pytest.raises(TypeError, match="neither a text, a path nor a program: int"):
        w.analyze(3)


def test_an_error_leaves_the_next_call_alone():
    for _ in range(3):
        with pytest.raises(w.InputError):
            w.analyze("__global__ void k( {\n}\n")
        assert w.predict("matrix", gpu="h200", K=8, N=1024).time_us > 0


def test_nothing_is_printed(capfd):
    w.predict("matrix", gpu="h200", K=8, N=1024)
    w.simulate("samples/puchala2022/listing_7.yaml", warps=1, t_m=2, K=8)
    with pytest.raises(w.WarptimeError):
        w.predict("matrix", gpu="h20", K=8, N=1024)
    assert capfd.readouterr() == ("", "")


def test_notes_stay_with_the_result():
    found = w.simulate(w.Program([w.Load(access="coalesced")]), warps=1, t_m=2)
    assert [one.severity for one in found.diagnostics] == ["note"]
    assert "durations of memory accesses open" in found.diagnostics[0].message


def test_warnings_are_python_s():
    source = "__global__ void k(float* x) {\n  int unused = 3; x[0] = x[1] / 0;\n}\n"
    with pytest.warns(w.WarptimeWarning, match="division by zero"):
        w.analyze(source.replace("x[1] / 0", "1 / 0"))


def test_a_compilation_that_takes_too_long_is_an_exception():
    # Nested templates keep clang busy for some seconds.
    source = ("template <int N, int M> struct F { static const int v = F<N - 1, M>::v + F<N - 1, M + 1>::v; };\n"
              "template <int M> struct F<0, M> { static const int v = M; };\n"
              "__global__ void k(int* x) { x[0] = F<350, 0>::v; }\n")
    with pytest.raises(w.InputError, match="takes longer than"):
        w.analyze(source, max_time=0.05, flags=["-ftemplate-depth=2000"])
    assert w.analyze("__global__ void k(int* x) { x[0] = 1; }\n").kernels == ("k",)


def seconds_of_work(pid, threads):
    """The processor time of a process by thread: what a clock shows where the machine does nothing else."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stream:
        user, system = stream.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") / threads


def test_a_signal_handler_s_exception_ends_a_sweep():
    class Enough(Exception):
        pass

    def handle(number, frame):
        raise Enough

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        begin = seconds_of_work(os.getpid(), os.cpu_count())
        with pytest.raises(Enough):
            w.predict("matrix", **LONG)
        assert seconds_of_work(os.getpid(), os.cpu_count()) - begin < 3
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert w.predict("matrix", gpu="h200", K=8, N=1024).time_us > 0


@pytest.mark.parametrize("statement, threads", [
    ("w.predict('matrix', gpu='rtx-2080', K=[8, 10, 12, 14], N='64..200000000:64')", os.cpu_count()),
    ("w.sweep('matrix', over={'t_m': range(1, 10**6)}, gpu='rtx-2080', K=8, N=1024)", 1),
    ("w.analyze('template <int N, int M> struct F { static const int v = F<N - 1, M>::v + F<N - 1, M + 1>::v; };\\n'"
     "'template <int M> struct F<0, M> { static const int v = M; };\\n'"
     "'__global__ void k(int* x) { x[0] = F<350, 0>::v; }\\n', flags=['-ftemplate-depth=2000'])", 1),
], ids=["predict", "sweep", "analyze"])
def test_ctrl_c_raises_keyboard_interrupt(statement, threads):
    program = f"import warptime as w, sys\nprint('begun', flush=True)\ntry:\n    {statement}\nexcept KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.3)
        begin = seconds_of_work(process.pid, threads)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert seconds_of_work(process.pid, threads) - begin < 3
        process.wait(timeout=120)
        assert process.returncode in (0, 130)  # 130: a compilation in the background was cut off


def test_other_threads_run_meanwhile():
    counted = 0
    ended = threading.Event()

    def count():
        nonlocal counted
        while not ended.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    w.predict("matrix", gpu="rtx-2080", K=8, N="64..20000000:64")
    ended.set()
    thread.join()
    assert counted > 10


def test_calls_from_several_threads_agree():
    results = {}

    def call(size):
        results[size] = w.predict("matrix", gpu="h200", K=8, N=size).time_us

    threads = [threading.Thread(target=call, args=(size,)) for size in range(1024, 9216, 1024)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {size: w.predict("matrix", gpu="h200", K=8, N=size).time_us for size in results}


def test_progress_is_reported():
    seen = []
    rows = w.predict("matrix", gpu="rtx-2080", K=8, N="64..20000000:64", progress=lambda done, total: seen.append((done, total)))
    assert seen and all(total == len(rows) for _, total in seen)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_an_exception_of_the_progress_function_ends_the_work():
    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        w.predict("matrix", progress=stop, **LONG)


def test_tqdm_shows_a_bar(capfd):
    pytest.importorskip("tqdm")
    w.predict("matrix", gpu="rtx-2080", K=8, N="64..20000000:64", progress=True)
    assert "predict" in capfd.readouterr().err


def test_progress_works_without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert w.predict("matrix", gpu="rtx-2080", K=8, N=1024, progress=True).time_us > 0


def test_the_process_ends_with_its_own_status():
    ended = subprocess.run([sys.executable, "-c", "import warptime, os\nwarptime.gpus()\nraise SystemExit(7)"], check=False)
    assert ended.returncode == 7


def test_a_temporary_file_is_not_left(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "import warptime\nwarptime.analyze('__global__ void k(int* x) { x[0] = 1; }\\n')"],
                   check=True, env=environment)
    assert not list(tmp_path.iterdir())
