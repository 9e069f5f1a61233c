# The plain reference engine: slow on purpose, an independent implementation of Algorithms 1 to 3.
"""A plain reading of Algorithms 1, 2 and 3 of Puchala, Stokfiszewski and Wieloch (2022), kept simple on purpose.

It is the oracle for the C++ simulator: same inputs, same answers. The paper's own check is built in: Listing 1 takes
112 cycles with a load in its line 7 and 111 with a store. Two misprints of Algorithm 1 are read as its text means them:
N_r = floor(N_sb/sm / N_ab/sm), and the remaining run counts once where N_sb/sm mod N_ab/sm is not 0.
Times are in GPU clock cycles except t_p and the result of kernel_time, which are in microseconds.
"""
import math

CALC, LOAD, STORE = "calc", "load", "store"


def core_package_time(program, warps, t_m):
    """Algorithm 2. program: list of (type, duration); a memory instruction holds the core package for t_m cycles,
    and its data is there `duration` cycles after it was issued (t_m included)."""
    pc = [0] * warps
    loads_done = [0.0] * warps      # when the loads that a warp has issued are all complete
    last_done = 0.0                 # when every memory transaction issued so far is complete
    now = 0.0
    completed = warps == 0
    while not completed:
        completed = True
        for w in range(warps):
            now = max(now, loads_done[w])
            while pc[w] < len(program):
                completed = False
                kind, duration = program[pc[w]]
                pc[w] += 1
                if kind == CALC:
                    now += duration
                    continue
                last_done = max(last_done, now + duration)
                if kind == LOAD:
                    loads_done[w] = max(loads_done[w], now + duration)
                now += t_m
                if kind == LOAD and pc[w] < len(program) and program[pc[w]][0] != LOAD:
                    break
    return max(now, last_done)


def launch_parameters(sms, threads, warp=32, max_block=1024):
    """Algorithm 3: (blocks, threads per block). The paper takes every value for whole; where the number of SMs does not
    divide the number of threads it is not, so threads per block is rounded up."""
    even_sms = sms + sms % 2
    per_sm = threads / even_sms
    if threads < warp:
        return 1, threads
    if per_sm < warp:
        return math.ceil(threads / warp), warp
    if per_sm <= max_block:
        return even_sms, math.ceil(per_sm)
    return math.ceil(threads / max_block), max_block


def kernel_time(gpu, blocks, threads_per_block, program, t_p, t_m):
    """Algorithm 1, in microseconds. gpu: clock [MHz], sms, cores_per_sm, max_blocks_per_sm, max_warps_per_sm."""
    blocks_per_sm = math.ceil(blocks / gpu["sms"])
    warps_per_block = math.ceil(threads_per_block / 32)
    core_packages = gpu["cores_per_sm"] // 32
    active = min(blocks_per_sm, gpu["max_warps_per_sm"] // warps_per_block, gpu["max_blocks_per_sm"])
    run = lambda blocks: core_package_time(program, math.ceil(blocks * warps_per_block / core_packages), t_m)
    full, rest = divmod(blocks_per_sm, active)
    cycles = full * run(active) + (run(rest) if rest else 0.0)
    return t_p + cycles / gpu["clock"]


# Table 3: clock, SMs, cores per SM, max active blocks per SM, max active warps per SM; t_p, t_m of matrix; of lattice.
TABLE_3 = {
    "gt-720m": (1550, 2, 32, 8, 48, 18.7, 9.5, 11.0, 33.0),
    "k1000m": (706, 2, 192, 16, 64, 11.2, 33.0, 11.2, 47.0),
    "gtx-860m": (1020, 5, 128, 32, 64, 8.7, 17.0, 7.9, 15.0),
    "gtx-1070": (1760, 10, 128, 32, 64, 6.3, 18.5, 5.8, 19.0),
    "rtx-2060": (1200, 30, 64, 16, 32, 5.2, 1.1, 5.0, 12.5),
    "rtx-2080": (1545, 68, 64, 16, 32, 5.2, 1.1, 5.6, 12.3),
}


def gpu(name):
    clock, sms, cores, blocks, warps = TABLE_3[name][:5]
    return dict(clock=clock, sms=sms, cores_per_sm=cores, max_blocks_per_sm=blocks, max_warps_per_sm=warps)


def listing_4(N):
    return [(CALC, 27)] + [(LOAD, 60), (LOAD, 60), (CALC, 10), (STORE, 60), (CALC, 14)] * N


def listing_7(K):
    return [(CALC, 33)] + [(LOAD, 120), (LOAD, 160), (CALC, 17)] * K + [(STORE, 100)]


def listing_9():
    return [(CALC, 30), (LOAD, 10), (LOAD, 10), (LOAD, 120), (LOAD, 120), (CALC, 18), (STORE, 100), (STORE, 100)]


def matrix_time(name, N, K):
    """Equation 17."""
    t_p, t_m = TABLE_3[name][5:7]
    return kernel_time(gpu(name), *launch_parameters(gpu(name)["sms"], N), listing_7(K), t_p, t_m)


def lattice_time(name, N, K):
    """Equation 18."""
    t_p, t_m = TABLE_3[name][7:9]
    return (K // 2 + 1) * kernel_time(
        gpu(name), *launch_parameters(gpu(name)["sms"], N // 2), listing_9(), t_p, t_m)


if __name__ == "__main__":
    for line_7, cycles in ((LOAD, 112), (STORE, 111)):
        listing_1 = [(LOAD, 15), (CALC, 5), (CALC, 6), (line_7, 35), (CALC, 10), (STORE, 15)]
        assert core_package_time(listing_1, 3, 2) == cycles
    print("gpu,method,K,N,time_us")
    for name in TABLE_3:
        for K in (8, 10, 12, 14):
            for e in range(6, 21):
                print(f"{name},matrix,{K},{2**e},{matrix_time(name, 2**e, K)!r}")
                print(f"{name},lattice,{K},{2**e},{lattice_time(name, 2**e, K)!r}")
