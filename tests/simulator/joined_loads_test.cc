// Loads from shared memory that ptxas joins, a line for each case.
#include "simulator/program/joined_loads.h"

#include <gtest/gtest.h>

#include <string>

namespace warptime {
namespace {

// The accesses of the items of `program`, a list in brackets for each item that has some.
std::string shown(const Items& items) {
  std::string text;
  for (const Item& item : items) {
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) text += "{" + shown(repeat->body) + "}";
    if (!item.detail) continue;
    text += "[";
    for (const ChipAccess& access : item.detail->on_chip)
      text += (text.back() == '[' ? "" : "; ") +
              std::string(kChipAccessKinds[static_cast<std::size_t>(access.kind)]) + " " +
              std::to_string(access.bytes) + " " + (access.address ? to_string(*access.address) : "?");
    text += "]";
  }
  return text;
}

std::string joined(const std::string& items) {
  auto programs = read_kernel_programs("program:\n" + items, "k.yaml");
  EXPECT_TRUE(programs) << to_text(programs.diagnostics());
  if (!programs) return "";
  join_shared_loads(programs->front().program);
  return shown(programs->front().program);
}

std::string load(const std::string& address, int bytes = 4) {
  return "{load: shared, bytes: " + std::to_string(bytes) + ", address: \"" + address + "\"}";
}
std::string item(const std::string& accesses, const std::string& more = "") {
  return "  - {instructions: 9, on_chip: [" + accesses + "]" + more + "}\n";
}
const std::string four = load("64 * threadIdx.y + 4") + ", " + load("64 * threadIdx.y") + ", " +
                         load("64 * threadIdx.y + 12") + ", " + load("64 * threadIdx.y + 8");

TEST(JoinedLoads, OfNeighbouringWords) {
  EXPECT_EQ(joined(item(four)), "[load 16 64 * threadIdx.y]");
  EXPECT_EQ(joined(item(load("8 * i") + ", " + load("8 * i + 4"))), "[load 8 8 * i]");
  EXPECT_EQ(joined(item(load("16 * i", 8) + ", " + load("16 * i + 8", 8))), "[load 16 16 * i]");
  EXPECT_EQ(joined(item(load("0") + ", " + load("8") + ", " + load("4"))), "[load 8 0; load 4 8]");
  EXPECT_EQ(joined(item(load("4") + ", " + load("8"))), "[load 4 4; load 4 8]");  // at no multiple of 8
  EXPECT_EQ(joined(item(load("4 * i") + ", " + load("4 * i + 4"))), "[load 4 4 * i; load 4 4 * i + 4]");
  EXPECT_EQ(joined(item(load("32 - 16 * i") + ", " + load("36 - 16 * i"))), "[load 8 32 - 16 * i]");
  EXPECT_EQ(joined(item(load("8 * (n * i)") + ", " + load("8 * (n * j) + 4"))),
            "[load 4 8 * (n * i); load 4 8 * (n * j) + 4]");
  EXPECT_EQ(joined(item(load("0", 1) + ", " + load("1", 1))), "[load 1 0; load 1 1]");
}

TEST(JoinedLoads, AcrossItemsOfStraightCode) {
  const std::string first = load("16 * i"), second = load("16 * i + 4");
  EXPECT_EQ(joined(item(first) + "  - {load: 100}\n" + item(second)), "[load 8 16 * i][]");
  EXPECT_EQ(joined(item(second) + item(first)), "[load 8 16 * i][]");
  EXPECT_EQ(joined(item(first, ", barrier: true") + item(second)), "[load 4 16 * i][load 4 16 * i + 4]");
  EXPECT_EQ(joined(item(first + ", {store: shared, bytes: 4}, " + second)),
            "[load 4 16 * i; store 4 ?; load 4 16 * i + 4]");
  EXPECT_EQ(joined(item(first + ", {store: local, bytes: 4}, " + second)), "[load 8 16 * i; store 4 ?]");
  EXPECT_EQ(joined(item(first) + item(second, ", threads: threadIdx.x < 9")),
            "[load 4 16 * i][load 4 16 * i + 4]");
  EXPECT_EQ(
      joined(item(first) + "  - repeat: 3\n    body:\n    " + item(first + ", " + second) + item(second)),
      "[load 4 16 * i]{[load 8 16 * i]}[load 4 16 * i + 4]");
}

}  // namespace
}  // namespace warptime
