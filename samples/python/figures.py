"""Figure 9 of Puchala et al. (2022), a ranking of GPUs for a kernel, and a tuned block, drawn by matplotlib into the folder `out`."""
import pathlib

import matplotlib.pyplot as plt

import warptime as w

out = pathlib.Path("out")
out.mkdir(exist_ok=True)

# Figure 9. (a) Times of mtx_mul_vec: Listing 4 on the paper's RTX 2060, and a fit to times measured on an H200. (b) The fit's ratios.
paper = w.predict("samples/puchala2022/listing_4.yaml", gpu="rtx-2060", threads="N", t_m=31, model="puchala", N="2^6..2^15")
fit = w.calibrate("mtx_mul_vec", "data/h200_samples.csv", gpu="h200", what="kernels")
compared = w.compare("mtx_mul_vec", "data/h200_samples.csv", what="kernels", calibration=fit)
figure, (times, ratios) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
times.loglog(paper["N"], paper["time_us"] / 1000, "s-", label="RTX 2060, Listing 4")
times.loglog(compared.rows["N"], compared.rows["predicted_us"] / 1000, "o-", label="H200, fitted")
times.loglog(compared.rows["N"], compared.rows["measured_us"] / 1000, "kx", label="H200, measured")
times.set(title="(a) mtx_mul_vec", xlabel="N", ylabel="time [ms]")
times.set_xscale("log", base=2)
times.legend()
ratios.semilogx(compared.rows["N"], compared.rows["predicted_us"] / compared.rows["measured_us"], "ks", base=2)
ratios.axhline(1, color="gray")
ratios.set(title=f"(b) mean error {compared.mean_error_percent:.1f}%, maximum {compared.max_error_percent:.1f}%", xlabel="N",
           ylabel="predicted / measured", ylim=(0.5, 1.5))
figure.savefig(out / "figure_9.png", dpi=120)

# Which GPU is the fastest for this kernel?
ranking = w.predict("dwt_kernels/mtx.cu", grid=4096, block=256, model="extended", K=8, N=2**20)[:20]
axes = ranking.to_pandas()[::-1].plot.barh(x="gpu", y="time_us", legend=False, xlabel="time [µs]", ylabel="", figsize=(7, 6))
axes.set_title("mtx, K = 8, N = 2^20")
axes.figure.savefig(out / "ranking.png", dpi=120, bbox_inches="tight")

# Which block is the quickest on the H200?
blocks = [32, 64, 96, 128, 192, 256, 384, 512, 768, 1024]
tuned = w.sweep("dwt_kernels/mtx.cu", over={"launch": [(-(-(2**20) // b), b) for b in blocks]}, gpu="h200", model="extended", K=8, N=2**20)
axes = tuned.to_pandas().plot.bar(x="threads_per_block", y="time_us", legend=False, ylabel="time [µs]", xlabel="threads of a block")
axes.set_title(f"mtx on the H200: the quickest block has {tuned.fastest()['threads_per_block']} threads")
axes.figure.savefig(out / "block.png", dpi=120, bbox_inches="tight")
print(*sorted(path.name for path in out.glob("*.png")))
