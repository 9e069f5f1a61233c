// What arrays are filled with, and the figures of repeated measurements.
#include "measure/arrays.h"

#include <gtest/gtest.h>

#include <cstring>

#include "dwt_kernels/reference/lifting.h"
#include "measure/statistics.h"

namespace warptime::measuring {
namespace {

template <class T>
std::vector<T> filled(const PlanArray& of, std::uint64_t elements, std::int64_t cycles_of = 0) {
  BoundArray array;
  array.of = &of;
  array.elements = elements;
  array.cycles_of = cycles_of;
  const auto bytes = contents_of(array);
  if (!bytes) {
    ADD_FAILURE() << to_text(bytes.diagnostics());
    return {};
  }
  EXPECT_EQ(bytes->size(), elements * sizeof(T));
  std::vector<T> values(elements);
  std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

PlanArray array(ElementType type, ArrayFill fill, double value = 0) {
  PlanArray one;
  one.name = "x";
  one.type = type;
  one.fill = fill;
  one.value = value;
  return one;
}

TEST(Arrays, AreFilledAsThePlanSays) {
  EXPECT_EQ(filled<float>(array(ElementType::f32, ArrayFill::zeros), 3), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(filled<std::int16_t>(array(ElementType::i16, ArrayFill::iota), 3),
            (std::vector<std::int16_t>{0, 1, 2}));
  EXPECT_EQ(filled<double>(array(ElementType::f64, ArrayFill::constant, 0.5), 2),
            (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(filled<std::int32_t>(array(ElementType::i32, ArrayFill::cycle_leaders), 2, 8),
            (std::vector<std::int32_t>{1, 3}))
      << "the example of Ikuzawa et al. (2017)";
}

TEST(Arrays, RandomOnesAreTheSameEachTimeAndInTheirRange) {
  const auto of = array(ElementType::f32, ArrayFill::random);
  const auto values = filled<float>(of, 10'000);
  EXPECT_EQ(filled<float>(of, 10'000), values);
  double sum = 0, squares = 0;
  for (const float value : values) {
    ASSERT_TRUE(value >= -1 && value < 1) << value;
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  EXPECT_NEAR(sum / 10'000, 0, 0.03) << "of a uniform distribution";
  EXPECT_NEAR(squares / 10'000, 1. / 3, 0.02);
  for (const auto value : filled<std::int8_t>(array(ElementType::i8, ArrayFill::random), 1000))
    ASSERT_TRUE(value >= 0 && value < 100);
}

TEST(Arrays, CycleLeadersAreTheRepresentativeElements) {
  for (int chunks = 2; chunks <= 1 << 12; chunks += chunks < 130 ? 2 : chunks) {
    const auto wanted = reference::representatives(chunks);
    const auto got = cycle_leaders(chunks);
    EXPECT_EQ(std::vector<int>(got.begin(), got.end()), wanted) << chunks;
  }
}

TEST(Arrays, CycleLeadersMustBeAsManyAsThereAreElements) {
  const auto of = array(ElementType::i32, ArrayFill::cycle_leaders);
  const BoundArray wrong = {&of, 12, 8, true, {}};
  const auto contents = contents_of(wrong);
  ASSERT_FALSE(contents);
  EXPECT_NE(to_text(contents.diagnostics()).find("has 12 elements, but 8 chunks have 2 cycle leaders"),
            std::string::npos)
      << to_text(contents.diagnostics());
  const BoundArray odd = {&of, 2, 7, true, {}};
  EXPECT_FALSE(contents_of(odd)) << "7 chunks: the map is no permutation";
}

TEST(Statistics, MediansAndSpreads) {
  const struct {
    std::vector<double> values;
    double median, range;
  } cases[] = {{{5}, 5, 0},
               {{3, 1}, 2, 1},
               {{9, 1, 2}, 2, 4},
               {{1, 2, 3, 4}, 2.5, 1.5},
               {{4, 4, 4, 100}, 4, 24},
               {{5, 1, 4, 2, 3}, 3, 2}};
  for (const auto& one : cases) {
    EXPECT_DOUBLE_EQ(median(one.values), one.median);
    EXPECT_DOUBLE_EQ(interquartile_range(one.values), one.range);
  }
}

}  // namespace
}  // namespace warptime::measuring
