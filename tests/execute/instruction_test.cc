// What each instruction gives, a line per case.
#include <cmath>
#include <limits>

#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

struct Case {
  const char* instruction;
  std::vector<std::uint64_t> inputs;
  std::uint64_t expected;
};

void check(const std::vector<Case>& cases) {
  for (const auto& one : cases) {
    SCOPED_TRACE(one.instruction);
    const auto result = evaluate(one.instruction, one.inputs);
    EXPECT_EQ(result, one.expected) << std::hex << "0x" << result << " instead of 0x" << one.expected;
  }
}

std::uint64_t f(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
std::uint64_t d(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
std::uint64_t s32(std::int32_t value) {
  return static_cast<std::uint32_t>(value);
}
std::uint64_t s64(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

constexpr std::uint64_t nan32 = 0x7fffffff;
const float infinity = std::numeric_limits<float>::infinity();
const float tiny = 1e-40f;  // subnormal

TEST(Instructions, IntegerArithmetic) {
  check({
      {"add.s32 %r0, %r1, %r2;", {s32(5), s32(-7)}, s32(-2)},
      {"add.u32 %r0, %r1, %r2;", {0xffffffff, 2}, 1},
      {"add.sat.s32 %r0, %r1, %r2;", {0x7fffffff, 1}, 0x7fffffff},
      {"sub.sat.s32 %r0, %r1, %r2;", {0x80000000, 1}, 0x80000000},
      {"add.u16 %h0, %h1, %h2;", {0xffff, 3}, 2},
      {"add.s64 %d0, %d1, %d2;", {s64(-1), 1}, 0},
      {"add.u16x2 %r0, %r1, %r2;", {0x0001ffff, 0x00020001}, 0x00030000},
      {"sub.u32 %r0, %r1, %r2;", {1, 2}, 0xffffffff},
      {"mul.lo.s32 %r0, %r1, %r2;", {s32(-3), 7}, s32(-21)},
      {"mul.hi.s32 %r0, %r1, %r2;", {s32(-3), 7}, 0xffffffff},
      {"mul.hi.u32 %r0, %r1, %r2;", {0xffffffff, 0xffffffff}, 0xfffffffe},
      {"mul.hi.u64 %d0, %d1, %d2;", {s64(-1), s64(-1)}, s64(-2)},
      {"mul.hi.s64 %d0, %d1, %d2;", {s64(-1), 5}, s64(-1)},
      {"mul.wide.s32 %d0, %r1, %r2;", {s32(-3), 7}, s64(-21)},
      {"mul.wide.u32 %d0, %r1, %r2;", {0xffffffff, 2}, 0x1fffffffe},
      {"mul.wide.u16 %r0, %h1, %h2;", {0xffff, 0xffff}, 0xfffe0001},
      {"mul.wide.s16 %r0, %h1, %h2;", {0xffff, 3}, s32(-3)},
      {"mad.lo.u32 %r0, %r1, %r2, %r3;", {3, 4, 5}, 17},
      {"mad.hi.s32 %r0, %r1, %r2, %r3;", {0x40000000, 8, 1}, 3},
      {"mad.hi.sat.s32 %r0, %r1, %r2, %r3;", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
      {"mad.wide.s32 %d0, %r1, %r2, %d3;", {s32(-3), 7, 21}, 0},
      {"mad.wide.u16 %r0, %h1, %h2, %r3;", {2, 3, 4}, 10},
      {"mul24.lo.s32 %r0, %r1, %r2;", {0xffffff, 2}, s32(-2)},
      {"mul24.lo.u32 %r0, %r1, %r2;", {0xffffff, 2}, 0x1fffffe},
      {"mul24.hi.u32 %r0, %r1, %r2;", {0xffffff, 0xffffff}, 0xfffffe00},
      {"mad24.lo.u32 %r0, %r1, %r2, %r3;", {3, 4, 5}, 17},
      {"sad.s32 %r0, %r1, %r2, %r3;", {s32(-4), 3, 10}, 17},
      {"sad.u32 %r0, %r1, %r2, %r3;", {3, 4, 10}, 11},
      {"div.s32 %r0, %r1, %r2;", {s32(-7), 2}, s32(-3)},
      {"div.u32 %r0, %r1, %r2;", {0xfffffff9, 2}, 0x7ffffffc},
      {"div.s32 %r0, %r1, %r2;", {0x80000000, s32(-1)}, 0x80000000},
      {"div.u32 %r0, %r1, %r2;", {7, 0}, 0xffffffff},
      {"div.s64 %d0, %d1, %d2;", {s64(-100), 7}, s64(-14)},
      {"div.u16 %h0, %h1, %h2;", {100, 7}, 14},
      {"rem.s32 %r0, %r1, %r2;", {s32(-7), 2}, s32(-1)},
      {"rem.s32 %r0, %r1, %r2;", {0x80000000, s32(-1)}, 0},
      {"rem.u64 %d0, %d1, %d2;", {100, 7}, 2},
      {"rem.u32 %r0, %r1, %r2;", {7, 0}, 7},
      {"abs.s32 %r0, %r1;", {s32(-5)}, 5},
      {"abs.s64 %d0, %d1;", {s64(-5)}, 5},
      {"neg.s16 %h0, %h1;", {5}, 0xfffb},
      {"min.s32 %r0, %r1, %r2;", {s32(-5), 3}, s32(-5)},
      {"min.u32 %r0, %r1, %r2;", {s32(-5), 3}, 3},
      {"max.s64 %d0, %d1, %d2;", {s64(-5), 3}, 3},
      {"max.s16 %h0, %h1, %h2;", {0xfffb, 3}, 3},
      {"max.s16x2 %r0, %r1, %r2;", {0xffff0003, 0x00010002}, 0x00010003},
      {"max.s32.relu %r0, %r1, %r2;", {s32(-5), s32(-3)}, 0},
  });
}

TEST(Instructions, Carries) {
  check({
      {"add.cc.u32 %r0, %r1, %r2; addc.u32 %r0, 0, 0;", {0xffffffff, 1}, 1},
      {"add.cc.u32 %r0, %r1, %r2; addc.u32 %r0, 0, 0;", {0xfffffffe, 1}, 0},
      {"add.cc.s64 %d0, %d1, %d2; addc.s64 %d0, %d1, 5;", {s64(-1), 1}, 5},
      {"add.cc.u32 %r5, %r1, %r2; addc.cc.u32 %r6, %r1, %r2; addc.u32 %r0, 10, 0;",
       {0xffffffff, 0xffffffff},
       11},
      {"sub.cc.u32 %r0, %r1, %r2; subc.u32 %r0, 10, 0;", {1, 2}, 9},
      {"sub.cc.u32 %r0, %r1, %r2; subc.u32 %r0, 10, 0;", {2, 1}, 10},
      {"mad.lo.cc.u32 %r0, %r1, %r2, %r3; madc.hi.u32 %r0, %r1, %r2, 0;",
       {0xffffffff, 0xffffffff, 0xffffffff},
       0xffffffff},
      {"mad.lo.cc.u32 %r0, %r1, %r2, %r3; addc.u32 %r0, 0, 0;", {1, 1, 0xffffffff}, 1},
  });
}

TEST(Instructions, BitsAndShifts) {
  check({
      {"popc.b32 %r0, %r1;", {0xf0f0}, 8},
      {"popc.b64 %r0, %d1;", {s64(-1)}, 64},
      {"clz.b32 %r0, %r1;", {0x00010000}, 15},
      {"clz.b32 %r0, %r1;", {0}, 32},
      {"clz.b64 %r0, %d1;", {1}, 63},
      {"bfind.u32 %r0, %r1;", {0x00010000}, 16},
      {"bfind.u32 %r0, %r1;", {0}, 0xffffffff},
      {"bfind.s32 %r0, %r1;", {0xffffffff}, 0xffffffff},
      {"bfind.s32 %r0, %r1;", {0xfffffff0}, 3},
      {"bfind.shiftamt.u32 %r0, %r1;", {0x00010000}, 15},
      {"bfind.u64 %r0, %d1;", {std::uint64_t{1} << 40}, 40},
      {"fns.b32 %r0, %r1, %r2, %r3;", {0xaaaaaaaa, 3, 1}, 3},
      {"fns.b32 %r0, %r1, %r2, %r3;", {0xaaaaaaaa, 3, s32(-1)}, 3},
      {"fns.b32 %r0, %r1, %r2, %r3;", {0xaaaaaaaa, 2, 2}, 5},
      {"brev.b32 %r0, %r1;", {0x00000001}, 0x80000000},
      {"brev.b64 %d0, %d1;", {2}, std::uint64_t{1} << 62},
      {"bfe.u32 %r0, %r1, %r2, %r3;", {0x12345678, 8, 8}, 0x56},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {0x00008000, 8, 8}, 0xffffff80},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {0x80000000, 28, 8}, 0xfffffff8},
      {"bfe.u32 %r0, %r1, %r2, %r3;", {0x80000000, 28, 8}, 8},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {0x80000000, 40, 8}, 0xffffffff},
      {"bfe.u32 %r0, %r1, %r2, %r3;", {0xffffffff, 4, 0}, 0},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {0x80000000, 4, 32}, 0xf8000000},
      {"bfe.u64 %d0, %d1, %r2, %r3;", {0x123456789abcdef0, 32, 16}, 0x5678},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0xff, 0, 8, 4}, 0xf00},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0, 0xffffffff, 8, 8}, 0xffff00ff},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0xff, 1, 0, 0}, 1},
      {"bfi.b64 %d0, %d1, %d2, %r3, %r4;", {0xf, 0, 60, 8}, std::uint64_t{0xf} << 60},
      {"bmsk.clamp.b32 %r0, %r1, %r2;", {4, 8}, 0xff0},
      {"szext.wrap.s32 %r0, %r1, %r2;", {0x80, 8}, 0xffffff80},
      {"shl.b32 %r0, %r1, %r2;", {1, 31}, 0x80000000},
      {"shl.b32 %r0, %r1, %r2;", {1, 32}, 0},
      {"shl.b64 %d0, %d1, %r2;", {1, 63}, std::uint64_t{1} << 63},
      {"shl.b16 %h0, %h1, %r2;", {1, 15}, 0x8000},
      {"shr.u32 %r0, %r1, %r2;", {0x80000000, 31}, 1},
      {"shr.s32 %r0, %r1, %r2;", {0x80000000, 31}, 0xffffffff},
      {"shr.s32 %r0, %r1, %r2;", {0x80000000, 40}, 0xffffffff},
      {"shr.u32 %r0, %r1, %r2;", {0x80000000, 40}, 0},
      {"shr.s64 %d0, %d1, %r2;", {s64(-16), 2}, s64(-4)},
      {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {0x80000000, 1, 1}, 3},
      {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", {0x12345678, 1, 40}, 0x12345678},
      {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", {0x80000000, 1, 31}, 3},
      {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", {1, 7, 32}, 7},
      {"prmt.b32 %r0, %r1, %r2, %r3;", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
      {"prmt.b32 %r0, %r1, %r2, %r3;", {0x00000080, 0, 0x8888}, 0xffffffff},
      {"prmt.b32.f4e %r0, %r1, %r2, %r3;", {0x33221100, 0x77665544, 1}, 0x44332211},
      {"prmt.b32.b4e %r0, %r1, %r2, %r3;", {0x33221100, 0x77665544, 1}, 0x66770011},
      {"prmt.b32.rc8 %r0, %r1, %r2, %r3;", {0x33221100, 0, 2}, 0x22222222},
      {"prmt.b32.rc16 %r0, %r1, %r2, %r3;", {0x33221100, 0, 1}, 0x33223322},
      {"dp4a.s32.s32 %r0, %r1, %r2, %r3;", {0xff020304, 0x01010101, 10}, 18},
      {"dp4a.u32.u32 %r0, %r1, %r2, %r3;", {0xff020304, 0x01010101, 10}, 274},
      {"dp2a.lo.s32.s32 %r0, %r1, %r2, %r3;", {0xffff0002, 0x00000503, 1}, 2},
      {"dp2a.hi.u32.u32 %r0, %r1, %r2, %r3;", {0x00010002, 0x05030000, 1}, 12},
  });
}

TEST(Instructions, Logic) {
  check({
      {"and.b32 %r0, %r1, %r2;", {0xff00, 0x0ff0}, 0x0f00},
      {"or.b64 %d0, %d1, %d2;", {0xff00, 0x0ff0}, 0xfff0},
      {"xor.b16 %h0, %h1, %h2;", {0xff00, 0x0ff0}, 0xf0f0},
      {"not.b32 %r0, %r1;", {0xff}, 0xffffff00},
      {"not.b16 %h0, %h1;", {0xff}, 0xff00},
      {"cnot.b32 %r0, %r1;", {0}, 1},
      {"cnot.b32 %r0, %r1;", {7}, 0},
      {"lop3.b32 %r0, %r1, %r2, %r3, 0x80;", {0xff, 0x0f, 0x3c}, 0x0c},
      {"lop3.b32 %r0, %r1, %r2, %r3, 0x96;", {0xff, 0x0f, 0x3c}, 0xff ^ 0x0f ^ 0x3c},
      {"lop3.b32 %r0, %r1, %r2, %r3, 0xe2;", {0xff, 0x0f, 0x3c}, (0x0f & 0xff) | (~0x0f & 0x3c)},
      {"and.pred %p0, %p1, %p2;", {1, 0}, 0},
      {"and.pred %p0, %p1, !%p2;", {1, 0}, 1},
      {"or.pred %p0, %p1, %p2;", {1, 0}, 1},
      {"xor.pred %p0, %p1, %p2;", {1, 1}, 0},
      {"not.pred %p0, %p1;", {0}, 1},
      {"mov.pred %p0, %p1;", {1}, 1},
  });
}

TEST(Instructions, Comparison) {
  const auto nan = f(NAN);
  check({
      {"setp.lt.s32 %p0, %r1, %r2;", {s32(-1), 1}, 1},
      {"setp.lt.u32 %p0, %r1, %r2;", {s32(-1), 1}, 0},
      {"setp.hi.u32 %p0, %r1, %r2;", {s32(-1), 1}, 1},
      {"setp.ls.u32 %p0, %r1, %r2;", {1, 1}, 1},
      {"setp.eq.b64 %p0, %d1, %d2;", {5, 5}, 1},
      {"setp.ne.b16 %p0, %h1, %h2;", {5, 5}, 0},
      {"setp.ge.s64 %p0, %d1, %d2;", {s64(-5), s64(-6)}, 1},
      {"setp.lt.f32 %p0, %r1, %r2;", {f(1), f(2)}, 1},
      {"setp.lt.f32 %p0, %r1, %r2;", {nan, f(2)}, 0},
      {"setp.ltu.f32 %p0, %r1, %r2;", {nan, f(2)}, 1},
      {"setp.ne.f32 %p0, %r1, %r2;", {nan, nan}, 0},
      {"setp.neu.f32 %p0, %r1, %r2;", {nan, nan}, 1},
      {"setp.eq.f32 %p0, %r1, %r2;", {f(-0.0f), f(0)}, 1},
      {"setp.gt.ftz.f32 %p0, %r1, %r2;", {f(tiny), f(0)}, 0},
      {"setp.gt.f32 %p0, %r1, %r2;", {f(tiny), f(0)}, 1},
      {"setp.num.f64 %p0, %d1, %d2;", {d(1), d(NAN)}, 0},
      {"setp.nan.f64 %p0, %d1, %d2;", {d(1), d(NAN)}, 1},
      {"setp.lt.f16 %p0, %h1, %h2;", {0x3c00, 0x4000}, 1},
      {"setp.lt.bf16 %p0, %h1, %h2;", {0x3f80, 0x4000}, 1},
      {"setp.lt.and.s32 %p0, %r1, %r2, %p3;", {1, 2, 0}, 0},
      {"setp.lt.or.s32 %p0, %r1, %r2, !%p3;", {3, 2, 0}, 1},
      {"setp.lt.xor.s32 %p0, %r1, %r2, %p3;", {1, 2, 1}, 0},
      {"setp.lt.s32 %p5|%p0, %r1, %r2;", {1, 2}, 0},
      {"setp.lt.and.s32 %p5|%p0, %r1, %r2, %p3;", {3, 2, 1}, 1},
      {"setp.gt.f16x2 %p5|%p0, %r1, %r2;", {0x40003c00, 0x3c003c00}, 1},
      {"set.lt.u32.s32 %r0, %r1, %r2;", {1, 2}, 0xffffffff},
      {"set.lt.f32.s32 %r0, %r1, %r2;", {1, 2}, f(1)},
      {"set.eq.u32.f32 %r0, %r1, %r2;", {f(1), f(2)}, 0},
      {"selp.b32 %r0, %r1, %r2, %p3;", {7, 8, 1}, 7},
      {"selp.f64 %d0, %d1, %d2, %p3;", {d(7), d(8), 0}, d(8)},
      {"slct.u32.s32 %r0, %r1, %r2, %r3;", {7, 8, s32(-1)}, 8},
      {"slct.f32.f32 %r0, %r1, %r2, %r3;", {f(7), f(8), f(0)}, f(7)},
      {"slct.f32.f32 %r0, %r1, %r2, %r3;", {f(7), f(8), nan}, f(8)},
      {"testp.finite.f32 %p0, %r1;", {f(infinity)}, 0},
      {"testp.subnormal.f32 %p0, %r1;", {f(tiny)}, 1},
      {"testp.notanumber.f64 %p0, %d1;", {d(NAN)}, 1},
  });
}

TEST(Instructions, FloatArithmetic) {
  const float third = 1.0f / 3.0f;  // to nearest: above a third
  check({
      {"add.f32 %r0, %r1, %r2;", {f(1.5f), f(2)}, f(3.5f)},
      {"add.rz.f32 %r0, %r1, %r2;", {f(1), f(1e-9f)}, f(1)},
      {"add.rp.f32 %r0, %r1, %r2;", {f(1), f(1e-9f)}, f(std::nextafter(1.0f, 2.0f))},
      {"add.rm.f32 %r0, %r1, %r2;", {f(-1), f(-1e-9f)}, f(std::nextafter(-1.0f, -2.0f))},
      {"add.rn.ftz.f32 %r0, %r1, %r2;", {f(tiny), f(0)}, 0},
      {"add.f32 %r0, %r1, %r2;", {f(tiny), f(0)}, f(tiny)},
      {"add.sat.f32 %r0, %r1, %r2;", {f(1), f(2)}, f(1)},
      {"add.sat.f32 %r0, %r1, %r2;", {f(NAN), f(2)}, 0},
      {"add.f32 %r0, %r1, %r2;", {f(infinity), f(-infinity)}, nan32},
      {"add.f64 %d0, %d1, %d2;", {d(1.5), d(2)}, d(3.5)},
      {"add.rp.f64 %d0, %d1, %d2;", {d(1), d(1e-30)}, d(std::nextafter(1.0, 2.0))},
      {"sub.f32 %r0, %r1, %r2;", {f(1.5f), f(2)}, f(-0.5f)},
      {"mul.f32 %r0, %r1, %r2;", {f(1.5f), f(2)}, f(3)},
      {"mul.ftz.f32 %r0, %r1, %r2;", {f(-1e-30f), f(1e-30f)}, f(-0.0f)},
      {"mul.rn.f64 %d0, %d1, %d2;", {d(1.5), d(2)}, d(3)},
      {"fma.rn.f32 %r0, %r1, %r2, %r3;", {f(1 + 0x1p-23f), f(1 + 0x1p-23f), f(-1 - 0x1p-22f)}, f(0x1p-46f)},
      {"fma.rz.f32 %r0, %r1, %r2, %r3;", {f(1), f(1), f(-1e-9f)}, f(std::nextafter(1.0f, 0.0f))},
      {"fma.rn.f64 %d0, %d1, %d2, %d3;", {d(3), d(4), d(5)}, d(17)},
      {"mad.rn.f32 %r0, %r1, %r2, %r3;", {f(3), f(4), f(5)}, f(17)},
      {"div.rn.f32 %r0, %r1, %r2;", {f(1), f(3)}, f(third)},
      {"div.rz.f32 %r0, %r1, %r2;", {f(1), f(3)}, f(std::nextafter(third, 0.0f))},
      {"div.full.f32 %r0, %r1, %r2;", {f(1), f(4)}, f(0.25f)},
      {"div.approx.ftz.f32 %r0, %r1, %r2;", {f(1), f(4)}, f(0.25f)},
      {"div.rn.f64 %d0, %d1, %d2;", {d(1), d(4)}, d(0.25)},
      {"min.f32 %r0, %r1, %r2;", {f(1), f(NAN)}, f(1)},
      {"min.NaN.f32 %r0, %r1, %r2;", {f(1), f(NAN)}, nan32},
      {"min.f32 %r0, %r1, %r2;", {f(0), f(-0.0f)}, f(-0.0f)},
      {"max.f32 %r0, %r1, %r2;", {f(0), f(-0.0f)}, f(0)},
      {"max.xorsign.abs.f32 %r0, %r1, %r2;", {f(-3), f(2)}, f(-3)},
      {"max.f64 %d0, %d1, %d2;", {d(1), d(2)}, d(2)},
      {"abs.f32 %r0, %r1;", {f(-2)}, f(2)},
      {"abs.ftz.f32 %r0, %r1;", {f(-tiny)}, 0},
      {"neg.f32 %r0, %r1;", {f(2)}, f(-2)},
      {"neg.f64 %d0, %d1;", {d(2)}, d(-2)},
      {"copysign.f32 %r0, %r1, %r2;", {f(-1), f(2)}, f(-2)},
      {"sqrt.rn.f32 %r0, %r1;", {f(2)}, f(std::sqrt(2.0f))},
      {"sqrt.rm.f64 %d0, %d1;", {d(4)}, d(2)},
      {"sqrt.approx.f32 %r0, %r1;", {f(9)}, f(3)},
      {"rsqrt.approx.f32 %r0, %r1;", {f(4)}, f(0.5f)},
      {"rsqrt.approx.f32 %r0, %r1;", {f(0)}, f(infinity)},
      {"rsqrt.approx.f64 %d0, %d1;", {d(4)}, d(0.5)},
      {"rcp.rn.f32 %r0, %r1;", {f(3)}, f(third)},
      {"rcp.approx.ftz.f32 %r0, %r1;", {f(tiny)}, f(infinity)},
      {"rcp.approx.ftz.f64 %d0, %d1;", {d(4)}, d(0.25)},
      {"sin.approx.f32 %r0, %r1;", {f(1)}, f(static_cast<float>(std::sin(1.0)))},
      {"cos.approx.f32 %r0, %r1;", {f(1)}, f(static_cast<float>(std::cos(1.0)))},
      {"ex2.approx.f32 %r0, %r1;", {f(3)}, f(8)},
      {"lg2.approx.f32 %r0, %r1;", {f(8)}, f(3)},
      {"lg2.approx.ftz.f32 %r0, %r1;", {f(tiny)}, f(-infinity)},
      {"tanh.approx.f32 %r0, %r1;", {f(0.5f)}, f(static_cast<float>(std::tanh(0.5)))},
      {"add.f32x2 %d0, %d1, %d2;", {f(1) << 32 | f(2), f(3) << 32 | f(4)}, f(4) << 32 | f(6)},
      {"fma.rn.f32x2 %d0, %d1, %d2, %d3;",
       {f(1) << 32 | f(2), f(3) << 32 | f(4), f(5) << 32 | f(6)},
       f(8) << 32 | f(14)},
  });
}

TEST(Instructions, HalfArithmetic) {
  // 0x3c00 is 1, 0x4000 2, 0x4200 3, 0x7c00 infinity, 0x0001 the least.
  check({
      {"add.f16 %h0, %h1, %h2;", {0x3c00, 0x4000}, 0x4200},
      {"sub.f16 %h0, %h1, %h2;", {0x3c00, 0x4000}, 0xbc00},
      {"mul.f16 %h0, %h1, %h2;", {0x4000, 0x4200}, 0x4600},
      {"add.f16 %h0, %h1, %h2;", {0x7bff, 0x7bff}, 0x7c00},
      {"add.sat.f16 %h0, %h1, %h2;", {0x3c00, 0x4000}, 0x3c00},
      {"add.f16 %h0, %h1, %h2;", {0x0001, 0x0001}, 0x0002},
      {"add.ftz.f16 %h0, %h1, %h2;", {0x0001, 0x0001}, 0},
      {"add.f16x2 %r0, %r1, %r2;", {0x3c004000, 0x3c003c00}, 0x40004200},
      {"fma.rn.f16 %h0, %h1, %h2, %h3;", {0x4000, 0x4200, 0x3c00}, 0x4700},
      // 1 + 2^-11 is half way: to even. With a little more, away.
      {"add.f16 %h0, %h1, %h2;", {0x3c00, 0x1000}, 0x3c00},
      {"add.f16 %h0, %h1, %h2;", {0x3c00, 0x1001}, 0x3c01},
      {"fma.rn.relu.f16 %h0, %h1, %h2, %h3;", {0xbc00, 0x3c00, 0}, 0},
      {"min.f16 %h0, %h1, %h2;", {0x3c00, 0x7e00}, 0x3c00},
      {"max.NaN.f16 %h0, %h1, %h2;", {0x3c00, 0x7e00}, 0x7fff},
      {"neg.f16 %h0, %h1;", {0x3c00}, 0xbc00},
      {"abs.f16x2 %r0, %r1;", {0xbc00bc00}, 0x3c003c00},
      {"neg.f16x2 %r0, %r1;", {0x3c00bc00}, 0xbc003c00},
      {"ex2.approx.f16 %h0, %h1;", {0x4000}, 0x4400},
      {"add.bf16 %h0, %h1, %h2;", {0x3f80, 0x4000}, 0x4040},
      {"fma.rn.bf16 %h0, %h1, %h2, %h3;", {0x4000, 0x4040, 0x3f80}, 0x40e0},
      {"mul.bf16x2 %r0, %r1, %r2;", {0x40004040, 0x40004000}, 0x408040c0},
  });
}

TEST(Instructions, Conversion) {
  check({
      {"cvt.s64.s32 %d0, %r1;", {s32(-1)}, s64(-1)},
      {"cvt.u64.u32 %d0, %r1;", {s32(-1)}, 0xffffffff},
      {"cvt.u32.u64 %r0, %d1;", {0x123456789}, 0x23456789},
      {"cvt.s32.s8 %r0, %r1;", {0x80}, 0xffffff80},
      {"cvt.u32.u8 %r0, %r1;", {0x180}, 0x80},
      {"cvt.s16.s8 %h0, %h1;", {0x80}, 0xff80},
      {"cvt.sat.u8.s32 %r0, %r1;", {s32(-5)}, 0},
      {"cvt.sat.u8.s32 %r0, %r1;", {300}, 255},
      {"cvt.sat.s8.s32 %r0, %r1;", {s32(-300)}, 0xffffff80},
      {"cvt.sat.s32.u32 %r0, %r1;", {0xffffffff}, 0x7fffffff},
      {"cvt.rn.f32.s32 %r0, %r1;", {s32(-5)}, f(-5)},
      {"cvt.rn.f32.u32 %r0, %r1;", {0xffffffff}, f(4294967296.0f)},
      {"cvt.rz.f32.u32 %r0, %r1;", {0xffffffff}, f(4294967040.0f)},
      {"cvt.rp.f32.s64 %r0, %d1;", {(std::uint64_t{1} << 40) + 1}, f(1099511758848.0f)},
      {"cvt.rn.f64.u64 %d0, %d1;", {~std::uint64_t{0}}, d(18446744073709551616.0)},
      {"cvt.rn.f64.s32 %d0, %r1;", {s32(-7)}, d(-7)},
      {"cvt.rzi.s32.f32 %r0, %r1;", {f(-2.7f)}, s32(-2)},
      {"cvt.rni.s32.f32 %r0, %r1;", {f(2.5f)}, 2},
      {"cvt.rmi.s32.f32 %r0, %r1;", {f(-2.1f)}, s32(-3)},
      {"cvt.rpi.s32.f32 %r0, %r1;", {f(2.1f)}, 3},
      {"cvt.rzi.s32.f32 %r0, %r1;", {f(3e9f)}, 0x7fffffff},
      {"cvt.rzi.u32.f32 %r0, %r1;", {f(-3)}, 0},
      {"cvt.rzi.s32.f32 %r0, %r1;", {f(NAN)}, 0},
      {"cvt.rzi.s64.f32 %d0, %r1;", {f(NAN)}, std::uint64_t{1} << 63},
      {"cvt.rzi.u64.f64 %d0, %d1;", {d(1e30)}, ~std::uint64_t{0}},
      {"cvt.rzi.s64.f64 %d0, %d1;", {d(-1.5)}, s64(-1)},
      {"cvt.rzi.u16.f32 %h0, %r1;", {f(70000)}, 65535},
      {"cvt.f64.f32 %d0, %r1;", {f(1.5f)}, d(1.5)},
      {"cvt.rn.f32.f64 %r0, %d1;", {d(1.0 + 1e-12)}, f(1)},
      {"cvt.rp.f32.f64 %r0, %d1;", {d(1.0 + 1e-12)}, f(std::nextafter(1.0f, 2.0f))},
      {"cvt.rni.f32.f32 %r0, %r1;", {f(2.5f)}, f(2)},
      {"cvt.rmi.f64.f64 %d0, %d1;", {d(-2.5)}, d(-3)},
      {"cvt.rpi.ftz.f32.f32 %r0, %r1;", {f(tiny)}, f(0)},
      {"cvt.sat.f32.f32 %r0, %r1;", {f(2.5f)}, f(1)},
      {"cvt.rn.f16.f32 %h0, %r1;", {f(1.5f)}, 0x3e00},
      {"cvt.rn.f16.f32 %h0, %r1;", {f(1e6f)}, 0x7c00},
      {"cvt.rz.f16.f32 %h0, %r1;", {f(1e6f)}, 0x7bff},
      {"cvt.rn.f16.f32 %h0, %r1;", {f(6e-8f)}, 1},
      {"cvt.f32.f16 %r0, %h1;", {0x3e00}, f(1.5f)},
      {"cvt.f32.f16 %r0, %h1;", {0x0001}, f(0x1p-24f)},
      {"cvt.rn.f16.s32 %h0, %r1;", {3}, 0x4200},
      {"cvt.rn.f16.u64 %h0, %d1;", {~std::uint64_t{0}}, 0x7c00},
      {"cvt.rzi.s32.f16 %r0, %h1;", {0xc200}, s32(-3)},
      {"cvt.rn.bf16.f32 %h0, %r1;", {f(1.5f)}, 0x3fc0},
      {"cvt.f32.bf16 %r0, %h1;", {0x3fc0}, f(1.5f)},
      {"cvt.rn.f16x2.f32 %r0, %r1, %r2;", {f(2), f(1)}, 0x40003c00},
      {"cvt.rn.relu.bf16x2.f32 %r0, %r1, %r2;", {f(-2), f(1)}, 0x00003f80},
      {"cvt.rna.tf32.f32 %r0, %r1;", {0x3f801000}, 0x3f802000},
      {"cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;", {f(1000), f(1)}, 0x7e38},
      {"cvt.rn.satfinite.e5m2x2.f32 %h0, %r1, %r2;", {f(-2), f(1)}, 0xc03c},
      {"cvt.rn.f16x2.e4m3x2 %r0, %h1;", {0x7e38}, 0x5f003c00},
  });
}

TEST(Instructions, MovesAndVectors) {
  check({
      {"mov.b64 %d0, {%r1, %r2};", {1, 2}, 0x200000001},
      {"mov.b64 {%r0, %r5}, %d1;", {0x200000001}, 1},
      {"mov.b64 {%r5, %r0}, %d1;", {0x200000001}, 2},
      {"mov.b32 %r0, {%h1, %h2};", {0x1111, 0x2222}, 0x22221111},
      {"mov.b32 {_, %h0}, %r1;", {0x22221111}, 0x2222},
      {"mov.b64 {%h5, %h6, %h7, %h0}, %d1;", {0x4444333322221111}, 0x4444},
      {"mov.b128 %w0, {%d1, %d2}; mov.b128 {%d5, %d0}, %w0;", {1, 2}, 2},
      {"mov.f32 %r0, 0f3F800000;", {}, f(1)},
      {"mov.f64 %d0, 0d3FF0000000000000;", {}, d(1)},
      {"mov.f32 %r0, 1.5;", {}, f(1.5f)},
      {"mov.b32 %r0, 0f7FA00000;", {}, 0x7fa00000},  // a signalling NaN stays what it is
      {"mov.u32 %r0, WARP_SZ;", {}, 32},
      {"mov.u32 %r0, %ntid.x;", {}, 32},
      {"mov.u32 %r0, %nctaid.y;", {}, 1},
      {"@%p1 mov.u32 %r0, 5; @!%p1 mov.u32 %r0, 6;", {0}, 6},
  });
}

TEST(Instructions, SpecialRegistersOfAGrid) {
  const auto loaded = load_text(
      kernel_text(".param .u64 out",
                  "ld.param.u64 %d1, [out];\n"
                  "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
                  "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;\n"
                  "mov.u32 %r7, %ntid.x; mov.u32 %r8, %ntid.y; mov.u32 %r9, %ntid.z;\n"
                  "mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;\n"
                  // block number, thread number
                  "mad.lo.u32 %r12, %r6, %r11, %r5; mad.lo.u32 %r12, %r12, %r10, %r4;\n"
                  "mad.lo.u32 %r13, %r3, %r8, %r2; mad.lo.u32 %r13, %r13, %r7, %r1;\n"
                  "mul.lo.u32 %r14, %r7, %r8; mul.lo.u32 %r14, %r14, %r9;\n"
                  "mad.lo.u32 %r15, %r12, %r14, %r13; mul.wide.u32 %d2, %r15, 8; add.u64 %d1, %d1, %d2;\n"
                  "mov.u32 %r16, %laneid; mov.u32 %r17, %warpid;\n"
                  "shl.b32 %r18, %r17, 8; or.b32 %r18, %r18, %r16;\n"
                  "mov.u32 %r19, %lanemask_lt; st.global.v2.u32 [%d1], {%r18, %r19};\n"));
  ASSERT_TRUE(loaded);
  const auto outcome = launch(*loaded, {{2, 3, 2}, {5, 4, 3}}, {uninitialised(12 * 60 * 8)});
  ASSERT_TRUE(outcome.execution.completed);
  EXPECT_EQ(outcome.execution.counts.warps, 24u);
  const auto values = outcome.values<std::uint32_t>(0);
  for (std::uint32_t i = 0; i < 12 * 60; ++i) {
    const auto thread = i % 60, lane = thread % 32;
    ASSERT_EQ(values[2 * i], (thread / 32) << 8 | lane) << i;
    ASSERT_EQ(values[2 * i + 1], (1u << lane) - 1) << i;
  }
}

}  // namespace
}  // namespace warptime::execute::testing
