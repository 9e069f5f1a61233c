#include "analyzer/periods/not_modelled.h"

#include <algorithm>
#include <array>

#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {

bool is_runtime_function(std::string_view callee) {
  static constexpr std::array<std::string_view, 4> functions{"vprintf", "__assertfail", "malloc", "free"};
  return std::find(functions.begin(), functions.end(), callee) != functions.end();
}

void NotModelled::look_at(const ptx::Instruction& ins) {
  if (ins.info == nullptr) return;
  if (ins.info->is(ptx::texture | ptx::surface)) use(Feature::texture);
  switch (ins.info->category) {
    case ptx::Category::barrier:
      use(Feature::barrier);
      break;
    case ptx::Category::async_copy:
      use(Feature::async_copy);
      break;
    case ptx::Category::atomic:
    case ptx::Category::reduction:
      use(Feature::atomic);
      break;
    case ptx::Category::load:
    case ptx::Category::store: {
      const auto space = ptx::space_of(ins);
      if (space == ptx::StateSpace::shared) use(Feature::shared_memory);
      if (space == ptx::StateSpace::local) use(Feature::local_memory);
      break;
    }
    default:
      if (ins.info->is(ptx::slow)) use(Feature::long_instruction);
      if (ins.info->is(ptx::tensor_core)) use(Feature::tensor_core);
  }
}

void NotModelled::look_at_call(std::string_view callee) {
  if (is_runtime_function(callee)) use(Feature::runtime_call);
}

std::vector<std::string> NotModelled::sentences() const {
  static constexpr std::array<const char*, features> texts{
      "shared memory counts as calculation: conflicts between its banks are not modelled",
      "local memory counts as calculation: its traffic is not modelled",
      "barriers count as calculation: the waiting at them is not modelled",
      "an atomic counts as one access: threads that meet at one address are not modelled",
      "a texture or surface access counts as coalesced: its cache and its filtering are not modelled",
      "an asynchronous copy counts as a store where it is begun: that it runs beside the calculation is not "
      "modelled",
      "divisions, roots and other long instructions count as one instruction each",
      "a tensor core instruction counts as one instruction",
      "a call of printf, assert, malloc or free counts as its arguments and one instruction: what it "
      "executes is not "
      "modelled",
  };
  std::vector<std::string> sentences;
  for (std::size_t feature = 0; feature < features; ++feature)
    if (used_[feature]) sentences.emplace_back(texts[feature]);
  return sentences;
}

}  // namespace warptime::periods
