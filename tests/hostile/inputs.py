"""The inputs that cases are made of: small ones that are right, and what is hostile about others."""

KERNEL = """extern "C" __global__ void mtx(int N, float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) a[i] *= 2;
}
"""
PTX = """.version 7.8
.target sm_75
.address_size 64
.visible .entry mtx(.param .u64 a)
{
  .reg .b64 %rd<3>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [a];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.f32 %f1, [%rd2];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd2], %f2;
  ret;
}
"""
PROGRAM = """program:
  - calc: 33
  - repeat: K
    body:
      - load: 120
      - calc: 17
  - store: 100
"""
PLAN = """name: pair
parameters: {N: size}
launches:
  - kernel: mtx.cu
    entry: mtx
    arguments: {N: N}
    threads: N
"""
GPU = """name: mine
title: A GPU
compute_capability: {value: 7.5, source: s}
clock_mhz: {value: 1500, source: s}
sms: {value: 20, source: s}
cores_per_sm: {value: 64, source: s}
max_blocks_per_sm: {value: 16, source: s}
max_warps_per_sm: {value: 32, source: s}
warp_size: {value: 32, source: s}
max_threads_per_block: {value: 1024, source: s}
registers_per_sm: {value: 65536, source: s}
shared_bytes_per_sm: {value: 65536, source: s}
shared_bytes_per_block: {value: 49152, source: s}
memory_bandwidth_gb_s: {value: 448, source: s}
l2_bytes: {value: 4194304, source: s}
t_p_us: {value: 5, source: s}
t_m_cycles: {value: 2, source: s}
"""
ROWS = "plan,gpu,K,N,time_us\n" + "".join(
    f"matrix,rtx-2060,{k},{2 ** n},{6 + k * 2 ** n / 1e6}\n" for k in (8, 10) for n in range(10, 20))
CALIBRATION = "warptime: 1\nplan: matrix\ncalibrations:\n  rtx-2060: {t_p: 5, t_m: 1}\n"

# What a shell reads, and what a terminal does.
METACHARACTERS = ["`touch HACKED`", "$(touch HACKED)", "$HOME", "${IFS}", ";touch HACKED;", "&touch HACKED&",
                  "|touch HACKED|", ">HACKED", "<HACKED", "'", '"', "\\", "*", "?", "[a]", "{a,b}", "~", "#",
                  "!", " ", "\t", "\n", "(", ")", "%n%s", "=", ",", ":", "\x1b[31m", "\x07", "\x7f", "ü",
                  "\u202e", "-", "--"]

# Texts that are not what any reader expects.
GARBAGE = {
    "empty": b"",
    "blank": b" \n\n\t\n",
    "zeros": b"\0" * 5000,
    "all bytes": bytes(range(256)) * 8,
    "control characters": b"\x1b[31mred\x1b]0;title\x07\r\x08\x7f: [\x1b[2J]\n" * 3,
    "not UTF-8": b"\xff\xfe\xc3\x28: \xf0\x28\x8c\x28\n",
    "UTF-16": "program: [calc: 1]\n".encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbfprogram: [calc: 1]\n",
    "carriage returns": b"program:\r  - calc: 1\r",
    "one long line": b"x" * 2_000_000,
    "many lines": b"x\n" * 300_000,
    "deep brackets": b"[" * 20_000,
    "deep braces": b"{a: " * 20_000,
    "deep parentheses": b"program: [calc: " + b"(" * 20_000 + b"]",
    "deep indentation": b"".join(b" " * i + b"a:\n" for i in range(1500)),
    "aliases": b"a: &a [1,1,1,1,1,1,1,1]\n" + b"".join(
        b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n" % ((98 + i,) * 2 + (97 + i,) * 8) for i in range(12)),
    "an alias of itself": b"program: &a [*a]\n",
    "only a quote": b'"',
    "only a bracket": b"{",
    "numbers": b"1e308,-1e308,nan,inf,0x1p1023,99999999999999999999\n" * 4,
    "a format": b"%s%n%d{}{0}\n" * 10,
    "a comment without end": b"/* " * 1000,
    "a string without end": b'.version "' * 100,
    "backslashes": b"\\\n" * 20_000,
    "commas": b"," * 100_000,
    "quotes": b'"' * 100_001,
    "colons": b":" * 50_000,
    "hyphens": b"- " * 20_000 + b"a",
    "question marks": b"? " * 5_000,
    "an include of itself": b'#include __FILE__\n',
}

# Values for options that expect numbers, names or expressions.
VALUES = ["", " ", "-", "--", "-1", "0", "1e308", "-1e308", "1e-320", "nan", "inf", "0x10", "1_000", "1.5", "1,2",
          "99999999999999999999", "9223372036854775807", "-9223372036854775808", "2^63", "2^2^2^2^2", "1..",
          "1..9223372036854775807", "5..1", "1..10:0", "1..10:-1", "@", "@/dev/zero", "a=b=c", "N=", "=1", "N=1=2",
          "\x1b[31m", "\n", "%s%n", "`id`", "$(id)", "(" * 3000, "1+" * 3000 + "1", "9" * 3000, "a" * 20_000, "ü",
          "\udcff", "../..", "/", "*", "[", "a{1000}{1000}{1000}"]
