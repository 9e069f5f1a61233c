#include "analyzer/periods/not_modelled.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {

void NotModelled::look_at(const ptx::Instruction& ins) {
  if (ins.info == nullptr) return;
  const auto word = ins.opcode.substr(0, ins.opcode.find('.'));
  const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
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
      const auto space = ptx::space_of(ins.opcode);
      if (space == ptx::StateSpace::texture) use(Feature::texture);
      if (space == ptx::StateSpace::shared) use(Feature::shared_memory);
      if (space == ptx::StateSpace::local) use(Feature::local_memory);
      break;
    }
    default:
      if (is_one_of({"div", "rem", "sqrt", "rsqrt", "rcp", "sin", "cos", "ex2", "lg2", "tanh"}))
        use(Feature::long_instruction);
      if (is_one_of({"wmma", "mma", "wgmma", "tcgen05"})) use(Feature::tensor_core);
  }
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
  };
  std::vector<std::string> sentences;
  for (std::size_t feature = 0; feature < features; ++feature)
    if (used_[feature]) sentences.emplace_back(texts[feature]);
  return sentences;
}

}  // namespace warptime::periods
