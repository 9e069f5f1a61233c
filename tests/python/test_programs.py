"""Kernel programs: analysed, built, taken apart, simulated."""
import json

import numpy as np
import pytest

import warptime as w
from conftest import ROOT

SAMPLES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "samples/puchala2022").glob("listing_*.yaml"))
MODELS = sorted(str(p.relative_to(ROOT)) for p in [*ROOT.glob("samples/*/models/*.yaml"), *ROOT.glob("dwt_kernels/models/*.yaml")])[:40]
KERNEL = """
__global__ void scale(float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
"""


@pytest.mark.parametrize("path", SAMPLES + MODELS)
def test_a_program_survives_python_objects(path):
    for program in w.read_programs(path):
        data = program.to_dict()
        assert w.Program.from_dict(data).to_dict() == data
        again = w.read_programs(program.to_text())[0]
        assert again.to_dict() == data


@pytest.mark.parametrize("path", SAMPLES)
@pytest.mark.parametrize("warps", [1, 3, 16])
def test_simulation_equals_the_command_to_the_last_digit(command, path, warps):
    parameters = {"K": 8, "L": 5} if path.endswith("listing_9.yaml") else {"K": 8}
    uses = {name: value for name, value in parameters.items() if f" {name}" in open(path).read()}
    params = [f"--param={name}={value}" for name, value in uses.items()]
    try:
        expected = command.json("simulate", path, "--warps", warps, "--t-m", 6.7, *params)
    except Exception:
        with pytest.raises(w.InputError):
            w.simulate(path, warps=warps, t_m=6.7, **uses)
        return
    row = w.simulate(path, warps=warps, t_m=6.7, **uses).to_dicts()[0]
    assert row["cycles"] == expected["cycles"]
    assert row["periods"] == expected["periods"]
    assert {key: row[key] for key in expected["breakdown"]} == expected["breakdown"]


@pytest.mark.parametrize("emit", ["ptx", "cfg", "loops", "periods", "listing", "program"])
def test_each_step_is_the_command_s(command, emit):
    assert w.listing("dwt_kernels/mtx.cu", emit=emit) == command.text("analyze", "dwt_kernels/mtx.cu", "--emit", emit)


@pytest.mark.parametrize("file", ["dwt_kernels/mtx.cu", "tests/python/data/numba_saxpy.ptx", "tests/python/data/triton_row_softmax.ptx"])
def test_analysis_equals_the_command(command, file):
    assert w.analyze(file)[0].to_dict() == command.json("analyze", file)


def test_a_text_is_analysed_as_a_file_is(tmp_path):
    file = tmp_path / "scale.cu"
    file.write_text(KERNEL)
    of_file, of_text = w.analyze(file)[0], w.analyze(KERNEL, name="scale.cu")[0]
    assert of_text.items == of_file.items
    assert of_text.kernel == "scale" and of_text.more["source"] == "scale.cu"


def test_kernels_are_found_by_name():
    analysis = w.analyze(KERNEL + KERNEL.replace("scale", "other"))
    assert analysis.kernels == ("scale", "other")
    assert analysis["other"].kernel == "other"
    with pytest.raises(KeyError):
        analysis["third"]
    assert [one.kernel for one in w.analyze(KERNEL + KERNEL.replace("scale", "other"), kernel="other")] == ["other"]


def test_a_program_is_built_by_hand():
    built = w.Program([w.Calc(33), w.Repeat("K", [w.Load(120), w.Load(160), w.Calc(17)]), w.Store(100)])
    text = "program:\n  - calc: 33\n  - repeat: K\n    body:\n      - load: 120\n      - load: 160\n      - calc: 17\n  - store: 100\n"
    assert w.read_programs(text)[0].items == built.items
    assert w.simulate(built, warps=8, t_m=2, K=8).cycles == w.simulate(text, warps=8, t_m=2, K=8).cycles


def test_a_condition_takes_one_branch():
    program = w.Program([w.When("K > 4", [w.Calc(100)], [w.Calc(10)])])
    assert [w.simulate(program, warps=1, t_m=2, K=k)["calculation"][0] for k in (4, 5)] == [10, 100]


def test_an_open_duration_comes_from_the_gpu():
    program = w.Program([w.Load(access="scattered", bytes=4, sectors=32)])
    cycles = {gpu: w.simulate(program, warps=1, gpu=gpu).cycles for gpu in ("rtx-2080", "gt-720m")}
    for gpu, found in cycles.items():
        fixed = w.Program([w.Load(w.gpus(gpu).figures["memory_cycles"]["load"]["scattered"])])
        assert found == w.simulate(fixed, warps=1, t_m=w.gpus(gpu).figures["t_m_cycles"]).cycles


def test_a_program_is_taken_apart():
    program = w.read_programs("samples/puchala2022/listing_7.yaml")[0]
    kinds = [type(item).__name__ for _, item in program.walk()]
    assert kinds.count("Repeat") == 1 and "Load" in kinds and "Store" in kinds
    loop = next(item for _, item in program.walk() if isinstance(item, w.Repeat))
    before = w.simulate(program, warps=4, t_m=2, K=8).cycles
    loop.body.append(w.Calc(1000))
    assert w.simulate(program, warps=4, t_m=2, K=8).cycles > before + 8 * 1000


@pytest.mark.parametrize("data", [{}, {"calculate": 3}, {"lines": "3"}])
def test_what_is_no_item_is_refused(data):
    with pytest.raises(ValueError, match="not an item"):
        w.Program.from_dict({"program": [data]})


def test_an_access_without_duration_or_kind_is_refused():
    with pytest.raises(ValueError, match="a load needs cycles or access"):
        w.Load().to_dict()


@pytest.mark.parametrize("text, line", [("program:\n  - calc: -3\n", 2), ("program:\n  - load: {access: sideways}\n", 2), ("program: 3\n", 1)])
def test_a_wrong_program_says_where(text, line):
    with pytest.raises(w.InputError) as raised:
        w.read_programs(text)
    assert raised.value.diagnostics[0].line == line
    assert raised.value.diagnostics[0].file == "<string>"


def test_a_sweep_of_warps_has_a_row_for_each():
    rows = w.simulate("samples/puchala2022/listing_7.yaml", warps="1..16", t_m=2, K=[8, 10])
    assert len(rows) == 32 and rows.array.dtype["warps"] == np.int64
    assert sorted(set(rows["K"])) == [8, 10]
    with pytest.raises(ValueError, match="32 rows"):
        rows.cycles


def test_a_timeline_is_what_the_command_draws(command):
    words = ["simulate", "samples/puchala2022/listing_1_load.yaml", "--warps", 3, "--t-m", 2, "--timeline"]
    drawn = w.timeline("samples/puchala2022/listing_1_load.yaml", warps=3, t_m=2)
    assert drawn.svg == drawn._repr_svg_() == command.text(*words, "svg")
    assert drawn.text == command.text(*words, "text") == repr(drawn) + "\n"


def test_a_program_is_shown_in_a_notebook():
    shown = w.Program([w.Repeat("<K>", [w.Load(access="coalesced", sectors=4)])], kernel="a<b>")._repr_html_()
    assert "a&lt;b&gt;" in shown and "&lt;K&gt;" in shown and "access coalesced, sectors 4" in shown and "<K>" not in shown


def test_json_of_a_program_is_what_it_writes():
    program = w.Program([w.Store(100, more={"lines": "7"})], kernel="k")
    assert json.loads(program.to_text()) == {"kernel": "k", "program": [{"store": 100, "lines": "7"}]}
