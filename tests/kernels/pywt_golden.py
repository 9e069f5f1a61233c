#!/usr/bin/python3
"""Writes tests/kernels/pywt_golden.txt: what PyWavelets makes of fixed signals, mode periodization. With a file name: writes that instead.

A line is a name and numbers. The signals are whole numbers from a small generator, which the tests repeat.
"""
import os
import sys

import numpy
import pywt


def signal(count, seed):
    """(a * 1103515245 + 12345) mod 2^31, its high bits as whole numbers from -128 to 127."""
    values = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % 2**31
        values.append((seed >> 16) % 256 - 128)
    return numpy.array(values, dtype=float)


def lines():
    yield "# Written by pywt_golden.py with PyWavelets; compared to 1e-9."
    for taps in range(2, 16, 2):
        wavelet = pywt.Wavelet(f"db{taps // 2}")
        yield f"low_{taps}", wavelet.dec_lo
        yield f"high_{taps}", wavelet.dec_hi
        for count in (taps, 30, 64):
            if count % 2 or count < taps:
                continue
            low, high = pywt.dwt(signal(count, taps), wavelet, mode="periodization")
            yield f"dwt_{taps}_{count}_low", low
            yield f"dwt_{taps}_{count}_high", high
    for name in [f"sym{n}" for n in range(4, 11)] + [f"coif{n}" for n in range(1, 6)]:
        wavelet = pywt.Wavelet(name)
        yield f"low_{name}", wavelet.dec_lo
        low, high = pywt.dwt(signal(64, wavelet.dec_len), wavelet, mode="periodization")
        yield f"dwt_{name}_low", low
        yield f"dwt_{name}_high", high
    for taps in (2, 4, 8):
        parts = pywt.wavedec(signal(64, 3), f"db{taps // 2}", mode="periodization", level=3)
        yield f"levels_{taps}", numpy.concatenate(parts)
        low, (horizontal, vertical, diagonal) = pywt.dwt2(signal(12 * 20, 5).reshape(12, 20), f"db{taps // 2}", mode="periodization")
        for name, part in (("ll", low), ("hl", horizontal), ("lh", vertical), ("hh", diagonal)):
            yield f"image_{taps}_{name}", part.ravel()
    parts = pywt.dwtn(signal(8 * 6 * 12, 7).reshape(8, 6, 12), "db2", mode="periodization")
    for name in sorted(parts):
        yield f"video_{name}", parts[name].ravel()
    for name in ("bior2.2", "bior4.4"):
        low, high = pywt.dwt(signal(64, 9), name, mode="periodization")
        yield f"{name}_low", low
        yield f"{name}_high", high


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "pywt_golden.txt")
    with open(target, "w", encoding="utf-8") as out:
        for line in lines():
            out.write(line if isinstance(line, str) else " ".join([line[0]] + [f"{value:.15g}" for value in line[1]]))
            out.write("\n")


if __name__ == "__main__":
    main()
