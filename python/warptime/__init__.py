"""How long CUDA kernels take on GPUs that you do not have.

    >>> import warptime
    >>> warptime.predict(ptx, gpu="h100-sxm", grid=1024, block=128, args=[x, y, out, n]).time_us

Sources are paths, texts or objects; results are NumPy structured arrays; what is wrong is an exception with the diagnostics
as data. Calls from several threads run one after the other, each on all cores. docs/python.md shows all of it.
"""
from ._analyze import FoundPlan, Gpu, Plan, analyze, gpus, listing, plan_of, simulate, timeline
from ._errors import ArgumentError, Diagnostic, InputError, WarptimeError, WarptimeWarning
from ._measured import Calibration, Comparison, calibrate, compare, measure
from ._predict import counters, predict, sweep
from ._program import Calc, Instructions, Item, Load, Program, Repeat, Store, When, read_programs
from ._results import Analysis, Prediction, Simulation, Timeline
from ._table import Table
from ._warptime import version as __version__

__all__ = [
    "Analysis", "ArgumentError", "Calc", "Calibration", "Comparison", "Diagnostic", "FoundPlan", "Gpu", "InputError",
    "Instructions", "Item", "Load", "Plan", "Prediction", "Program", "Repeat", "Simulation", "Store", "Table", "Timeline",
    "WarptimeError", "WarptimeWarning", "When", "__version__", "analyze", "calibrate", "compare", "counters", "gpus",
    "listing", "measure", "plan_of", "predict", "read_programs", "simulate", "sweep", "timeline",
]
