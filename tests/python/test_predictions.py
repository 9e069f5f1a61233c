"""predict, sweep, counters: the same as the command's, to the last digit."""
import os
import shutil
import subprocess
import sys
import types
import xml.etree.ElementTree

import numpy as np
import pytest

import warptime as w
from conftest import DATA, ROOT

GPUS = ["gt-720m", "rtx-2080", "v100", "a100", "h100-sxm", "h200", "l4"]


def check_against_csv(table, lines):
    header, rows = lines[0], lines[1:]
    assert list(table.columns) == header
    assert len(table) == len(rows)
    for found, expected in zip(table.array.tolist(), rows):
        for name, value, text in zip(header, found, expected):
            if isinstance(value, bool):
                assert text == str(value).lower(), name
            elif isinstance(value, (int, float)):
                assert value == float(text), name
            else:
                assert value == text, name


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("plan", ["matrix", "lattice"])
def test_a_plan_on_a_gpu(command, plan, gpu):
    table = w.predict(plan, gpu=gpu, K=[8, 10, 12, 14], N="2^6..2^20")
    check_against_csv(table, command.csv("predict", plan, "--gpu", gpu, "--param", "K=8,10,12,14", "--param", "N=2^6..2^20"))


@pytest.mark.parametrize("plan", ["matrix", "lattice"])
def test_all_gpus_are_ranked(command, plan):
    table = w.predict(plan, K=8, N=[1024, 2**20])
    check_against_csv(table, command.csv("predict", plan, "--param", "K=8", "--param", "N=1024,1048576"))
    assert list(table["rank"][:3]) == [1, 2, 3]
    assert table.excluded and "8800-gtx" in table.excluded


@pytest.mark.parametrize("model", ["puchala", "luo-suda", "extended", "all"])
def test_each_model(command, model):
    table = w.predict("dwt_kernels/mtx.cu", gpu="rtx-2080", grid=256, block=128, model=model, K=8, N=2**15)
    lines = command.csv("predict", "dwt_kernels/mtx.cu", "--gpu", "rtx-2080", "--grid", 256, "--block", 128, "--model", model,
                        "--param", "K=8", "--param", "N=2^15")
    check_against_csv(table, lines)


@pytest.mark.parametrize("options, words", [
    ({"t_p": 3.5}, ["--t-p", 3.5]),
    ({"t_m": 7}, ["--t-m", 7]),
    ({"t_p": 0.1 + 0.2}, ["--t-p", 0.1 + 0.2]),
    ({"best_launch": True}, ["--best-launch"]),
    ({"figures": {"clock": 1900}}, ["--set", "clock=1900"]),
    ({"jobs": 1}, ["--jobs", 1]),
    ({"model": "luo-suda"}, ["--model", "luo-suda"]),
])
def test_each_option(command, options, words):
    table = w.predict("matrix", gpu="rtx-2080", K=8, N=2**16, **options)
    check_against_csv(table, command.csv("predict", "matrix", "--gpu", "rtx-2080", "--param", "K=8", "--param", "N=2^16", *words))


@pytest.mark.parametrize("grid, block", [(64, 128), ((8, 8), (16, 8)), ("N / 128", 128), (("N / 64", 1, 1), (64, 1, 1)), ([4, 4, 4], [4, 4, 8])])
def test_launches_of_each_shape(command, grid, block):
    def text(sizes):
        return ",".join(map(str, sizes)) if isinstance(sizes, (tuple, list)) else str(sizes)

    table = w.predict("dwt_kernels/mtx.cu", gpu="h200", grid=grid, block=block, K=8, N=8192)
    check_against_csv(table, command.csv("predict", "dwt_kernels/mtx.cu", "--gpu", "h200", "--grid", text(grid), "--block", text(block),
                                         "--param", "K=8,N=8192"))


@pytest.mark.parametrize("name, launch, args", [
    ("triton_vector_add", {"grid": 1024, "block": 128}, [None, None, None, 2**20, None, None]),
    ("triton_row_softmax", {"grid": 1024, "block": 128, "shared": 16}, [None, None, 1000, None, None]),
    ("numba_saxpy", {"grid": 4096, "block": 256}, [2.0, np.zeros(2**20, np.float32), np.zeros(2**20, np.float32), 2**20]),
    ("numba_row_sums", {"grid": 8, "block": 128}, [np.zeros((1024, 512), np.float32), np.zeros(1024, np.float32), 512]),
])
@pytest.mark.parametrize("gpu", ["rtx-2080", "h100-sxm"])
def test_ptx_of_triton_and_numba_in_one_call(command, ptx, name, launch, args, gpu):
    table = w.predict(ptx(name), gpu=gpu, args=args, **launch)
    program = w.analyze(ptx(name))[0]
    (parameter,) = program.parameters
    words = [f"--{key}={value}" for key, value in launch.items()]
    value = int(table[parameter][0])
    lines = command.csv("predict", DATA / f"{name}.ptx", "--gpu", gpu, "--param", f"{parameter}={value}", *words)
    check_against_csv(table, lines)
    assert value == {"triton_vector_add": 2**20, "triton_row_softmax": 1000, "numba_saxpy": 2**20, "numba_row_sums": 512}[name]


def test_a_kernel_that_triton_compiled_is_a_source(ptx):
    compiled = types.SimpleNamespace(asm={"ptx": ptx("triton_vector_add")})
    launch = {"gpu": "h200", "grid": 64, "block": 128, "args": {"param_3": 65536}}
    assert w.predict(compiled, **launch).time_us == w.predict(ptx("triton_vector_add"), **launch).time_us


def test_bytes_are_a_text(ptx):
    launch = {"gpu": "h200", "grid": 64, "block": 128, "args": {"param_3": 65536}}
    assert w.predict(ptx("triton_vector_add").encode(), **launch).time_us > 0


def test_a_program_is_predicted():
    program = w.read_programs("samples/puchala2022/listing_7.yaml")[0]
    of_object = w.predict(program, gpu="rtx-2080", threads="N", t_p=5.2, t_m=1.1, model="puchala", K=8, N=65536)
    of_plan = w.predict("matrix", gpu="rtx-2080", K=8, N=65536)
    assert of_object.time_us == of_plan.time_us


def test_a_plan_of_python_objects():
    program = w.read_programs("samples/puchala2022/listing_7.yaml")[0]
    plan = w.Plan("mine", [{"kernel": "body.yaml", "threads": "N"}], {"K": "filter", "N": "size"}, kernels={"body.yaml": program})
    assert w.predict(plan, gpu="rtx-2080", t_p=5.2, t_m=1.1, model="puchala", K=8, N=65536).time_us == w.predict("matrix", gpu="rtx-2080", K=8, N=65536).time_us


def test_a_calibration_is_a_text():
    text = "warptime: 1\nplan: matrix\ncalibrations:\n  h200: {t_p: 3, t_m: 4}\n"
    row = w.predict("matrix", gpu="h200", calibration=text, K=8, N=1024).to_dicts()[0]
    assert (row["t_p_us"], row["t_m_cycles"], row["t_p_source"]) == (3, 4, "calibration file")


def test_the_fields_have_types():
    types_ = w.predict("matrix", gpu="h200", K=8, N=1024).array.dtype
    assert types_["time_us"] == np.float64 and types_["N"] == np.int64 and types_["gpu"].kind == types_["notes"].kind == "U"


def test_rows_are_chosen_with_a_mask():
    table = w.predict("matrix", gpu=["h200", "l4"], K=[8, 10], N=1024)
    chosen = table[table["gpu"] == "l4"]
    assert isinstance(chosen, w.Prediction) and set(chosen["gpu"]) == {"l4"} and len(chosen) == 2
    assert chosen.parts == table.parts
    assert table[:3]["K"].tolist() == [8, 10, 8]
    assert table.fastest()["time_us"] == table["time_us"].min()
    assert [row["K"] for row in table] == [8, 10, 8, 10]


def test_pandas_has_the_same_values():
    pandas = pytest.importorskip("pandas")
    table = w.predict("matrix", gpu=["h200", "l4"], K=[8, 10], N=[1024, 2048])
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(table.columns)
    assert frame["time_us"].tolist() == table["time_us"].tolist()
    assert frame.groupby("gpu")["time_us"].min()["l4"] == table[table["gpu"] == "l4"]["time_us"].min()


def test_the_parts_sum_to_the_time():
    table = w.predict("matrix", gpu="rtx-2080", K=8, N="2^6..2^20")
    summed = sum(table[key] for key in table.parts)
    assert np.allclose(summed, table["time_us"], rtol=1e-12)


def test_csv_reads_back(command):
    table = w.predict("matrix", gpu="h200", K=8, N=[1024, 2048])
    assert table.to_csv().splitlines()[0].split(",") == list(table.columns)
    assert float(table.to_csv().splitlines()[1].split(",")[table.columns.index("time_us")]) == table["time_us"][0]


def test_a_block_is_tuned():
    blocks = [64, 128, 256, 512]
    launches = [(2**16 // block, block) for block in blocks]
    table = w.sweep("dwt_kernels/mtx.cu", over={"launch": launches}, gpu="h200", K=8, N=2**16)
    assert table["threads_per_block"].tolist() == blocks
    single = w.predict("dwt_kernels/mtx.cu", gpu="h200", grid=512, block=128, K=8, N=2**16)
    assert table["time_us"][1] == single.time_us


def test_a_sweep_names_what_it_varies():
    table = w.sweep("matrix", over={"t_m": [1, 20], "t_p": [3, 5]}, gpu="h200", K=8, N=1024)
    assert len(table) == 4 and table["t_m_cycles"].tolist() == [1, 1, 20, 20] and table["t_p_us"].tolist() == [3, 5, 3, 5]
    cold = w.sweep("dwt_kernels/mtx.cu", over={"caches": ["warm", "cold"]}, gpu="h200", grid=512, block=128, K=8, N=2**16, model="extended")
    assert cold["caches"].tolist() == ["warm", "cold"] and cold["time_us"][0] < cold["time_us"][1]


@pytest.mark.parametrize("over", [{}, {"block": []}])
def test_a_sweep_over_nothing_is_refused(over):
    with pytest.raises(w.ArgumentError):
        w.sweep("matrix", over=over, K=8, N=1024)


@pytest.mark.parametrize("caches", ["warm", "cold"])
def test_counters_equal_the_command(command, caches):
    words = ["counters", "dwt_kernels/mtx.cu", "--grid", 512, "--block", 128, "--param", "K=8,N=65536", "--gpu", "h100-sxm", "--caches", caches]
    row = w.counters("dwt_kernels/mtx.cu", grid=512, block=128, gpu="h100-sxm", caches=caches, K=8, N=65536).to_dicts()[0]
    (expected,) = command.json(*words)
    for name, value in expected["metrics"].items():
        assert (np.isnan(row[name]) if value is None else row[name] == value), name
    assert row["kernel"] == expected["kernel"] and row["grid"] == "512x1x1"


def test_a_prediction_is_shown_in_a_notebook():
    table = w.predict("matrix", K=8, N=1024)
    assert table._repr_html_().count("<tr>") == len(table) + 1
    assert table._repr_svg_().startswith("<svg") and table._repr_svg_().count("<rect") == 30
    assert "time_us" in repr(table)


def test_more_rows_than_are_shown():
    shown = w.predict("matrix", gpu="h200", K=8, N="64..8192:64")._repr_html_()
    assert shown.count("<tr>") == 51 and "and 78 rows more" in shown


def test_a_table_prints_its_first_rows_aligned():
    lines = repr(w.predict("matrix", gpu="h200", K=8, N="64..8192:64")).splitlines()
    assert len(lines) == 12 and lines[-1] == "… 128 rows"
    assert len({len(line) for line in lines[:-1]}) == 1


def test_long_notes_are_whole(command):
    table = w.counters("matrix", gpu="h200", K=8, N=65536)
    (expected,) = command.json("counters", "matrix", "--gpu", "h200", "--param", "K=8,N=65536")
    assert table["notes"][0] == "; ".join(expected["notes"]) and len(table["notes"][0]) > 128
    assert table.array.dtype["notes"] == object


@pytest.mark.parametrize("values, text", [
    (np.int32(8), "8"), (np.array([8, 10]), "8,10"), (range(8, 15, 2), "8..14:2"), ((8, 12), "8,12"), ("2^3..2^5", "2^3..2^5"), (8, "8"),
])
def test_values_of_each_type(command, values, text):
    check_against_csv(w.predict("matrix", gpu="h200", K=values, N=1024), command.csv("predict", "matrix", "--gpu", "h200", "--param", f"K={text}", "--param", "N=1024"))


def test_a_numpy_scalar_is_an_argument(ptx):
    launch = {"gpu": "h100-sxm", "grid": 1024, "block": 128}
    found = w.predict(ptx("triton_vector_add"), args=[None, None, None, np.int64(2**20), None, None], **launch)
    assert found["param_3"][0] == 2**20


def test_the_tour_draws_its_figures(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(w.__file__)))}
    for folder in ("samples", "dwt_kernels"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    said = subprocess.run([sys.executable, "samples/python/tour.py"], check=True, cwd=tmp_path, capture_output=True, text=True, env=environment).stdout
    assert said.startswith("Figure 9: 10 predicted times; the measured ones are missing") and "best block on the H200" in said
    for figure in ("figure_9.svg", "ranking.svg"):
        xml.etree.ElementTree.parse(tmp_path / "out" / figure)
    assert len((ROOT / "samples/python/tour.py").read_text().splitlines()) <= 40


def test_the_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(w.__file__))), "MPLBACKEND": "Agg"}
    for folder in ("samples", "dwt_kernels", "data"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    said = subprocess.run([sys.executable, "samples/python/figures.py"], check=True, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert said.stdout == "block.png figure_9.png ranking.png\n"
    assert len((ROOT / "samples/python/figures.py").read_text().splitlines()) <= 40


@pytest.mark.parametrize("count", [1, 3, 7, 40])
def test_shards_are_the_rows(count):
    whole = w.predict("matrix", gpu=["h200", "rtx-2080"], K=[8, 10], N="2^6..2^12")
    parts = [w.predict("matrix", gpu=["h200", "rtx-2080"], K=[8, 10], N="2^6..2^12", shard=(i + 1, count)) for i in range(count)]
    assert np.concatenate([part.array for part in parts]).tolist() == whole.array.tolist()
    assert all(part.total_rows == len(whole) == 28 for part in parts)
    assert [part.first_row for part in parts] == [sum(len(p) for p in parts[:i]) for i in range(count)]


def test_there_is_no_part_5_of_4():
    with pytest.raises(w.ArgumentError, match="no part 5 of 4"):
        w.predict("matrix", gpu="h200", K=8, N=64, shard=(5, 4))
