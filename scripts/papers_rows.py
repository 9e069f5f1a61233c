"""The rows of docs/papers.md. scripts/papers runs their commands.

A row: item; where it is in the project; paper: the paper's figure, or what it says; command, find (a pattern whose groups
are in what the command prints) and ours (text with {} for them); why: why ours differs, or why there is nothing.
"""

HEAD = """# The papers, item by item

What each paper has (algorithms, equations, listings, tables, figures), where it is here, and the paper's figure beside
ours. `scripts/papers` writes this page and runs the command of each row; a test fails if the page differs from what
it writes. A row without a command has no figure to show, or says why it has none."""

CSV = "python3 -c 'import csv, sys; r = next(csv.DictReader(sys.stdin)); print(*(r[c] for c in sys.argv[1:]))'"
MATRIX = "warptime predict matrix --gpu rtx-2080 --param K=8,N=2^20 --format csv"


def whole_transforms(method):
    """A signal and an image through the launches of whole plans on the CPU, and back."""
    here, arrays = "d=$(mktemp -d); ", "python3 tests/cli/arrays.py "
    there = (f"for of in '{method} signal 64' '{method}_levels signal 64' '{method}_2d image 16x16'; do set -- $of; levels=; "
             f"case $1 in *levels) levels='--param levels=3';; esac; {arrays}$2 $3 $d/in.npy; "
             "warptime run $1 --wavelet db4 $levels --in $d/in.npy --out $d/bands.npy && "
             "warptime run ${1}_inverse --wavelet db4 $levels --in $d/bands.npy --out $d/out.npy && "
             f"{arrays}same $d/in.npy $d/out.npy; done; rm -r $d")
    return {"command": here + there, "find": r"(?:equal within 1e-5\s*){3}", "ours": "a signal of 64 values, in one level and in three, and an image of 16 × 16, with db4: "
            "the inverse gives each back within 10^−5"}


PUCHALA = {
    "title": "Puchala, Stokfiszewski, Wieloch (2022): the execution time model",
    "about": """*Execution time prediction model for parallel GPU realization of discrete transforms computation algorithms*,
Bulletin of the Polish Academy of Sciences. Our text was converted from PDF: Listing 3 (PTX) is line numbers only, and the
plots are missing. Mended: `L` for `K` in line 7 of Listing 6; `dwt_lft_kernel` in equation 18 is Listing 9's
`dwt_ltt_kernel`; in Algorithm 1, line 19 divides N_ab/sm by itself where it means the blocks scheduled on an SM, and line 20 is 0 or 1 only
if rounded up;
in line 25 of Algorithm 2, `current_instr_index` is `current_instr_counter`.""",
    "rows": [
        {"item": "Algorithm 1", "where": "`simulator/model/puchala/kernel_time.h`", "paper": "no figure of its own",
         "command": MATRIX + " | " + CSV + " time_us", "find": r"([\d.]+)", "ours": "{} µs (N = 2^20, K = 8, RTX 2080)"},
        {"item": "Algorithm 2", "where": "`simulator/model/puchala/core_package.h`", "paper": "112 cycles (Listing 1, load)",
         "command": "warptime simulate samples/puchala2022/listing_1_load.yaml --warps 3 --t-m 2 --format json",
         "find": r'"cycles": (\d+)', "ours": "{} cycles"},
        {"item": "Algorithm 3", "where": "`simulator/plan/launch.h`", "paper": "N_t* ≤ 1024 threads in N_b* blocks",
         "command": MATRIX + " | " + CSV + " blocks threads_per_block", "find": r"(\d+) (\d+)", "ours": "{} blocks of {}"},
        {"item": "Equations 1, 2", "where": "`dwt_kernels/reference/`, `mtx.cu`, `warptime run`", "paper": "definition",
         **whole_transforms("mtx"), "why": "values are checked by `tests/kernels/matrix_lattice_test.cc`"},
        {"item": "Equation 3", "where": "`dwt_kernels/reference/lattice.h`, `ltt.cu`, `warptime run`", "paper": "definition",
         **whole_transforms("ltt"), "why": "values are checked by the same test"},
        {"item": "Equation 4", "where": "`scripts/papers_operations`", "paper": "N (2K − 1) = 15360 (N = 1024, K = 8)",
         "command": "scripts/papers_operations mtx K=8 N=1024", "find": r"(\d+) operations", "ours": "{} operations",
         "why": "the kernel adds its first product to 0: N more"},
        {"item": "Equation 5", "where": "`scripts/papers_operations`", "paper": "N (K + 1) = 9216 (N = 1024, K = 8)",
         "command": "scripts/papers_operations ltt K=8 N=1024", "find": r"(\d+) operations", "ours": "{} operations"},
        {"item": "Equation 6", "where": "`scripts/papers_operations`", "paper": "2K − 1 = 15 steps (K = 8)",
         "command": "scripts/papers_operations mtx K=8 N=1024", "find": r"(\d+) of one thread", "ours": "{} of one thread",
         "why": "the addition to 0"},
        {"item": "Equation 7", "where": "`scripts/papers_operations`", "paper": "2K + 2 = 18 steps (K = 8)",
         "command": "scripts/papers_operations ltt K=8 N=1024", "find": r"(\d+) of one thread", "ours": "{} of one thread",
         "why": "the paper counts the operations of a butterfly's two outputs, 4 for each of K / 2 stages, and 2 at its end: so do threads"},
        {"item": "Equation 8", "where": "`scripts/papers_operations`, `mtx_2d`",
         "paper": "2 · N (N + K − 2) (2K − 1) = 31641600 (N = 1024, K = 8)",
         "command": "scripts/papers_operations mtx_2d K=8 R=1024 C=1024", "find": r"(\d+) operations", "ours": "{} operations",
         "why": "the addition to 0, as in equation 4"},
        {"item": "Equation 9", "where": "`scripts/papers_operations`, `ltt_2d`",
         "paper": "2 · N (N + K − 2) (K + 1) = 18984960 (N = 1024, K = 8)",
         "command": "scripts/papers_operations ltt_2d K=8 R=1024 C=1024", "find": r"(\d+) operations", "ours": "{} operations"},
        {"item": "Equation 10", "where": "`scripts/papers_operations`, `mtx_2d`", "paper": "2 (2K − 1) = 30 steps (K = 8)",
         "command": "scripts/papers_operations mtx_2d K=8 R=1024 C=1024", "find": r"(\d+) of one thread",
         "ours": "{} of one thread", "why": "the addition to 0, in both passes"},
        {"item": "Equation 11", "where": "`scripts/papers_operations`, `ltt_2d`", "paper": "2 (2K + 2) = 36 steps (K = 8)",
         "command": "scripts/papers_operations ltt_2d K=8 R=1024 C=1024", "find": r"(\d+) of one thread",
         "ours": "{} of one thread"},
        {"item": "Equation 12", "where": "`simulator/model/puchala/kernel_time.h`", "paper": "T_k = t_p + N_r t + N̄_r t̄",
         "command": MATRIX + " | " + CSV + " time_us t_p_us", "find": r"([\d.]+) ([\d.]+)", "ours": "T_k = {}, t_p = {} µs"},
        {"item": "Equations 13, 14", "where": "`simulator/model/puchala/kernel_time.h`", "paper": "N_aw/sm, N_aw/cp",
         "why": "steps of Algorithm 1"},
        {"item": "Equations 15, 16", "where": "`simulator/fit/accuracy.h`", "paper": "2.4% on average, 6.9% at most (Listing 4, RTX 2060)",
         "why": "the ten times are in Figure 9 alone, whose plot our text lacks"},
        {"item": "Section 5.3: t_p as the median of `cudaLaunchKernel`", "where": "`calibrate --t-p cudaLaunchKernel`",
         "paper": "t_p 5.2 µs (RTX 2080)",
         "command": "warptime calibrate ltt data/samples/nvprof_gpu_trace.csv --param K=8,N=2^12,2^16,2^20 --t-p cudaLaunchKernel",
         "find": r"t_p ([\d.]+) µs \(given\)", "ours": "t_p {} µs, of 30 calls",
         "why": "a made trace, with the duration of Listing 5's call"},
        {"item": "Section 5.3: durations once for all GPUs", "where": "`simulator/fit/shared_fit.h`, `calibrate --share-durations`",
         "paper": "load 120 (and 160), store 100; errors of 2.6%",
         "command": "warptime calibrate gpu_dwt_m1_ww_ref data/stokfiszewski2022_rtx2080ti.csv data/h200_one_dimension.csv --what plan "
                    "--param K=8,12 --param N=2^8..2^20 --durations load.coalesced=10..600,store.coalesced=10..600 --share-durations",
         "find": r"mean error ([\d.]+%).*?load.coalesced ([\d.]+) cycles.*?store.coalesced ([\d.]+) cycles.*?mean error ([\d.]+%)",
         "ours": "load {1}, store {2}; {0} on an RTX 2080 Ti, {3} on an H200",
         "why": "durations of patterns, of the program that the analyzer makes. The times of the paper's six GPUs are in its plots alone; that shared durations and each "
                "GPU's t_m are found again in times that the model made, with 2% of noise, is checked by `tests/simulator/shared_fit_test.cc`"},
        {"item": "Section 5.3: durations of single accesses", "where": "`simulator/program/memory_durations.h`, `calibrate --durations load.1=…`",
         "paper": "loads 120 and 160 (Listing 7)",
         "command": "warptime calibrate matrix data/stokfiszewski2022_rtx2080ti.csv data/h200_one_dimension.csv --rows-of gpu_dwt_m1_ww_ref "
                    "--what plan --param K=8,12 --param N=2^8..2^20 --durations load.1=10..600,load.2=10..600 --share-durations",
         "find": r"mean error ([\d.]+%).*?load.1 ([\d.]+) cycles.*?load.2 ([\d.]+) cycles.*?mean error ([\d.]+%)",
         "ours": "{1} and {2}; {0} on an RTX 2080 Ti, {3} on an H200",
         "why": "a warp waits for both in turn, so that times tell their sum: 280 in the paper"},
        {"item": "Section 5.3: the lattice", "where": "as above", "paper": "errors of 3.0%, at most 14.5%",
         "command": "warptime calibrate lattice data/stokfiszewski2022_rtx2080ti.csv data/h200_one_dimension.csv --rows-of gpu_dwt_l2_ww "
                    "--what plan --param K=8,12 --param N=2^8..2^20 --durations load.3=10..600,load.4=10..600 --share-durations",
         "find": r"mean error ([\d.]+%), maximum ([\d.]+%).*?mean error ([\d.]+%), maximum ([\d.]+%)",
         "ours": "{0}, at most {1} on an RTX 2080 Ti; {2}, {3} on an H200",
         "why": "on an H200, a launch is called while the kernel before it runs: the model adds both times"},
        {"item": "Equation 17", "where": "`samples/puchala2022/matrix.plan.yaml`", "paper": "no figure",
         "command": MATRIX + " | " + CSV + " time_us", "find": r"([\d.]+)", "ours": "{} µs"},
        {"item": "Equation 18", "where": "`samples/puchala2022/lattice.plan.yaml`", "paper": "no figure",
         "command": MATRIX.replace("matrix", "lattice") + " | " + CSV + " time_us", "find": r"([\d.]+)", "ours": "{} µs"},
        {"item": "Equations 19, 20", "where": "`simulator/fit/accuracy.h`, `compare`",
         "paper": "matrix 2.6%, at most 11.4%; lattice 3.0%, 14.5%; 3.5 ms",
         "command": "warptime compare matrix data/stokfiszewski2022_rtx2080ti.csv --rows-of gpu_dwt_m1_ww_ref --param K=8,12 "
                    "--param N=2^8..2^20 --t-p 4.07 --t-m 2.5 --format json",
         "find": r'"mean_error_percent": (\d+\.\d\d)[^}]*"max_error_percent": (\d+\.\d\d)[^{}]*}\s*}\s*$',
         "ours": "matrix on an RTX 2080 Ti: {}%, at most {}%",
         "why": "other measurements, of the same authors: the paper's are in its plots"},
        {"item": "Equations 21, 22", "where": "`method_ratios` in `simulator/fit/accuracy.h`, `predict --against`", "paper": "R = T_m / T_l",
         "command": "warptime predict matrix --against lattice --gpu rtx-2080 --param K=8,N=2^20 --format csv",
         "find": r",([\d.]+),(\w+)\s*$", "ours": "R = {}, {} is faster"},
        {"item": "Equation 23", "where": "docs/accuracy.md, `compare --against`", "paper": "3.9%, at most 20.3%",
         "command": "grep '^| rtx-2080-ti: gpu_dwt_m1_ww_ref, gpu_dwt_l2_ww' docs/accuracy.md",
         "find": r"\| ([^|]*), ([^|]*) \|\s*$", "ours": "{}, at most {} on an RTX 2080 Ti",
         "why": "other measurements, of the same authors: the paper's are in its plots"},
        {"item": "Listing 1", "where": "`samples/puchala2022/listing_1_*.yaml`", "paper": "112 (load) and 111 (store) cycles",
         "command": "warptime simulate samples/puchala2022/listing_1_store.yaml --warps 3 --t-m 2 --format json",
         "find": r'"cycles": (\d+)', "ours": "store: {} cycles"},
        {"item": "Listing 2", "where": "`samples/mtx_mul_vec/`", "paper": "the kernel",
         "command": "warptime predict mtx_mul_vec --model puchala --gpu rtx-2060 --param N=1024 --t-p 5.2 --t-m 31 --format csv | " + CSV + " time_us",
         "find": r"([\d.]+)", "ours": "{} µs"},
        {"item": "Listing 3", "where": "–", "paper": "38 lines of PTX", "why": "lost in the conversion: only its line numbers are left"},
        {"item": "Listing 4", "where": "`samples/puchala2022/listing_4.yaml`", "paper": "t_m = 31",
         "command": "warptime simulate samples/puchala2022/listing_4.yaml --warps 1 --t-m 31 --param N=1024 --format json",
         "find": r'"cycles": (\d+)', "ours": "{} cycles, one warp, N = 1024"},
        {"item": "Listing 5", "where": "`data/samples/nvprof_listing_5.txt`", "paper": "872.94 µs, N = 2^10",
         "command": "warptime compare mtx_mul_vec data/samples/nvprof_listing_5.txt --param N=2^10 --t-p 5.2 --t-m 31 --format csv",
         "find": r"mtx_mul_vec,rtx-2060,1024,([\d.]+),([\d.]+)", "ours": "measured {}, predicted {} µs",
         "why": "the log is of another size: see docs/accuracy.md"},
        {"item": "Listing 6", "where": "`dwt_kernels/mtx.cu`", "paper": "the kernel", "why": "K for `L` in line 7"},
        {"item": "Listing 7", "where": "`samples/puchala2022/listing_7.yaml`", "paper": "(33) K × (120, 160, 17) (100)",
         "command": "warptime simulate samples/puchala2022/listing_7.yaml --warps 1 --t-m 1.1 --param K=8 --format json",
         "find": r'"cycles": ([\d.]+)', "ours": "{} cycles, one warp, K = 8"},
        {"item": "Listing 8", "where": "`tests/reference/puchala2022/listing_8.cu`; `dwt_kernels/ltt.cu` with a guard", "paper": "equation 18 with Listing 9: 80.72 µs",
         "command": "warptime predict tests/reference/puchala2022/listing_8.plan.yaml --rolled --rearrange --gpu rtx-2080 --t-p 5.6 --t-m 12.3 "
                    "--param K=8,N=2^20 --format csv | " + CSV + " time_us",
         "find": r"([\d.]+)", "ours": "with the program of Listing 8, rearranged: {} µs", "why": "calculation of 35 and 15 cycles in place of 30 and 18"},
        {"item": "Listing 9", "where": "`samples/puchala2022/listing_9.yaml`; from Listing 8 by `--rearrange`",
         "paper": "30; 10, 10, 120, 120; 18; 100, 100",
         "command": "warptime analyze tests/reference/puchala2022/listing_8.cu --rolled --rearrange --format json | python3 -c 'import json, sys; "
                    "show = lambda items: [show(i[\"then\"]) if \"when\" in i else i.get(\"instructions\") or \"\".join(key + \" \" + i[key][\"access\"] for key in (\"load\", \"store\") if key in i) "
                    "for i in items]; print(json.dumps(show(json.load(sys.stdin)[\"program\"])).replace(chr(34), str()))'",
         "find": r"\[(.*)\]\n", "ours": "{}",
         "why": "numbers are instructions: n of them are n + 9 cycles, and runs that meet are one. Uniform loads are the 10s, strided ones the 120s; in brackets, a branch of the "
                "condition of line 12. `tests/cli/cases/rearrange.case` compares item by item, and with one warp: 319.2 cycles for 317.2, and 444.9 without `--rearrange`"},
        {"item": "Table 1", "where": "–", "paper": "errors of other models", "why": "a survey of other papers' figures"},
        {"item": "Table 2", "where": "`simulator/model/puchala/core_package.h`", "paper": "what waits for what",
         "command": "printf 'program: [store: 100, calc: 10]\\n' | warptime simulate - --warps 1 --t-m 0 --format json",
         "find": r'"cycles": (\d+)', "ours": "calc after store: {} cycles, no wait (110 with one)"},
        {"item": "Table 3", "where": "`simulator/gpu/catalogue/`, the plans' `calibrations`", "paper": "RTX 2080: t_p 5.2, t_m 1.1",
         "command": MATRIX + " | " + CSV + " t_p_us t_m_cycles", "find": r"([\d.]+) ([\d.]+)", "ours": "t_p {}, t_m {}"},
        {"item": "Table 4", "where": "docs/accuracy.md, `compare`", "paper": "2.6%, 3.0%; 3.5 ms for a prediction",
         "why": "accuracy: as equations 19 and 20. A prediction takes microseconds here (docs/performance.md)"},
        {"item": "Table 5", "where": "docs/accuracy.md", "paper": "2.8%, at most 14.5%",
         "command": "grep '^| rtx-2080-ti: gpu_dwt_m1_ww_ref, gpu_dwt_l2_ww' docs/accuracy.md",
         "find": r"\| ([^|]*), ([^|]*) \|[^|]*\|\s*$", "ours": "{}, at most {} on an RTX 2080 Ti",
         "why": "as equation 23. The other rows are a survey of other papers"},
        {"item": "Figures 1, 2", "where": "`ltt.cu`; `row_column.cu`", "paper": "data flow", "why": "drawings: no figures"},
        {"item": "Figures 3 to 6", "where": "–", "paper": "GPU architecture", "why": "drawings: no figures"},
        {"item": "Figures 7, 8", "where": "docs/timelines.md", "paper": "112 and 111 cycles",
         "command": "warptime simulate samples/puchala2022/listing_1_store.yaml --warps 3 --t-m 2 --timeline text",
         "find": r"(111)", "ours": "the timeline of {} cycles"},
        {"item": "Figure 9", "where": "–", "paper": "2.4%, at most 6.9%", "why": "the plot's times are not in our text"},
        {"item": "Figures 10 to 15", "where": "docs/accuracy.md", "paper": "720 ratios on six GPUs",
         "command": "grep -A 90 '^## The paper.s figures, point by point' docs/accuracy.md | grep -c '^| 2^'",
         "find": r"(\d+)", "ours": "a table of {} sizes, for each K, of an H200 and an RTX 2080 Ti",
         "why": "the plots' points are not in our text, so that these are of our measurements and of published ones. The 720 predicted times are compared with an independent "
                "implementation (`tests/cli/cases/predict-paper-grid.case`)"},
    ],
}


def table_3(kernel, n, percent, why=""):
    return {"item": f"Table 3: {kernel}", "where": f"`samples/luo_suda2011/luo_suda_{kernel}.plan.yaml`", "paper": f"P = {percent}%",
            "command": f"warptime predict samples/luo_suda2011/luo_suda_{kernel}.plan.yaml --gpu gtx-260 --model luo-suda --param threads=24576,n={n} --explain",
            "find": r"P = ([\d.]+)%", "ours": "P = {}%", "why": why or "the kernel is ours, after its description"}


def explained(item, where, paper, find, ours, why=""):
    return {"item": item, "where": where, "paper": paper,
            "command": "warptime predict samples/luo_suda2011/luo_suda_svm.plan.yaml --gpu gtx-260 --model luo-suda --param threads=6144,n=512 --explain",
            "find": find, "ours": ours, "why": why}


LUO_SUDA = {
    "title": "Luo, Suda (2011): the second model",
    "about": """*An execution time prediction analytical model for GPU with instruction-level and thread-level parallelism
awareness*, IPSJ SIG Technical Report 2011-HPC-130, no. 19. What was mended in our text is in
[luo-suda.md](luo-suda.md#how-the-equations-are-read). The plots are missing.""",
    "rows": [
        explained("Equations 1, 2", "`luo_suda_mpd`", "no figure", r"MPD = (\d+(?: to \d+)?)", "MPD = {} (svm, 8 warps)",
                  "MPD is at least 1"),
        explained("Equations 3 to 5", "`luo_suda_cpd`", "a = 3, b = 11, c = 0.5, d = 80", r"CPD = ([\d.]+)", "CPD = {} (svm, 8 warps)",
                  "CPD1 counts only for P ≤ c, and CPD is at least 1"),
        explained("Equations 6 to 13", "`luo_suda_period_time`", "four types of periods", r"calculation periods of a warp: ([^\n]*)", "{} …"),
        {"item": "Equation 14", "where": "`luo_suda_accuracy`", "paper": "90% on average",
         "why": "needs measured times, which the text does not have: checked by `tests/simulator/luo_suda_test.cc`"},
        {"item": "Table 1", "where": "`simulator/gpu/catalogue/gtx-260.yaml`", "paper": "add: 22, 65, 22, 65",
         "command": "warptime gpus gtx-260 --format json", "find": r'"add": \{\s*"int_const": (\d+),\s*"int_reg": (\d+),\s*"float_const": (\d+),\s*"float_reg": (\d+)',
         "ours": "add: {}, {}, {}, {}", "why": "operations that it lacks: `further_class_cycles`. Its microbenchmarks: `tests/hardware/luo_suda2011/`"},
        {"item": "Table 2", "where": "`simulator/gpu/catalogue/gtx-260.yaml`", "paper": "24 SMs, 1242 MHz, 111.9 GB/s",
         "command": "warptime gpus gtx-260 --format json", "find": r'"clock_mhz": (\d+)', "ours": "{} MHz"},
        table_3("svm", 512, "26.23"), table_3("matrix", 256, "28.2"), table_3("linear", 800, "45.84"), table_3("sepia", 640000, "52.97"),
        table_3("blackscholes_7", 900000, "76.62"), table_3("blackscholes", 900000, "86.97"),
        {"item": "Table 4", "where": "`luo_suda_accuracy`", "paper": "90.4%, 90.2% on average",
         "why": "measured times are in Figure 8 alone. The mean of its six means is checked by `tests/simulator/luo_suda_test.cc`"},
        {"item": "Figures 1 to 7", "where": "–", "paper": "drawings", "why": "no figures"},
        {"item": "Figure 8", "where": "[luo-suda.md](luo-suda.md#table-3)", "paper": "times fall to a limit with the number of warps",
         "command": "warptime predict samples/luo_suda2011/luo_suda_matrix.plan.yaml --gpu gtx-260 --model luo-suda --param threads=768,24576 --param n=256 --format csv | "
                    "python3 -c 'import csv, sys; print(*(round(float(r[\"time_us\"])) for r in csv.DictReader(sys.stdin)))'",
         "find": r"(\d+) (\d+)", "ours": "matrix: {} µs with 1 warp, {} with 32", "why": "the plot is not in our text"},
        {"item": "Figure 9", "where": "–", "paper": "accuracies above 80%", "why": "needs the measured times of Figure 8"},
        {"item": "Section 3.4: a, b, c, d", "where": "`tests/hardware/luo_suda2011/`", "paper": "3, 11, 0.5, 80",
         "why": "the paper does not say how its micro benchmark works; nobody has run ours on a GTX 260"},
    ],
}

IKUZAWA = {
    "title": "Ikuzawa, Ino, Hagihara (2017): lifting in a unified buffer",
    "about": """*Reducing memory usage by the lifting-based discrete wavelet transform with a unified buffer on a GPU*. The plots are
missing. Mended: Algorithm 3 registers the chunks 0 and 2m − 1, which stay in place; `dwt_kernels/lifting_unified.cu` says so.""",
    "rows": [
        {"item": "Algorithm 1", "where": "`chunk_generation` in `dwt_kernels/lifting_unified.cu`", "paper": "even values, then odd ones",
         "command": "warptime run dwt_kernels/lifting_unified.cu --kernel chunk_generation --grid 1 --block 8 --arg b=4 "
                    "--arg x=raw:f32:<(python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack(\"8f\", *range(8)))')",
         "find": r"x \(8 of f4\): ([\d ]+)", "ours": "of 0 to 7, b = 4: {}"},
        {"item": "Algorithm 2", "where": "`chunk_rearrangement`", "paper": "chunks 0, 2, 1, 3 of four",
         "command": "warptime run dwt_kernels/lifting_unified.cu --kernel chunk_rearrangement --grid 1 --block 1 --arg chunks=4 --arg l=1 "
                    "--arg offset=0 --arg signal_stride=4 --arg chunk_stride=1 "
                    "--arg x=raw:f32:<(python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack(\"4f\", *range(4)))') "
                    "--constant representatives=raw:i32:<(python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack(\"i\", 1))')",
         "find": r"x \(4 of f4\): ([\d ]+)", "ours": "of chunks of one value: {}"},
        {"item": "Algorithm 3", "where": "`dwt_kernels/reference/lifting.h`", "paper": "l of 2m chunks",
         "why": "docs/kernels.md has l for 4 to 65536 chunks, checked by `tests/kernels/lifting_test.cc`"},
        {"item": "Lemma 1", "where": "docs/kernels.md", "paper": "permutations of at most log2 2m chunks", "why": "the plans take log2: right for all but a few"},
        {"item": "Lemma 2, Theorem 1", "where": "`tests/kernels/lifting_test.cc`", "paper": "l < m = ⌈n/2b⌉ from m = 128 on", "why": "checked by the test"},
        {"item": "Equations 1, 2", "where": "`lift_rows`, `lift_columns`, `laan_rows`, `window_columns`", "paper": "definition",
         "why": "checked by `tests/kernels/lifting_image_test.cc`, with the 5/3 and 9/7 wavelets by `lifting_test.cc`"},
        {"item": "Equations 3, 4", "where": "`chunk_rearrangement`", "paper": "2 a mod (2m − 1)", "why": "the index of Algorithm 2"},
        {"item": "Section 4.4, Fig. 5", "where": "`dwt_kernels/host/tiling.h`", "paper": "tiles of rows with halos",
         "why": "checked by `tests/kernels/tiling_test.cc`, no figure"},
        {"item": "Table 1, this paper on a GTX 980 Ti", "where": "`lifting_unified`, `data/ikuzawa2017_table1.csv`", "paper": "5.3 Gpixel/s, 32K × 32K: 203 ms",
         "command": "warptime predict lifting_unified --param N=32768,b=512,l=12 --gpu gtx-980-ti --model extended --format csv | " + CSV + " time_us",
         "find": r"([\d.]+)", "ours": "predicted {} µs", "why": "nothing is fitted: the extended model"},
        {"item": "Table 1, the other rows", "where": "`data/ikuzawa2017_table1.csv`", "paper": "throughputs",
         "why": "other authors' code, OpenGL or OpenCL, three levels at once, or GPUs that the model does not take"},
        {"item": "Table 2", "where": "`simulator/gpu/catalogue/gtx-980-ti.yaml`", "paper": "336.5 GB/s",
         "command": "warptime gpus gtx-980-ti --format json", "find": r'"memory_bandwidth_gb_s": ([\d.]+)', "ours": "{} GB/s",
         "why": "of the four cards only this one is in the catalogue"},
        {"item": "Table 3, the unified buffer", "where": "`lifting_unified`, `scripts/lifting_accesses`",
         "paper": "4 N²; 4 N (N − 2b); 4 (1 + h/r) N², with 1 + h/r = 131/128",
         "command": "scripts/lifting_accesses lifting_unified",
         "find": r"generation: (.*?)\nrearrangement: (.*?)\nlifting: (.*?)\n", "ours": "{}; {}; {}"},
        {"item": "Section 5.3, the previous method", "where": "`lifting_separate`, `scripts/lifting_accesses`", "paper": "4 (1 + h/r) N², a third of the accesses",
         "command": "scripts/lifting_accesses lifting_separate", "find": r"lifting: (.*?)\n", "ours": "{}"},
        {"item": "Section 5.2, kernel times", "where": "`lifting_unified`, `lifting_separate`", "paper": "2.0 to 2.6 times longer",
         "command": "for plan in 'unified --param b=512,l=6' 'separate'; do warptime predict lifting_$plan --param N=16384 --gpu gtx-980-ti --model extended "
                    "--format csv | " + CSV + " time_us; done | awk '{time[NR] = $1} END {printf \"%.2f\", time[1] / time[2]}'",
         "find": r"([\d.]+)", "ours": "predicted {} times (GTX 980 Ti, N = 16K)", "why": "nothing is fitted: the extended model"},
        {"item": "Figures 1 to 4", "where": "–", "paper": "drawings", "why": "no figures"},
        {"item": "Figure 6", "where": "`lifting_unified`, `lifting_separate`", "paper": "32K × 32K in 4 GB, in place of 8 GB",
         "command": "for plan in 'unified --param b=512,l=12' 'separate'; do warptime measure lifting_$plan --param N=32768 --dry-run --compiler clang --gpu gtx-980-ti; done",
         "find": r"launches, (\d+) bytes.*launches, (\d+) bytes", "ours": "{} and {} bytes"},
        {"item": "Figure 7", "where": "Algorithm 3, `scripts/lifting_figures`", "paper": "4 l = 3.09 KB for 32K × 32K, b = 512",
         "command": "scripts/lifting_figures figure-7",
         "find": r" 512 +64 +(\d+) +\d+ +(\d+)\n.* 4 +8192 +(\d+) +\d+ +(\d+)\n +2 +16384 +(\d+) +\d+ +(\d+)\n",
         "ours": "l = {}: {} bytes; chunks of 4 values: l = {}, {} bytes; of 2: l = {}, {} bytes",
         "why": "3.09 KB is 4 l for no number of chunks that is a power of two, by Algorithm 3 and by Lemma 2: [lifting.md](lifting.md#memory)"},
        {"item": "Table 1, on our GPU", "where": "`scripts/lifting_figures`", "paper": "R = 1.38, 5.3 and 2.0 Gpixel/s (GTX 980 Ti)",
         "command": "scripts/lifting_figures table-1", "find": r"unified +n \+ 12 +([\d.]+) +([\d.]+) +([\d.]+)",
         "ours": "measured R = {}, {} and {} Gpixel/s (H100)", "why": "[lifting.md](lifting.md#times-on-an-h100)"},
        {"item": "Figure 8", "where": "`lifting_tiles.cu`, `scripts/lifting_figures`", "paper": "G → G 2.4 to 3.9 times faster than the tiled previous method",
         "command": "scripts/lifting_figures figure-8 | awk '$3 == \"G\" && $1 == \"G\" {time[$4] = $5} END {print time[\"separate\"] / time[\"unified\"]}'",
         "find": r"([\d.]{1,4})", "ours": "measured {} times", "why": "an H100's kernels are ten times as fast as a GTX 980 Ti's, its copies five times"},
        {"item": "Figure 9", "where": "`lifting_tiles.cu`, `scripts/lifting_figures`", "paper": "1.1 to 2.7 times longer",
         "command": "scripts/lifting_figures figure-9", "find": r"G -> G +unified[^\n]* ([\d.]+)\n.*C -> C +unified[^\n]* ([\d.]+)\n", "ours": "measured {} (G → G) to {} (C → C)"},
        {"item": "Figure 10", "where": "`lifting_tiles.cu`, `scripts/lifting_figures`", "paper": "near the effective bandwidth; kernels 2.0 to 2.6 times longer",
         "command": "scripts/lifting_figures figure-10", "find": r"32768 +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+ +\d+ +\d+ +(\d+%) +(\d+%)",
         "ours": "measured {} times (N = 32K), at {} and {} of the peak", "why": "chunk generation of rows takes 1.4 times as long as its accesses would"},
        {"item": "Figure 11", "where": "`lifting_tiles.cu`, `scripts/lifting_figures`", "paper": "as fast as the previous method with streams, 12 to 25% slower without",
         "command": "scripts/lifting_figures figure-11", "find": r"65536 +128 +16.00 +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)",
         "ours": "N = 64K: {} and {} Gpixel/s without streams, {} and {} with them", "why": "separate, then unified"},
        {"item": "Figure 11, predicted", "where": "`predict --transfers`, [lifting.md](lifting.md#predicted-pipelines)", "paper": "as fast as the previous method with streams",
         "command": "grep -A 12 -e '^separate N = 16384' docs/lifting.md; grep -e '^unified  N = 16384' docs/lifting.md",
         "find": r"separate N = 16384, 1 streams: +([\d.]+) p.*separate N = 16384, 4 streams: +([\d.]+) p.*unified  N = 16384, 1 streams: +([\d.]+) p.*unified  N = 16384, 4 streams: +([\d.]+) p",
         "ours": "N = 16K on an H100, Gpixel/s: {0} and {2} without streams, {1} and {3} with them", "why": "separate, then unified; within 3% of what was measured"},
        {"item": "Figure 12", "where": "`lifting_tiles.cu`, `scripts/lifting_figures`", "paper": "timelines of the pipeline",
         "command": "scripts/lifting_figures figure-12", "find": r"unified, N = (\d+): ([\d.]+) ms; to_device (\d+%), kernels (\d+%), to_host (\d+%)",
         "ours": "N = {}: {} ms, of which copies in {}, kernels {}, copies out {}", "why": "drawn in [lifting.md](lifting.md#images-larger-than-the-memory)"},
    ],
}


def variant(listing, plan, milliseconds, why=""):
    return {"item": f"Listing {listing}, Figure 11", "where": f"`dwt_kernels/{plan}.cu`", "paper": f"{milliseconds} ms (K = 8, N = 2^20)",
            "command": f"warptime compare {plan} data/stokfiszewski2022_rtx2080ti.csv --param K=8,N=2^20 --model extended --format json",
            "find": r'"measured_us": ([\d.]+),\s*"predicted_us": ([\d.]+)', "ours": "measured {}, predicted {} µs",
            "why": why or "nothing fitted: the extended model"}


def cpu_figure(figure, taps, paper):
    return {"item": f"Figure {figure}", "where": "`data/stokfiszewski2022_totals.csv`, `data/cpu_dwt_epyc.csv`", "paper": paper,
            "command": f"scripts/papers_times cpu data/cpu_dwt_epyc.csv {taps}", "find": r"threads 1:.*?ms: ([^\n]*)", "ours": "{} ms",
            "why": "another CPU: an AMD EPYC, g++ 12 -O2. The paper's is a Xeon Silver 4112; its compiler is not named" if figure == 7 else "as Figure 7"}


CPU_RATIOS = "scripts/papers_times cpu data/stokfiszewski2022_totals.csv; scripts/papers_times cpu data/cpu_dwt_epyc.csv"


def cpu_ratio(item, which, paper, why):
    pattern = which.replace("/", "/") + r" ([\d.]+)"
    return {"item": item, "where": "`scripts/papers_times`, `dwt_kernels/host/cpu_dwt.cc`", "paper": paper, "command": CPU_RATIOS,
            "find": rf"threads 1: .*?{pattern}.*?threads 1: .*?{pattern}.*?threads 2: .*?{pattern}",
            "ours": "{}× in the paper's figures; {}× on our CPU, {}× by two threads", "why": why}


STOKFISZEWSKI = {
    "title": "Stokfiszewski, Wieloch, Yatsymirskyy (2022): seven variants of the DWT",
    "about": """*An efficient implementation of one-dimensional discrete wavelet transform algorithms for GPU architectures*. Listing 8
is missing from our text. Repaired: comments at the top of each `.cu`. In equation 2 the text prints 154 MHz for 1545 MHz, and 128
cores of an SM where there are 64: 13,447 GFLOPS are 64 that multiply and add.""",
    "rows": [
        {"item": "Equation 1", "where": "`dwt_kernels/reference/lattice.h`", "paper": "definition", "why": "as equation 3 of Puchala et al."},
        {"item": "Section 2.1: operations", "where": "`scripts/papers_operations`", "paper": "matrix: N K + N (K − 1) = 15360; lattice: N (K + 2) / 2 + N K / 2 = 9216 (N = 1024, K = 8)",
         "command": "scripts/papers_operations mtx K=8 N=1024; scripts/papers_operations ltt K=8 N=1024", "find": r"(\d+) operations.*?(\d+) operations", "ours": "{} and {}",
         "why": "as equations 4 and 5 of Puchala et al.: the kernel adds its first product to 0"},
        {"item": "Figure 4: wavelets", "where": "`dwt_kernels/reference/filters.h`", "paper": "Haar, Daubechies, coiflet, Meyer, Morlet, Mexican hat",
         "command": "cpu_dwt --variant all --wavelet haar,db4,coif2,sym6 --size 2^8 --repetitions 1 | cut -d, -f2,3 | sort -u && "
                    "cpu_dwt --variant m2_nw --wavelet meyer --size 2^8 --repetitions 1 | cut -d, -f2,3",
         "find": r"coif2,(\d+)\s+db4,(\d+)\s+haar,(\d+)\s+sym6,(\d+).*?meyer,(\d+)",
         "ours": "coif2 of {} taps, db4 of {}, haar of {}, sym6 of {}, in all four CPU variants; meyer of {} in the matrix variants",
         "why": "Meyer's filter has no end: cut to 62 taps it is orthogonal within 10^−5, which is not enough for a lattice. Morlet's wavelet and the Mexican hat "
                "have no scaling function, so they have no filters and no DWT: not implemented"},
        {"item": "Equation 2", "where": "`simulator/gpu/catalogue/rtx-2080-ti.yaml`", "paper": "13.45 TFLOPS",
         "command": "warptime gpus rtx-2080-ti --format json | python3 -c 'import json, sys; g = json.load(sys.stdin); g = g[0] if isinstance(g, list) else g; "
                    "print(round(2 * g[\"clock_mhz\"] * g[\"sms\"] * g[\"cores_per_sm\"] / 1e6, 2))'",
         "find": r"([\d.]+)", "ours": "{} TFLOPS, two for a multiply-add"},
        {"item": "Equation 3", "where": "`simulator/gpu/catalogue/rtx-2080-ti.yaml`", "paper": "616 GB/s",
         "command": "warptime gpus rtx-2080-ti --format json", "find": r'"memory_bandwidth_gb_s": ([\d.]+)', "ours": "{} GB/s"},
        {"item": "Section 5: speed of light, memory", "where": "`scripts/papers_times`", "paper": "83% (`gpu_dwt_l2_nw`)",
         "command": "scripts/papers_times limits", "find": r"gpu_dwt_l2_nw: .* (\d+%) of the memory", "ours": "{} of the memory's bandwidth (K = 12, N = 2^23)",
         "why": "the paper does not say for which K and N; predicted bytes over predicted time"},
        {"item": "Section 5: speed of light, computing", "where": "`scripts/papers_times`", "paper": "54% (`gpu_dwt_m2_nw`)",
         "command": "scripts/papers_times limits", "find": r"gpu_dwt_m2_nw: (\d+%) of the issue slots, (\d+%) of the load",
         "ours": "{} of the issue slots, {} of the load/store units (K = 12, N = 2^23)",
         "why": "Nsight Compute takes the busiest unit of the SM, which the paper does not name"},
        {"item": "Listings 1 to 4", "where": "`dwt_kernels/reference/cpu_dwt.h`, `dwt_kernels/host/cpu_dwt.cc`", "paper": "CPU variants",
         "command": "cpu_dwt --variant all --wavelet db2,db4,db6 --size 2^10 --threads 1,2 --repetitions 1 | tail -n +2 | cut -d, -f1,3 | sort -u | wc -l", "find": r"(\d+)",
         "ours": "four variants with K = 4, 8, 12: {} results, each equal to the definition, by one thread and by two"},
        cpu_figure(7, 4, "K = 4, N = 2^20: 3.87, 2.54, 2.00, 1.88 ms"),
        cpu_figure(8, 8, "K = 8, N = 2^20: 7.59, 3.80, 2.94, 2.82 ms"),
        cpu_figure(9, 12, "K = 12, N = 2^20: 11.77, 5.30, 3.97, 4.01 ms"),
        cpu_ratio("Section 6.1: without wrapping, matrix", "m2_ww_ref/m2_nw", "1.85×",
                  "the mean of the 48 ratios of Figures 7 to 9 is not the paper's average; a division costs less on our CPU. Our two cores had other work beside"),
        cpu_ratio("Section 6.1: lattice", "m2_ww_ref/l2_ww", "2.21×", "as above; stages of a lattice wait for all threads"),
        cpu_ratio("Section 6.1: without wrapping, lattice", "l2_ww/l2_nw", "3%", "as above: in place of one pass, two threads need a wait more in each stage of `l2_ww`"),
        variant(5, "gpu_dwt_m1_ww_ref", "0.0429"), variant(6, "gpu_dwt_m2_ww", "0.0251"), variant(7, "gpu_dwt_m4_ww", "0.0289"),
        variant(8, "gpu_dwt_m2_nw", "0.0251", "the listing is missing from our text: made after Listing 9"),
        variant(9, "gpu_dwt_m4_nw", "0.0277"), variant(10, "gpu_dwt_l2_ww", "0.0440"),
        variant(11, "gpu_dwt_l2_nw", "0.0438"),
        {"item": "Section 6.2: nearest to the peak in TFLOPS", "where": "`scripts/papers_times`", "paper": "`gpu_dwt_m4_nw`",
         "command": "scripts/papers_times limits", "find": r"m4_ww: .*?([\d.]+%) of the TFLOPS.*m2_nw: .*?([\d.]+%) of the TFLOPS.*m4_nw: .*?([\d.]+%) of the TFLOPS",
         "ours": "`m4_nw` {2}, `m4_ww` {0}, `m2_nw` {1} (K = 12, N = 2^23)", "why": "2K − 1 operations a coefficient over predicted time. By the times of Figure 12, `gpu_dwt_m4_nw` reaches 7.0%"},
        {"item": "Table 1", "where": "`simulator/gpu/catalogue/rtx-2080-ti.yaml`", "paper": "68 multiprocessors, 8704 cores",
         "command": "warptime gpus rtx-2080-ti --format json", "find": r'"sms": (\d+)', "ours": "{} SMs", "why": "8704 is twice the 4352 cores of the text"},
        {"item": "Figures 1 to 3, 5, 6", "where": "–", "paper": "drawings", "why": "no figures"},
        {"item": "Figures 10, 12: kernels", "where": "`data/stokfiszewski2022_rtx2080ti.csv`, docs/accuracy.md", "paper": "times for K = 4 and 12",
         "why": "as Figure 11: docs/accuracy.md has all 336"},
        {"item": "Figures 10 to 12: total times", "where": "`data/stokfiszewski2022_totals.csv`, `scripts/papers_times`", "paper": "`gpu_dwt_m2_ww`, K = 4: 0.266 ms (N = 2^8) to 25.9 ms (2^23)",
         "command": "scripts/papers_times totals",
         "find": r"gpu_dwt_m2_ww: (\d+) µs and ([\d.]+) GB/s.*all: mean error ([\d.]+%), kernels ([\d.]+%)",
         "ours": "the predicted kernel, {} µs and all data at {} GB/s: mean error {} over the variants, of whose totals kernels are {}",
         "why": "two constants a variant, fitted to its own totals: what the host does around the kernels is not in the paper. K = 8 and 12 of `gpu_dwt_l2_nw` are missing from our text"},
    ],
}

BUSY = "another CPU: two cores of an AMD EPYC that had other work beside, and a window of few frames in place of the whole video"


def tiles_row(item, version, paper, why):
    return {"item": item, "where": "`dwt_kernels/host/fwt3d_frames.cc`, `data/fwt3d_epyc.csv`", "paper": paper, "command": "scripts/papers_times tiles",
            "find": rf"ours: {version}: ([^\n]*)", "ours": "{}", "why": why}


def video_row(item, paper, find, ours, why):
    return {"item": item, "where": "`scripts/papers_times`, `data/bernabe_tesla_c2050.csv`", "paper": paper, "command": "scripts/papers_times video",
            "find": find, "ours": ours, "why": why}


def made_by(item, words, paper, why=""):
    """A host program's row: it compares what it makes with the definition, and its exit status says how that went."""
    return {"item": item, "where": "`dwt_kernels/host/fwt3d_frames.cc`, `reference/fwt3d.h`", "paper": paper,
            "command": f"fwt3d_frames {words} --frames 8 --size 64x32 | cut -d, -f1-8", "find": r"extension\n(\w+),(\d+),(\d+),",
            "ours": "{}, threads: {}, frames: {}; equal to the definition", "why": why}


EACH = r"([\d.]+)"
BERNABE = {
    "title": "Bernabé: the 3D wavelet transform on CPUs and GPUs",
    "about": """*Parallel 3D Fast Wavelet Transform comparison on CPUs and GPUs*. The diagrams are missing. Three figures are of videos of
64 frames of 512 × 512, 1K × 1K and 2K × 2K pixels.""",
    "rows": [
        made_by("Section 2.1: untiled baseline", "--engine sequential --tile 1 --block 0", "column by column"),
        made_by("Section 2.1: row extension", "--engine sequential --tile 1 --block 0 --row-extension 17", "dummy elements in a row"),
        made_by("Section 2.1: tiling", "--engine sequential --tile 64 --block 0", "adjacent columns row by row"),
        {"item": "Section 3.1", "where": "–", "paper": "loops made parallel by icc", "why": "not implemented: the flags are of icc alone, which is no longer distributed"},
        made_by("Section 3.2: OpenMP", "--engine openmp --threads 2 --block 0", "`parallel for` over frames"),
        made_by("Section 3.3: Pthreads", "--engine pthreads --threads 2 --block 0", "a structure of parameters; frames by thread"),
        made_by("Section 3.4, Figure 1: blocks", "--engine openmp --threads 2 --block 4", "2D transform of parts of the two frames", "the drawing is missing: blocks of rows"),
        tiles_row("Table 1: untiled", "untiled", "991, 5246, 34799 ms", BUSY + "; -O3, where the paper's baseline has no flags"),
        tiles_row("Table 1: tiles, g++ -O3", "tiled", "393, 1593, 6404 ms: 2.5x, 3.3x, 5.4x", "as above"),
        {"item": "Table 1: icc", "where": "–", "paper": "309, 1272, 5023 ms; 305, 1231, 4774 ms", "why": "as section 3.1"},
        tiles_row("Row extension", "untiled, rows extended", "no figure", "no gain, as section 2.1 has it for a filter of four taps"),
        tiles_row("Table 2: OpenMP", "OpenMP", "186, 763, 3142 ms (4 threads)", BUSY + ": 2 threads"),
        tiles_row("Table 2: OpenMP and Pthreads", "Pthreads", "177, 716, 2890 ms (4 threads)", "as above"),
        tiles_row("Table 2: OpenMP, blocks", "OpenMP, blocks", "167, 687, 2831 ms (4 threads)", "as above"),
        tiles_row("Table 2: OpenMP and Pthreads, blocks", "Pthreads, blocks", "156, 655, 2843 ms (4 threads)", "as above"),
        tiles_row("Blocks, one thread", "tiled, blocks", "no figure", "a block stays in the cache"),
        {"item": "Table 3", "where": "`simulator/gpu/catalogue/tesla-c2050.yaml`", "paper": "1024 threads a block",
         "command": "warptime gpus tesla-c2050 --format json", "find": r'"max_threads_per_block": (\d+)', "ours": "{} threads a block"},
        {"item": "Table 4", "where": "–", "paper": "terminology", "why": "no figures"},
        {"item": "Section 6.1, Figures 2 to 4: host program", "where": "`dwt_kernels/host/cuda_frames.cu`, `fwt3d_frames.cc`, `fwt3d.plan.yaml`",
         "paper": "four frames first, then two an iteration, from `.pgm` files",
         "command": "d=$(mktemp -d); for i in 0 1 2 3; do (printf 'P5 128 8 255\\n'; head -c 1024 /dev/zero | tr '\\0' \"$i\") > $d/in$i.pgm; done; "
                    "fwt3d_frames --engine sequential $d/in%d.pgm $d/out%d.pgm | cut -d, -f3-5; ls $d | grep -c out; rm -r $d",
         "find": r"(\d+),(\d+),(\d+)\n(\d+)", "ours": "from {} files of {} × {} pixels to {} files",
         "why": "`--engine cuda` needs a GPU: the test `kernels.host_programs` runs it where there is one"},
        {"item": "Figure 2", "where": "`dwt_kernels/fwt3d.cu`", "paper": "blocks of 128 threads, 128 × 1 blocks",
         "command": "warptime predict fwt3d --gpu tesla-c2050 --model puchala --param F=64,R=128,C=128 --format csv | " + CSV + " threads_per_block blocks",
         "find": r"(\d+) (\d+)", "ours": "{} threads in {} blocks"},
        {"item": "Section 6.2: OpenCL", "where": "`dwt_kernels/host/fwt3d.cl`, `opencl_frames.cc`", "paper": "the same three steps",
         "why": "PoCL runs it on the CPU: no command, since not every machine has OpenCL; the test `kernels.host_programs` compares all coefficients where there is one"},
        video_row("Table 5: CUDA", "29.2, 100.6, 381.6 ms", rf"total {EACH} ms.*total {EACH} ms.*total {EACH} ms", "{}, {}, {} ms",
                  "predicted kernels, and copies at the 8 GB/s of section 4; the published copies run at 5.9 to 6.2 GB/s"),
        video_row("Table 5: CUDA against the CPU", "5.3×, 6.5×, 7.4×", rf"speedup {EACH}x.*speedup {EACH}x.*speedup {EACH}x", "{}×, {}×, {}×", "as above, against the paper's own CPU times"),
        tiles_row("Table 5: OpenCL", "OpenCL", "87, 276, 1011 ms", "PoCL on the CPU in place of a Tesla C2050"),
        video_row("Table 6, CUDA: stages 2 to 4", "6.77, 13.43, 35.27 ms", rf"kernels {EACH} ms.*kernels {EACH} ms.*kernels {EACH} ms", "{}, {}, {} ms",
                  "the extended model, nothing fitted; the published times are shorter than the card's memory can be read and written in: docs/accuracy.md"),
        {"item": "Table 6, CUDA: stages 2 to 4, model of Puchala et al.", "where": "`dwt_kernels/fwt3d.plan.yaml`", "paper": "6.77 ms (512 × 512)",
         "command": "warptime predict fwt3d --gpu tesla-c2050 --model puchala --param F=64,R=512,C=512 --format csv | " + CSV + " time_us",
         "find": r"([\d.]+)", "ours": "{} µs", "why": "as above; its constants are the defaults of the GPU's file"},
        video_row("Table 6, CUDA: stages 1 and 5", "22.4, 87.2, 346.3 ms", rf"copies {EACH} ms.*copies {EACH} ms.*copies {EACH} ms", "{}, {}, {} ms", "the peak of section 4: 8 GB/s"),
        video_row("Table 6, CUDA: GPU/CPU speed-up", "23.1×, 48.8×, 80.6×", rf"of kernels {EACH}x.*of kernels {EACH}x.*of kernels {EACH}x", "{}×, {}×, {}×", "as stages 2 to 4"),
        {"item": "Table 6, OpenCL", "where": "`data/fwt3d_epyc.csv`", "paper": "512 × 512: 25.19, 3.53, 3.85, 3.80, 50.75 ms",
         "command": "grep '^opencl,1,64,512,' data/fwt3d_epyc.csv | cut -d, -f12-16", "find": ",".join([EACH] * 5), "ours": "{}, {}, {}, {}, {} ms", "why": "PoCL on the CPU"},
        {"item": "Section 7.2: overlapping copies", "where": "`tests/reference/bernabe/fwt3d_streams.plan.yaml`, `predict --transfers`", "paper": "15% less time (CUDA, on average)",
         "command": "warptime predict tests/reference/bernabe/fwt3d_streams.plan.yaml --gpu tesla-c2050 --model extended --param F=64,R=512,C=512,streams=1,2 --transfers "
                    "--format json | python3 -c 'import json, sys; one, two = json.load(sys.stdin); "
                    "print(round(one[\"total_us\"] / 1e3, 1), round(two[\"total_us\"] / 1e3, 1), round(100 * one[\"time_us\"] / one[\"total_us\"]))'",
         "find": r"([\d.]+) ([\d.]+) (\d+)", "ours": "{0} ms without streams, of which kernels take {2}%; {1} ms with two (512 × 512)",
         "why": "the paper hides kernels alone. With streams, copies to the device and back overlap, too: the model has an engine for each, at the 8 GB/s of section 4"},
        video_row("Section 7.3: frames on the CPU and the GPU", "six of seven on the GPU (1K × 1K, with copies)", r"1024:.*?frames on the GPU (\d+%), on the CPU (\d+%)",
                  "{} on the GPU, {} on the CPU", "predicted GPU time, copies included, against the paper's CPU time. For OpenCL nothing is predicted"),
    ],
}

PAPERS = [PUCHALA, LUO_SUDA, IKUZAWA, STOKFISZEWSKI, BERNABE]
