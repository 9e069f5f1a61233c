#include "analyzer/ptx/scopes.h"

#include <cassert>

namespace warptime::ptx {

// ptxas takes all digits at the end as the number, so that %r<10> makes %r01 the same as %r1.
inline Scopes::Numbered Scopes::split(std::string_view name) {
  std::size_t prefix = name.size();
  std::uint32_t number = 0;
  std::uint32_t unit = 1;
  for (; prefix > 0; --prefix, unit *= 10) {
    const auto digit = static_cast<std::uint32_t>(static_cast<unsigned char>(name[prefix - 1])) - '0';
    if (digit > 9) break;
    number += digit * unit;  // may wrap; then there are too many digits
  }
  const std::size_t digits = name.size() - prefix;
  return {name.substr(0, prefix), digits == 0 || digits > 9 || prefix == 0 ? no_index : number};
}

bool Scopes::declare_global(std::string_view name, Named named) {
  const std::uint32_t number = globals_.intern(name);
  if (number < global_.size()) return false;
  global_.push_back({named, {}, 0});
  return true;
}

bool Scopes::declare_global_register(std::string_view name, std::string_view type, std::uint64_t count,
                                     bool range) {
  NameTable& table = range ? global_ranges_ : globals_;
  std::vector<Global>& entries = range ? global_range_ : global_;
  const std::uint32_t number = table.intern(name);
  if (number < entries.size()) return false;
  Global global;
  global.named.kind = Named::Kind::reg;
  global.registers.named.kind = Named::Kind::reg;
  global.registers.type = type;
  global.registers.offset = offset_of(name);
  global.registers.count = static_cast<std::uint32_t>(count);
  global.registers.slots = no_index;
  global.registers.serial = ++serial_;
  global.registers.range = range;
  entries.push_back(global);
  return true;
}

Named Scopes::find_global(std::string_view name) const {
  const std::uint32_t number = globals_.find(name);
  return number == no_index ? Named{} : global_[number].named;
}

void Scopes::begin_function(Function& function) {
  assert(scopes_.empty());
  function_ = &function;
  ++functions_;
  ++epoch_;
  names_.clear();
  name_.clear();
  uses_.clear();
  open();
}

void Scopes::open() {
  scopes_.push_back(
      {++serial_, declarations_.size(), labels_.size(), uses_.size(), slots_.size(), numbered_});
}

// The labels of the scope answer all uses of their names since its beginning; each use is looked at once.
void Scopes::close() {
  const Scope& scope = scopes_.back();
  while (labels_.size() > scope.labels) {
    const DefinedLabel& defined = labels_.back();
    Name& name = name_[defined.name];
    while (name.last_use != no_index && name.last_use >= scope.uses) {
      LabelUse& answered = uses_[name.last_use];
      answered.label = defined.label;
      name.last_use = answered.next;
    }
    name.label_scope = defined.outer_scope;
    labels_.pop_back();
  }
  while (declarations_.size() > scope.declarations) {
    const Declaration& hidden = declarations_.back();
    epoch_ += hidden.range;
    (hidden.range ? name_[hidden.name].range : name_[hidden.name].declaration) = hidden.outer;
    declarations_.pop_back();
  }
  slots_.resize(scope.slots);
  numbered_ = scope.numbered;
  scopes_.pop_back();
}

std::uint32_t Scopes::intern(std::string_view name) {
  const std::uint32_t number = names_.intern(name);
  if (number == name_.size()) name_.emplace_back();
  return number;
}

bool Scopes::push(std::uint32_t name, std::uint32_t Name::*link, Declaration declaration) {
  const std::uint32_t outer = name_[name].*link;
  const auto depth_now = static_cast<std::uint32_t>(scopes_.size());
  if (outer != no_index && declarations_[outer].depth == depth_now) return false;
  if (link == &Name::declaration && name_[name].label_scope == scopes_.back().serial) return false;
  declaration.outer = outer;
  declaration.name = name;
  declaration.depth = depth_now;
  name_[name].*link = static_cast<std::uint32_t>(declarations_.size());
  declarations_.push_back(declaration);
  return true;
}

bool Scopes::declare(std::string_view name, Named named) {
  Declaration declaration;
  declaration.named = named;
  if (!push(intern(name), &Name::declaration, declaration)) return false;
  numbered_[name.front() == '%'] += split(name).number != no_index;
  return true;
}

bool Scopes::declare_register(std::string_view name, std::string_view type) {
  Declaration declaration;
  declaration.named.kind = Named::Kind::reg;
  declaration.type = type;
  declaration.offset = offset_of(name);
  if (!push(intern(name), &Name::declaration, declaration)) return false;
  numbered_[name.front() == '%'] += split(name).number != no_index;
  return true;
}

bool Scopes::declare_registers(std::string_view prefix, std::string_view type, std::uint32_t count) {
  Declaration declaration;
  declaration.named.kind = Named::Kind::reg;
  declaration.type = type;
  declaration.offset = offset_of(prefix);
  declaration.count = count;
  declaration.range = true;
  declaration.serial = ++serial_;
  declaration.slots = count <= slot_budget_ ? static_cast<std::uint32_t>(slots_.size()) : no_index;
  if (!push(intern(prefix), &Name::range, declaration)) return false;
  ++epoch_;
  if (count <= slot_budget_) {
    slot_budget_ -= count;
    slots_.resize(slots_.size() + count, no_index);
  }
  return true;
}

bool Scopes::define_label(std::string_view name) {
  const std::uint32_t number = intern(name);
  const std::uint32_t scope = scopes_.back().serial;
  if (name_[number].label_scope == scope) return false;
  const std::uint32_t declared = name_[number].declaration;
  if (declared != no_index && declarations_[declared].depth == scopes_.size()) return false;
  labels_.push_back(
      {number, static_cast<std::uint32_t>(function_->labels.size()), name_[number].label_scope});
  name_[number].label_scope = scope;
  function_->labels.push_back({name, no_index});
  return true;
}

void Scopes::use_label(const LabelUse& use) {
  Name& name = name_[intern(use.name)];
  uses_.push_back(use);
  uses_.back().next = name.last_use;
  name.last_use = static_cast<std::uint32_t>(uses_.size() - 1);
}

inline std::uint32_t Scopes::add_register(const Declaration& declaration, std::uint32_t number) {
  function_->registers.push_back({declaration.type, declaration.offset, number});
  return static_cast<std::uint32_t>(function_->registers.size() - 1);
}

std::uint32_t Scopes::sparse_register(const Declaration& declaration, std::uint32_t number) {
  const std::uint64_t key = static_cast<std::uint64_t>(declaration.serial) << 32 | number;
  auto& [function, index] = sparse_[key];
  if (function != functions_) {
    function = functions_;
    index = add_register(declaration, number);
  }
  return index;
}

inline Named Scopes::use(Declaration& declaration, std::uint32_t number) {
  if (declaration.range && declaration.slots == no_index)
    return {Named::Kind::reg, sparse_register(declaration, number)};
  if (declaration.range) {
    std::uint32_t& index = slots_[declaration.slots + number];
    if (index == no_index) index = add_register(declaration, number);
    return {Named::Kind::reg, index};
  }
  if (declaration.named.kind == Named::Kind::reg && declaration.named.index == no_index)
    declaration.named.index = add_register(declaration, no_index);
  return declaration.named;
}

// The innermost declaration of `prefix` as a range. Registers are most of what is looked up, and their
// prefixes few and short.
inline std::uint32_t Scopes::visible_range(std::string_view prefix) {
  if (prefix.size() < 8) {
    std::uint64_t key = prefix.size();
    for (char c : prefix) key = key << 8 | static_cast<unsigned char>(c);
    CachedRange& cached = cached_ranges_[(key * 0x9e3779b97f4a7c15ull) >> 58];
    if (cached.prefix == key && cached.epoch == epoch_) return cached.range;
    const std::uint32_t name = names_.find(prefix);
    cached = {key, epoch_, name == no_index ? no_index : name_[name].range};
    return cached.range;
  }
  const std::uint32_t name = names_.find(prefix);
  return name == no_index ? no_index : name_[name].range;
}

// The innermost visible range that has the number; a shorter range of the same name lets those around it show
// through.
inline std::uint32_t Scopes::find_range(const Numbered& numbered) {
  if (numbered.number == no_index) return no_index;
  std::uint32_t range = visible_range(numbered.prefix);
  while (range != no_index && declarations_[range].count <= numbered.number)
    range = declarations_[range].outer;
  return range;
}

Named Scopes::find(std::string_view name) {
  const Numbered numbered = split(name);
  const std::uint32_t range = find_range(numbered);
  if (range != no_index && numbered_[name.front() == '%'] == 0)
    return use(declarations_[range], numbered.number);
  const std::uint32_t number = names_.find(name);
  const std::uint32_t plain = number == no_index ? no_index : name_[number].declaration;
  if (range != no_index && (plain == no_index || declarations_[plain].depth < declarations_[range].depth))
    return use(declarations_[range], numbered.number);
  if (plain != no_index) return use(declarations_[plain], no_index);
  return find_in_module(name, numbered);
}

Named Scopes::find_in_module(std::string_view name, const Numbered& numbered) {
  const std::uint32_t number = globals_.find(name);
  if (number != no_index) {
    Global& global = global_[number];
    if (global.named.kind != Named::Kind::reg) return global.named;
    if (global.function != functions_) {
      global.function = functions_;
      global.registers.named.index = no_index;
    }
    return use(global.registers, no_index);
  }
  if (numbered.number == no_index) return {};
  const std::uint32_t range = global_ranges_.find(numbered.prefix);
  if (range == no_index || global_range_[range].registers.count <= numbered.number) return {};
  return use(global_range_[range].registers, numbered.number);
}

}  // namespace warptime::ptx
