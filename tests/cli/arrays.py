"""Makes and compares .npy files without NumPy, for the cases of `warptime run`.

  arrays.py signal N FILE      N floats
  arrays.py image RxC FILE
  arrays.py same FILE FILE     whether the floats are equal within 1e-5 of the largest
  arrays.py haar FILE FILE     whether the second is Haar's transform of the first, both bands interleaved
"""
import math
import struct
import sys


def write(file, shape, values):
    heading = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    heading += b" " * (-(len(heading) + 11) % 64) + b"\n"
    with open(file, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(heading)) + heading + struct.pack(f"<{len(values)}f", *values))


def read(file):
    with open(file, "rb") as stream:
        data = stream.read()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return struct.unpack(f"<{len(data) // 4}f", data)


def compare(wanted, got, what):
    largest = max(map(abs, wanted))
    same = len(wanted) == len(got) and all(abs(a - b) <= 1e-5 * largest for a, b in zip(wanted, got))
    print(what if same else f"different: {wanted[:4]} … and {got[:4]} …")
    return 0 if same else 1


def main():
    what, first, second = sys.argv[1:]
    if what in ("signal", "image"):
        shape = tuple(map(int, first.split("x")))
        count = math.prod(shape)
        write(second, shape, [math.sin(1.7 * i) + (i * 7 % 13) / 8 for i in range(count)])
        return 0
    if what == "same":
        return compare(read(first), read(second), "equal within 1e-5")
    signal = read(first)
    bands = [(a + sign * b) / math.sqrt(2) for a, b in zip(signal[::2], signal[1::2]) for sign in (1, -1)]
    return compare(bands, read(second), "equal to Haar's transform within 1e-5")


sys.exit(main())
