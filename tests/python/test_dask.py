"""warptime.dask on a LocalCluster: the rows of one process, in their order, whatever becomes of its workers."""
import importlib.util
import os
import pickle
import signal
import threading
import time

import pytest

import warptime as w

distributed = pytest.importorskip("distributed")
dataframes = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

import dask.config  # noqa: E402
import warptime.dask  # noqa: E402

# Where pyarrow is there, later versions of dask make its kind of column of texts; here they are compared as one process has them.
dask.config.set({"dataframe.convert-string": False})

SWEEP = {"gpu": ["rtx-2080", "h200"], "K": [8, 10], "N": "64..640000:64"}  # 40,000 rows


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as of_three:
        with distributed.Client(of_three):
            yield of_three


@pytest.fixture(scope="module")
def whole():
    return w.predict("matrix", **SWEEP).to_pandas()


def pids(cluster):
    """Of the workers that run; one that is being started again has none."""
    return {worker.process.pid for worker in cluster.workers.values()} - {None}


def test_the_rows_are_those_of_one_process(cluster, whole):
    rows = warptime.dask.sweep("matrix", partitions=16, **SWEEP)
    assert rows.npartitions == 16
    pandas.testing.assert_frame_equal(rows.compute(), whole)


def test_partitions_without_rows_are_left_out(cluster):
    rows = warptime.dask.sweep("matrix", partitions=100, gpu="h200", K=8, N=[64, 128, 256])
    assert rows.npartitions == 3
    pandas.testing.assert_frame_equal(rows.compute(), w.predict("matrix", gpu="h200", K=8, N=[64, 128, 256]).to_pandas())


@pytest.mark.parametrize("model, n, partitions", [
    ("puchala", "64..6400:64", 1),  # 100 rows: not worth a second one
    ("puchala", "64..1280000:64", 4),  # 20,000, of 5,000 each
    ("puchala", "64..64000000:64", 32),  # a million: two workers end together, as they would not with ten
    ("puchala", "64..640000000:64", 100),  # ten million, of 100,000 each
    ("extended", "64..640000:64", 32),  # 10,000 rows that take as long as a million
])
def test_partitions_by_default_let_workers_end_together(model, n, partitions):
    options = {"gpu": "h200", "threads": "N", "model": model, "K": 8, "N": n}
    assert warptime.dask.sweep(os.path.abspath("dwt_kernels/mtx.cu"), **options).npartitions == partitions


def test_rankings_stay_together(cluster):
    rows = warptime.dask.sweep("matrix", partitions=4, K=8, N="2^6..2^12").compute()
    pandas.testing.assert_frame_equal(rows, w.predict("matrix", K=8, N="2^6..2^12").to_pandas())


def test_csv_is_that_of_one_process(cluster, whole, tmp_path):
    names = warptime.dask.sweep("matrix", partitions=12, **SWEEP).to_csv(str(tmp_path / "rows-*.csv"), index=False)
    assert len(names) == 12
    parts = [pandas.read_csv(name, float_precision="round_trip") for name in names]
    whole.to_csv(tmp_path / "whole.csv", index=False)
    pandas.testing.assert_frame_equal(pandas.concat(parts, ignore_index=True), pandas.read_csv(tmp_path / "whole.csv", float_precision="round_trip"))


def test_parquet(cluster, whole, tmp_path):
    pytest.importorskip("pyarrow")
    warptime.dask.sweep("matrix", partitions=4, **SWEEP).to_parquet(tmp_path / "rows")
    pandas.testing.assert_frame_equal(dataframes.read_parquet(tmp_path / "rows").compute(), whole)


def test_parquet_without_an_engine_names_what_is_missing(tmp_path):
    for engine in ("pyarrow", "fastparquet"):
        if importlib.util.find_spec(engine):
            pytest.skip(f"{engine} is there")
    rows = warptime.dask.sweep("matrix", gpu="h200", K=8, N=64)
    with pytest.raises(Exception, match="install either pyarrow or fastparquet|pyarrow.*not installed|No module named 'pyarrow'"):
        rows.to_parquet(tmp_path / "rows")
    assert not (tmp_path / "rows").exists(), "nothing is computed or written before"


def test_a_killed_worker_loses_and_doubles_nothing(cluster, whole, tmp_path):
    before = pids(cluster)
    gate = tmp_path / "killed"

    def waits_for_the_kill(rows):  # once some are written: the worker dies in the middle, however slow this process is
        while len(list(tmp_path.glob("*.csv"))) >= 5 and not gate.exists():
            time.sleep(0.01)
        return rows

    swept = warptime.dask.sweep("matrix", partitions=60, **SWEEP)
    swept = swept.map_partitions(waits_for_the_kill, meta=swept._meta, enforce_metadata=False)
    killed, written = [], []

    def kill():
        while len(list(tmp_path.glob("*.csv"))) < 5:
            time.sleep(0.01)
        written.append(len(list(tmp_path.glob("*.csv"))))
        killed.append(min(before))
        os.kill(killed[0], signal.SIGKILL)
        gate.touch()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    names = swept.to_csv(str(tmp_path / "rows-*.csv"), index=False)
    killer.join(60)
    assert killed and not killer.is_alive()
    assert 5 <= written[0] < 30, "in the middle"
    assert sorted(map(str, tmp_path.glob("*.csv"))) == sorted(names)
    found = pandas.concat([pandas.read_csv(name, float_precision="round_trip") for name in names], ignore_index=True)
    assert len(found) == len(whole)
    assert (found[["gpu", "K", "N"]] == whole[["gpu", "K", "N"]].reset_index(drop=True)).all().all()
    assert (found["time_us"] == whole["time_us"]).all()
    end = time.monotonic() + 120
    while len(pids(cluster)) < 3 and time.monotonic() < end:
        time.sleep(0.1)
    assert len(pids(cluster)) == 3 and killed[0] not in pids(cluster), "another process took its place"


def test_memory_is_bounded_by_the_partitions(cluster, tmp_path):
    small = {"gpu": "rtx-2080", "K": 8}

    def peak_kib():
        with open("/proc/self/status", encoding="ascii") as stream:
            return next(int(line.split()[1]) for line in stream if line.startswith("VmHWM"))

    def peak_kib_of_one_partition(folder):
        w.predict("matrix", N="64..320000:64", **small).to_pandas().to_csv(os.path.join(folder, f"{os.getpid()}.csv"))
        return peak_kib()

    client = distributed.get_client()
    client.wait_for_workers(3, timeout=120)
    # Every worker makes a partition first: which of them a sweep gives work to is the scheduler's choice, and one without work
    # has not loaded its libraries yet.
    # The first of a process that has just started also loads dask's own libraries, which client.run() does not.
    for k, worker in enumerate(client.scheduler_info()["workers"]):
        first = warptime.dask.sweep("matrix", partitions=1, N=f"64..{64 * (k + 10)}:64", **small)
        client.compute(first, workers=[worker], allow_other_workers=False).result(timeout=120)
    before = client.run(peak_kib_of_one_partition, str(tmp_path))
    rows = warptime.dask.sweep("matrix", partitions=40, N="64..12800000:64", **small)  # 200,000 rows of 5,000 a partition
    rows.to_csv(str(tmp_path / "b-*.csv"), index=False)
    after = client.run(peak_kib)
    assert len(before) == 3 and after.keys() == before.keys(), "the same processes"
    whole_kib = w.predict("matrix", N="64..12800000:64", **small).to_pandas().memory_usage(deep=True).sum() / 1024
    for worker, kib in after.items():
        assert kib - before[worker] < whole_kib / 4, (before, after, whole_kib)


def test_an_autotuners_space(cluster):
    kernels = [os.path.abspath(f"dwt_kernels/{name}.cu") for name in ("mtx", "mtx_inverse")]  # workers have folders of their own
    over = {"source": kernels, "flags": [[], ["-ffast-math"]],
            "launch": [(2**14 // block, block) for block in (64, 128, 256)]}
    options = {"gpu": ["h200", "rtx-2080"], "model": "extended", "K": 8, "N": 2**14}
    rows = warptime.dask.sweep(over=over, partitions=5, **options).compute().reset_index(drop=True)
    pandas.testing.assert_frame_equal(rows, w.sweep(over=over, **options).to_pandas())
    assert len(rows) == 2 * 2 * 3 * 2
    assert set(rows["source"]) == set(kernels)
    assert rows.groupby(["source", "flags", "block"]).size().tolist() == [2] * 12


def test_nothing_is_computed_before_it_is_asked_for(cluster):
    calls = []
    over = {"launch": [(64, 64), (64, 100000)]}  # the second one is wrong
    rows = warptime.dask.sweep(os.path.abspath("dwt_kernels/mtx.cu"), over=over, gpu="h200", K=8, N=4096)
    calls.append(rows)
    with pytest.raises(w.InputError) as raised:
        rows.compute()
    assert "100000" in str(raised.value)
    assert any(one.severity == "error" for one in raised.value.diagnostics)


@pytest.mark.parametrize("call, message", [
    (lambda: warptime.dask.sweep("matrix", gpu="h20", K=8, N=8), "unknown GPU"),
    (lambda: warptime.dask.sweep(gpu="h200", K=8, N=8), "there is no source"),
    (lambda: warptime.dask.sweep("matrix", gpu="h200", K=8, N=8, partitions=0), "at least 1"),
    (lambda: warptime.dask.sweep("matrix", gpu="h200", K=8, N=8, shard=(1, 2)), "shard"),
    (lambda: warptime.dask.sweep("matrix", over={}, gpu="h200"), "names no argument"),
    (lambda: warptime.dask.sweep("matrix", over={"source": ["mtx"]}, gpu="h200", K=8, N=8), "given twice"),
])
def test_wrong_arguments_are_found_at_once(call, message):
    with pytest.raises(w.WarptimeError) as raised:
        call()
    assert message in str(raised.value)


def test_an_exception_survives_a_process():
    with pytest.raises(w.ArgumentError) as raised:
        w.predict("matrix", gpu="h20", K=8, N=8)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert type(copy) is w.ArgumentError and copy.diagnostics == raised.value.diagnostics and str(copy) == str(raised.value)
