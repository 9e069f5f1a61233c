#include "analyzer/ptx/opcodes.h"

#include <gtest/gtest.h>

namespace warptime::ptx {
namespace {

TEST(Opcodes, TheLongestLineWins) {
  const struct {
    const char* opcode;
    const char* name;  // null: none
    int destinations;
  } cases[] = {
      {"ld.global.nc.f32", "ld", 1},
      {"ldu.global.f32", "ldu", 1},
      {"bar.sync", "bar", 0},
      {"bar.red.popc.u32", "bar.red", 1},
      {"barrier.cta.red.and.pred", "barrier.cta.red", 1},
      {"cp.async.ca.shared.global", "cp.async", 0},
      {"cp.async.bulk.wait_group.read", "cp.async.bulk.wait_group", 0},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", "cp.async.bulk", 0},
      {"mbarrier.arrive_drop.noComplete.b64", "mbarrier.arrive_drop", 1},
      {"mbarrier.init.shared.b64", "mbarrier.init", 0},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "wgmma.mma_async", 1},
      {"tcgen05.ld.red.sync", "tcgen05.ld.red", 2},
      {"tcgen05.ld.sync", "tcgen05.ld", 1},
      {"multimem.ld_reduce.acquire.sys.global.add.u32", "multimem.ld_reduce", 1},
      {"ret", "ret", 0},
      {"lda.global", nullptr, 0},
      {"l", nullptr, 0},
      {"", nullptr, 0},
      {".ld", nullptr, 0},
      {"tcgen05.unheard", nullptr, 0},
  };
  for (const auto& c : cases) {
    const Opcode* found = find_opcode(c.opcode);
    ASSERT_EQ(found == nullptr, c.name == nullptr) << c.opcode;
    if (found == nullptr) continue;
    EXPECT_EQ(found->name, c.name);
    EXPECT_EQ(found->destinations, c.destinations) << c.opcode;
  }
}

TEST(Opcodes, Spaces) {
  const struct {
    const char* opcode;
    StateSpace space;
  } cases[] = {
      {"ld.global.nc.f32", StateSpace::global},
      {"ld.f32", StateSpace::generic},
      {"ld.shared::cta.u32", StateSpace::shared},
      {"st.shared::cluster.u32", StateSpace::shared},
      {"ld.param::entry.u64", StateSpace::param},
      {"ld.const[2].f32", StateSpace::constant},
      {"ld.volatile.local.u32", StateSpace::local},
      {"atom.global.add.u32", StateSpace::global},
      {"red.add.u32", StateSpace::generic},
      {"cp.async.cg.shared.global", StateSpace::global},
      {"cp.async.bulk.global.shared::cta.bulk_group", StateSpace::global},
      {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", StateSpace::shared},
      {"prefetch.global.L2", StateSpace::global},
      {"tex.2d.v4.f32.f32", StateSpace::texture},
      {"sust.b.2d.b32.trap", StateSpace::texture},
      {"add.u32", StateSpace::none},
      {"cvta.to.global.u64", StateSpace::none},
      {"isspacep.global", StateSpace::none},
      {"mbarrier.init.shared.b64", StateSpace::none},
      {"unheard.global", StateSpace::none},
  };
  for (const auto& c : cases) EXPECT_EQ(space_of(c.opcode), c.space) << c.opcode;
}

TEST(Opcodes, AccessBytes) {
  const struct {
    const char* opcode;
    int bytes;
  } cases[] = {
      {"ld.global.v4.f32", 16},
      {"ld.global.nc.L1::no_allocate.L2::128B.v2.b64", 16},
      {"ld.global.v8.b32", 32},
      {"ld.global.b128", 16},
      {"st.u8", 1},
      {"st.global.v2.u16", 4},
      {"atom.global.add.noftz.bf16x2", 4},
      {"red.global.add.f64", 8},
      {"tex.2d.v4.f32.s32", 16},
      {"cp.async.cg.shared.global", 0},
      {"wmma.load.a.sync.aligned.row.m16n16k16.f16", 0},
      {"bar.sync", 0},
  };
  for (const auto& c : cases) EXPECT_EQ(access_bytes(c.opcode), c.bytes) << c.opcode;
}

TEST(Opcodes, Parts) {
  EXPECT_TRUE(has_part("bra.uni", "uni"));
  EXPECT_FALSE(has_part("bra.unified", "uni"));
  EXPECT_TRUE(has_part("ld.global.L2::128B.u32", "L2::128B"));
  EXPECT_FALSE(has_part("", "uni"));
}

TEST(Opcodes, WhatEndsABlock) {
  for (const char* opcode : {"bra", "bra.uni", "brx.idx", "ret", "ret.uni", "exit", "trap"})
    EXPECT_TRUE(find_opcode(opcode)->is(ends_block)) << opcode;
  for (const char* opcode : {"call", "bar.sync", "brkpt", "mov.u32"})
    EXPECT_FALSE(find_opcode(opcode)->is(ends_block)) << opcode;
}

}  // namespace
}  // namespace warptime::ptx
