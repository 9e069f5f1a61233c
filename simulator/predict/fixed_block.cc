#include "simulator/predict/fixed_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "simulator/program/walk.h"

namespace warptime {
namespace {

std::int64_t static_shared_bytes(const KernelProgram& program) {
  return program.resources ? program.resources->shared_bytes_static : 0;
}

bool has_name(const Expression& expression, std::string_view beginning) {
  const std::vector<std::string> names = expression.names();
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.starts_with(beginning); });
}

}  // namespace

std::string why_block_is_fixed(const KernelProgram& program) {
  if (program.resources && program.resources->required_threads)
    return fmt::format("it is compiled for blocks of {} threads", *program.resources->required_threads);
  const std::int64_t bytes = static_shared_bytes(program);
  bool by_thread = false;
  for_each_item(program.program, [&](const Item& item) {
    if (!item.detail) return;
    for (const ChipAccess& access : item.detail->on_chip)
      by_thread = by_thread || (access.space == ChipAccess::Space::shared && access.address &&
                                has_name(*access.address, "threadIdx."));
  });
  return bytes > 0 && by_thread
             ? fmt::format("threads index its {} bytes of static shared memory by threadIdx", bytes)
             : std::string();
}

bool may_have_fixed_block(const KernelProgram& program) {
  bool detailed = false;
  for_each_item(program.program, [&](const Item& item) { detailed = detailed || item.detail; });
  return static_shared_bytes(program) > 0 && !detailed;
}

bool uses_block_size(const KernelProgram& program) {
  bool found = false;
  const auto look_at = [&](const Expression& expression) {
    found = found || has_name(expression, "blockDim.x");
  };
  for_each_item(program.program, [&](const Item& item) {
    if (item.threads) look_at(*item.threads);
    if (const auto* access = std::get_if<MemoryAccess>(&item.what); access != nullptr && access->address)
      look_at(*access->address);
    if (item.detail && item.detail->row)
      for (const Expression* part : {&item.detail->row->of, &item.detail->row->at}) look_at(*part);
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) look_at(repeat->count);
    if (const auto* when = std::get_if<When>(&item.what)) look_at(when->condition);
  });
  return found;
}

}  // namespace warptime
