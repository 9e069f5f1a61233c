"""Figure 9 of Puchala et al. (2022), a ranking of GPUs for a kernel, and a tuned block: figures in the folder `out`."""
import math
import pathlib

import warptime as w

out = pathlib.Path("out")
out.mkdir(exist_ok=True)

# Figure 9 (a): times of mtx_mul_vec on the RTX 2060 by Listing 4. The paper's text lacks the measured ones.
times = w.predict("samples/puchala2022/listing_4.yaml", gpu="rtx-2060", threads="N", t_m=31, model="puchala", N="2^6..2^15")
points = [f"{60 * (math.log2(n) - 5):.1f},{360 - 50 * math.log10(us):.1f}" for n, us in zip(times["N"], times["time_us"])]
(out / "figure_9.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="680" height="380"><polyline fill="none" '
                                  f'stroke="#4c78a8" points="{" ".join(points)}"/></svg>\n')
print(f"Figure 9: {len(times)} predicted times; the measured ones are missing, they are in the paper's plot alone")

# Which GPU is the fastest for this kernel?
ranking = w.predict("dwt_kernels/mtx.cu", grid=4096, block=256, model="extended", K=8, N=2**20)
(out / "ranking.html").write_text(ranking._repr_html_())
(out / "ranking.svg").write_text(ranking._repr_svg_())
for row in ranking[:3]:
    print(f"{row['rank']}. {row['gpu']}: {row['time_us']:.2f} µs")

# Which block is the quickest on the H200?
launches = [(2**20 // block, block) for block in (32, 64, 128, 256, 512, 1024)]
tuned = w.sweep("dwt_kernels/mtx.cu", over={"launch": launches}, gpu="h200", model="extended", K=8, N=2**20)
best = tuned.fastest()
print(f"best block on the H200: {best['block']}, {best['time_us']:.2f} µs; the slowest takes {tuned['time_us'].max():.2f} µs")
