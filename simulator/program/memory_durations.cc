#include "simulator/program/memory_durations.h"

#include <fmt/format.h>

#include <charconv>

#include "simulator/program/walk.h"

namespace warptime {
namespace {

bool is_of(const DurationName& name, const KernelProgram& program) {
  return name.kernel.empty() || name.kernel == program.provenance.kernel;
}

void number(Items& items, int& loads, int& stores) {
  for (Item& item : items) {
    if (auto* access = std::get_if<MemoryAccess>(&item.what))
      access->place = ++(access->kind == MemoryAccess::Kind::store ? stores : loads);
    for_each_inner(item, [&](Items& inner) { number(inner, loads, stores); });
  }
}

std::optional<int> read_place(std::string_view text) {
  int place = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), place);
  if (wrong != std::errc() || end != text.data() + text.size() || place < 1) return std::nullopt;
  return place;
}

}  // namespace

const MemoryDurations& paper_durations() {
  static const MemoryDurations durations = {{10, 120, 120, 160}, {100, 100, 100, 100}};
  return durations;
}

std::string to_string(const DurationName& name) {
  const std::string_view kind = name.store ? "store" : "load";
  if (name.place > 0)
    return fmt::format("{}{}{}.{}", name.kernel, name.kernel.empty() ? "" : ".", kind, name.place);
  return fmt::format("{}.{}", kind, access_names()[static_cast<std::size_t>(name.access)]);
}

std::optional<DurationName> find_duration_name(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  std::string_view kind = text.substr(0, dot);
  DurationName name;
  if (const auto place = read_place(text.substr(dot + 1))) {
    name.place = *place;
    if (const auto before = kind.rfind('.'); before != std::string_view::npos) {
      name.kernel = kind.substr(0, before);
      kind.remove_prefix(before + 1);
      if (name.kernel.empty()) return std::nullopt;
    }
  } else if (const auto access = find_access(text.substr(dot + 1))) {
    name.access = static_cast<int>(*access);
  } else {
    return std::nullopt;
  }
  if (kind != "load" && kind != "store") return std::nullopt;
  name.store = kind == "store";
  return name;
}

double& duration(MemoryDurations& durations, const DurationName& name) {
  if (name.place == 0)
    return (name.store ? durations.store : durations.load).at(static_cast<std::size_t>(name.access));
  for (auto& [known, cycles] : durations.single)
    if (known == name) return cycles;
  return durations.single.emplace_back(name, 0).second;
}

MemoryDurations durations_of(const KernelProgram& program, const MemoryDurations& durations) {
  MemoryDurations of = durations;
  std::erase_if(of.single, [&](const auto& one) { return !is_of(one.first, program); });
  return of;
}

bool has_access(const KernelProgram& program, const DurationName& name) {
  if (!is_of(name, program)) return false;
  int places = 0;
  for_each_access(program.program, [&](const MemoryAccess& access) {
    places += (access.kind == MemoryAccess::Kind::store) == name.store ? 1 : 0;
  });
  return name.place <= places;
}

std::shared_ptr<const KernelProgram> with_places(const KernelProgram& program) {
  const auto with = std::make_shared<KernelProgram>(program);
  int loads = 0, stores = 0;
  number(with->program, loads, stores);
  return with;
}

}  // namespace warptime
