"""gpus, plan_of, measure, calibrate, compare."""
import numpy as np
import pytest

import warptime as w
from conftest import ROOT

ONE_DIMENSION = "data/h200_one_dimension.csv"
PROGRAM = """
__global__ void scale(float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
int main() {
  float* x;
  cudaMalloc(&x, 4096 * sizeof(float));
  scale<<<32, 128>>>(x, 2.0f, 4096);
  return 0;
}
"""
ALL = [gpu.name for gpu in w.gpus()]


@pytest.fixture(scope="module")
def catalogue(command):
    return {gpu["name"]: gpu for gpu in command.json("gpus")}


@pytest.mark.parametrize("name", ALL)
def test_a_gpu_has_the_figures_of_its_file(catalogue, name):
    gpu = next(one for one in w.gpus() if one.name == name)
    assert gpu.figures == catalogue[name]
    assert (gpu.clock_mhz, gpu.sms) == (catalogue[name]["clock_mhz"], catalogue[name]["sms"])


def test_the_catalogue_is_the_command_s(catalogue):
    assert ALL == list(catalogue)


def test_one_gpu(command):
    gpu = w.gpus("rtx-2080")
    assert gpu.figures == command.json("gpus", "rtx-2080") and gpu.title in gpu._repr_html_()


def test_a_folder_of_one_s_own(tmp_path):
    text = open("simulator/gpu/catalogue/rtx-2080.yaml").read().replace("rtx-2080", "mine")
    (tmp_path / "mine.yaml").write_text(text)
    assert w.gpus("mine", gpu_dir=tmp_path).sms == w.gpus("rtx-2080").sms
    mine = w.predict("matrix", gpu="mine", gpu_dir=tmp_path, t_p=1, t_m=2, K=8, N=1024)
    assert mine.time_us == w.predict("matrix", gpu="rtx-2080", t_p=1, t_m=2, K=8, N=1024).time_us


def test_the_launches_of_a_program(command, tmp_path):
    file = tmp_path / "scale.cu"
    file.write_text(PROGRAM)
    assert w.plan_of(file).text == command.text("plan", file)
    plan = w.plan_of(PROGRAM, name="scale.cu")
    assert "entry: scale" in plan.text and "grid: [32]" in plan.text
    assert w.predict(plan, gpu="h200").time_us == w.predict(PROGRAM, gpu="h200").time_us


def test_a_source_with_launches_is_predicted():
    row = w.predict(PROGRAM, gpu="h200").to_dicts()[0]
    assert (row["grid"], row["block"], row["launches"]) == ("32x1x1", "128x1x1", 1)


def test_a_dry_run_needs_no_gpu(command):
    words = ["measure", "mtx", "--gpu", "h200", "--param", "K=8,N=1024", "--dry-run"]
    assert w.measure("mtx", gpu="h200", dry_run=True, K=8, N=1024) == command.text(*words)


def test_a_kernel_is_measured_with_its_arguments():
    launches = w.measure(PROGRAM, gpu="h200", dry_run=True, grid="n / 128", block=128, arguments={"x": "random:f32:n", "a": 2}, n=4096)
    assert "scale<<<32, 128>>>" in launches and "4096 x f32" in launches


@pytest.fixture(scope="module")
def fitted():
    return w.calibrate("mtx", (ROOT / ONE_DIMENSION).read_text(), gpu="h200", what="plan")


def test_a_calibration_equals_the_command(command, fitted):
    expected = command.json("calibrate", "mtx", ONE_DIMENSION, "--gpu", "h200", "--what", "plan")
    assert fitted["h200"]["t_p_us"] == expected["fits"][0]["t_p_us"]
    assert fitted["h200"]["t_m_cycles"] == expected["fits"][0]["t_m_cycles"]
    with pytest.raises(KeyError):
        fitted["l4"]


def test_a_calibration_predicts(fitted):
    row = w.predict("mtx", gpu="h200", calibration=fitted, K=8, N=1024).to_dicts()[0]
    assert row["t_p_us"] == pytest.approx(fitted["h200"]["t_p_us"], rel=1e-3) and row["t_p_source"] == "calibration file"


def test_constants_can_be_given(command):
    fit = w.calibrate("mtx", ONE_DIMENSION, gpu="h200", what="plan", t_p=5)
    assert fit["h200"]["t_p_us"] == 5 and not fit["h200"]["t_p_fitted"]


@pytest.mark.parametrize("as_source", ["path", "text", "frame", "table"])
def test_a_comparison_equals_the_command(command, as_source):
    measurements = ONE_DIMENSION
    if as_source == "text":
        measurements = open(ONE_DIMENSION).read()
    elif as_source != "path":
        pandas = pytest.importorskip("pandas")
        measurements = pandas.read_csv(ONE_DIMENSION)
        if as_source == "table":
            chosen = measurements[["plan", "gpu", "K", "N", "time_us", "what"]]
            records = chosen.to_records(index=False)
            measurements = w.Table(np.asarray(records))
    found = w.compare("mtx", measurements, what="kernels")
    expected = command.json("compare", "mtx", ONE_DIMENSION, "--what", "kernels")
    assert found.summary["plans"][0]["experiments"] == expected["plans"][0]["experiments"]
    assert found.mean_error_percent == expected["plans"][0]["global"]["mean_error_percent"]
    assert len(found.rows) == 100
    assert found.max_error_percent >= found.mean_error_percent


def test_a_comparison_takes_a_calibration(fitted):
    with_fit = w.compare("mtx", ONE_DIMENSION, what="plan", calibration=fitted)
    without = w.compare("mtx", ONE_DIMENSION, what="plan")
    assert with_fit.mean_error_percent < without.mean_error_percent
    assert with_fit.mean_error_percent == pytest.approx(fitted["h200"]["fitted"]["mean_error_percent"], abs=0.01)


def test_predictions_are_measurements_of_themselves():
    predicted = w.predict("matrix", gpu="rtx-2080", K=[8, 10], N="2^6..2^12")
    assert w.compare("matrix", predicted).max_error_percent == pytest.approx(0, abs=1e-9)
