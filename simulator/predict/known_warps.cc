#include "simulator/predict/known_warps.h"

#include <algorithm>

#include "simulator/program/walk.h"

namespace warptime {
namespace {

// FNV-1a, a word at a time.
class Hash {
 public:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001B3u; }
  void add(const Expression& expression) {
    if (expression.is_integer()) add(static_cast<std::uint64_t>(expression.integer_value()));
  }
  std::size_t value() const { return value_ ^ value_ >> 32; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325u;
};

// Equal for items that are equal.
std::size_t hash_of(const Items& items) {
  Hash hash;
  for_each_item(items, [&](const Item& item) {
    hash.add(item.what.index());
    for (const auto& [first, last] : item.ptx.ranges())
      hash.add(static_cast<std::uint64_t>(first)), hash.add(static_cast<std::uint64_t>(last));
    if (const auto* instructions = std::get_if<Instructions>(&item.what)) hash.add(instructions->count);
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) hash.add(repeat->count);
  });
  return hash.value();
}

}  // namespace

std::shared_ptr<const KnownWarps::Launch> KnownWarps::find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = launches_.find(key);
  return found == launches_.end() ? nullptr : found->second;
}

std::shared_ptr<const KnownWarps::Launch> KnownWarps::add(const Key& key, Launch launch,
                                                          std::vector<Part> parts, const Write& write) {
  const KernelProgram& of = *key.program->program;
  const std::lock_guard lock(mutex_);
  if (!launches_.empty() && launches_.size() >= most_) launches_.clear();
  if (programs_.size() + decided_.size() >= kMost) {
    programs_.clear();
    decided_.clear();
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    std::shared_ptr<const KernelProgram> program;
    if (part.decisions) {
      decisions_.program = key.program;
      decisions_.values = std::move(*part.decisions);
      if (const auto known = decided_.find(decisions_); known != decided_.end()) {
        program = known->second;
      } else {
        program = program_of(of, write(i));
        decided_.emplace(decisions_, program);
      }
    } else {
      program = program_of(of, std::move(part.items));
    }
    const auto same = std::find_if(launch.kinds.begin(), launch.kinds.end(),
                                   [&](const Kind& other) { return other.program == program; });
    if (same == launch.kinds.end())
      launch.kinds.push_back({std::move(program), part.weight});
    else
      same->weight += part.weight;
  }
  auto made = std::make_shared<const Launch>(std::move(launch));
  return most_ == 0 ? made : launches_.insert_or_assign(key, std::move(made)).first->second;
}

std::shared_ptr<const KernelProgram> KnownWarps::program_of(const KernelProgram& of, Items items) {
  const std::size_t hash = hash_of(items);
  const auto [begin, end] = programs_.equal_range(hash);
  const auto known =
      std::find_if(begin, end, [&](const auto& other) { return other.second->program == items; });
  if (known != end) return known->second;
  auto program = std::make_shared<KernelProgram>();
  *program = of;
  program->program = std::move(items);
  return programs_.emplace(hash, std::move(program))->second;
}

}  // namespace warptime
