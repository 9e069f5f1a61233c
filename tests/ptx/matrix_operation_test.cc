// Matrix instructions against what ptxas 13.0 makes of them for sm_90: each line was read from its machine code.
#include "analyzer/ptx/matrix_operation.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace warptime::ptx {
namespace {

struct Line {
  std::string_view opcode;
  int requests, moves;
};
constexpr Line kFragments[] = {
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16", 4, 0},
    {"wmma.load.a.sync.aligned.col.m16n16k16.global.f16", 4, 4},
    {"wmma.load.b.sync.aligned.row.m16n16k16.global.f16", 4, 4},
    {"wmma.load.b.sync.aligned.col.m16n16k16.global.bf16", 4, 0},
    {"wmma.load.a.sync.aligned.row.m8n32k16.global.f16", 2, 0},
    {"wmma.load.b.sync.aligned.row.m8n32k16.global.f16", 8, 8},
    {"wmma.load.a.sync.aligned.col.m32n8k16.global.f16", 8, 8},
    {"wmma.load.b.sync.aligned.col.m32n8k16.global.f16", 2, 0},
    {"wmma.load.c.sync.aligned.row.m16n16k16.global.f32", 4, 0},
    {"wmma.load.c.sync.aligned.col.m16n16k16.global.f32", 8, 0},
    {"wmma.store.d.sync.aligned.row.m8n32k16.global.f32", 8, 0},
    {"wmma.store.d.sync.aligned.col.m8n32k16.global.f32", 4, 0},
    {"wmma.store.d.sync.aligned.row.m32n8k16.global.f32", 4, 0},
    {"wmma.store.d.sync.aligned.col.m32n8k16.global.s32", 8, 0},
    {"wmma.load.c.sync.aligned.row.m16n16k16.global.f16", 4, 0},
    {"wmma.store.d.sync.aligned.col.m16n16k16.global.f16", 4, 4},
    {"wmma.store.d.sync.aligned.row.m8n32k16.global.f16", 4, 4},
    {"wmma.store.d.sync.aligned.col.m8n32k16.global.f16", 4, 0},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.s8", 2, 0},
    {"wmma.load.a.sync.aligned.col.m16n16k16.global.u8", 8, 0},
    {"wmma.load.a.sync.aligned.row.m8n32k16.global.s8", 1, 0},
    {"wmma.load.b.sync.aligned.row.m8n32k16.global.s8", 16, 0},
    {"wmma.load.b.sync.aligned.col.m8n32k16.global.s8", 4, 0},
    {"wmma.load.a.sync.aligned.row.m16n16k8.tf32", 4, 0},
    {"wmma.load.b.sync.aligned.row.m16n16k8.tf32", 4, 0},
    {"wmma.load.a.sync.aligned.row.m8n8k4.f64", 1, 0},
    {"wmma.load.b.sync.aligned.row.m8n8k4.f64", 1, 0},
    {"wmma.load.c.sync.aligned.row.m8n8k4.f64", 1, 0},
    {"wmma.store.d.sync.aligned.col.m8n8k4.f64", 2, 0},
};

TEST(MatrixOperation, FragmentsAreAsManyRequests) {
  for (const Line& line : kFragments) {
    const auto operation = matrix_operation(line.opcode);
    ASSERT_TRUE(operation) << line.opcode;
    const auto requests = fragment_requests(*operation);
    ASSERT_TRUE(requests) << line.opcode;
    EXPECT_EQ(requests->requests(), line.requests) << line.opcode;
    EXPECT_EQ(requests->requests() * requests->moves_per_request, line.moves) << line.opcode;
    // All of them have the bytes of the fragment.
    const bool of_a = line.opcode.find(".a.") != std::string_view::npos;
    const bool of_b = line.opcode.find(".b.") != std::string_view::npos;
    const int elements = (of_b ? operation->k : operation->m) * (of_a ? operation->k : operation->n);
    EXPECT_EQ(requests->requests() * 32 * requests->bytes, elements * operation->bits / 8) << line.opcode;
  }
}

TEST(MatrixOperation, OpcodesSayShapesAndTypes) {
  struct Product {
    std::string_view opcode;
    std::int64_t products;
    int bits;
    bool floating;
  };
  for (const Product& one :
       {Product{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2048, 16, true},
        Product{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 1024, 32, true},
        Product{"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4096, 8, false},
        Product{"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 2048, 16, true},
        Product{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 256, 64, true},
        Product{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4096, 8, true},
        Product{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 4096, 16, true},
        Product{"wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", 8192, 1, false},
        Product{"wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16", 262144, 16, true}}) {
    const auto operation = matrix_operation(one.opcode);
    ASSERT_TRUE(operation) << one.opcode;
    EXPECT_EQ(operation->kind, MatrixOperation::Kind::multiply) << one.opcode;
    EXPECT_EQ(operation->products, one.products) << one.opcode;
    EXPECT_EQ(operation->bits, one.bits) << one.opcode;
    EXPECT_EQ(operation->floating, one.floating) << one.opcode;
  }
}

TEST(MatrixOperation, WhatIsNoneHasNone) {
  for (const std::string_view opcode :
       {"mad.lo.s32", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "mma.sync.aligned",
        "wmma.load.a.sync.aligned.row", "mma.sync.aligned.m16n8.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m0n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k99999999999.row.col.f32.f16.f16.f32", "mma.", "wgmma.fence.sync.aligned", ""})
    EXPECT_FALSE(matrix_operation(opcode)) << opcode;
  // Elements of less than a byte have no address of their own.
  const auto bits = matrix_operation("wmma.load.a.sync.aligned.row.m8n8k128.global.b1");
  ASSERT_TRUE(bits);
  EXPECT_FALSE(fragment_requests(*bits));
}

}  // namespace
}  // namespace warptime::ptx
