#include "analyzer/machine/logic_cover.h"

#include <algorithm>
#include <optional>

namespace warptime::machine {
namespace {

using Input = LogicOperation::Input;

constexpr std::size_t kInputs = 3;        // of LOP3
constexpr std::ptrdiff_t kConstants = 1;  // of these
constexpr int kMostParts = 64;            // more operations on the same three values are hardly ever found

bool has(const std::vector<Input>& inputs, const Input& one) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Input& other) {
    return other.constant == one.constant && other.value == one.value;
  });
}

// The inputs when the operation that makes one of them is part of what reads them; nothing: too many.
std::optional<std::vector<Input>> with_part(const std::vector<Input>& inputs, std::size_t part,
                                            const LogicOperation& made_by) {
  std::vector<Input> all;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (i != part) all.push_back(inputs[i]);
  for (const Input& one : made_by.inputs)
    if (!has(all, one)) all.push_back(one);
  const auto constants = std::count_if(all.begin(), all.end(), [](const Input& one) { return one.constant; });
  if (all.size() > kInputs || constants > kConstants) return std::nullopt;
  return all;
}

}  // namespace

std::vector<bool> part_of_readers(const std::vector<LogicOperation>& operations) {
  std::vector<bool> read(operations.size());
  for (std::size_t n = operations.size(); n-- > 0;) {
    read[n] = read[n] || operations[n].read_elsewhere;
    if (!read[n]) continue;
    std::vector<Input> inputs;
    for (const Input& one : operations[n].inputs)
      if (!has(inputs, one)) inputs.push_back(one);
    bool grows = true;
    for (int parts = 0; grows && parts < kMostParts; ++parts) {
      grows = false;
      std::optional<std::vector<Input>> best;
      std::uint32_t fewest = ~0u;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::uint32_t made_by = inputs[i].made_by;
        if (made_by == LogicOperation::outside) continue;
        const LogicOperation& made = operations[made_by];
        // What is a value in any case saves nothing.
        if (made.read_elsewhere || read[made_by] || made.readers >= fewest) continue;
        auto joined = with_part(inputs, i, made);
        if (joined) best = std::move(joined), fewest = made.readers;
      }
      if (best) inputs = std::move(*best), grows = true;
    }
    for (const Input& one : inputs)
      if (one.made_by != LogicOperation::outside) read[one.made_by] = true;
  }
  read.flip();
  return read;
}

}  // namespace warptime::machine
