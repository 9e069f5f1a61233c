// Branches, calls, exits and barriers: instructions that decide what a warp executes next.
#include <fmt/format.h>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/layout.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::execute {

// Whether it is an instruction of control flow (which may have failed).
bool Decoder::control(const Words& words, DecodedInstruction& op) {
  switch (instruction_->info->category) {
    case ptx::Category::branch:
      return branch(words, op);
    case ptx::Category::call:
      return call(op);
    case ptx::Category::exit:
      op.control = words[0] == "ret" ? Control::ret : words[0] == "trap" ? Control::trap : Control::exit;
      return true;
    case ptx::Category::barrier:
      if (words.has("warp")) return false;
      if (words[0] == "bar" || (words[0] == "barrier" && words[1] != "cluster")) return barrier(words, op);
      break;
    default:
      break;
  }
  return false;
}

bool Decoder::branch(const Words& words, DecodedInstruction& op) {
  const auto target_of = [&](std::uint32_t label) -> std::uint32_t {
    if (label >= function_.labels.size()) return static_cast<std::uint32_t>(function_.instructions.size());
    return std::min<std::uint32_t>(function_.labels[label].instruction,
                                   static_cast<std::uint32_t>(function_.instructions.size()));
  };
  if (words.has("idx")) {
    op.control = Control::indirect_branch;
    op.a = source(0, Type::u32);
    if (count() < 2 || operand(1).referent != Referent::branch_targets) {
      fail("an indirect branch whose targets are not listed (no .branchtargets)");
      return true;
    }
    std::vector<std::uint32_t> targets;
    for (const auto label : function_.branch_targets[operand(1).value].labels)
      targets.push_back(target_of(label));
    op.extra = static_cast<std::uint32_t>(code_.target_lists.size());
    code_.target_lists.push_back(std::move(targets));
    return true;
  }
  op.control = Control::branch;
  if (count() < 1 || operand(0).kind != Kind::label)
    fail("a branch to something that is not a label");
  else
    op.extra = target_of(operand(0).symbol);
  return true;
}

bool Decoder::pass(const ptx::Operand& operand, std::vector<CallSite::Passed>& list) {
  CallSite::Passed passed;
  if (operand.kind == Kind::symbol &&
      (operand.referent == Referent::function_variable || operand.referent == Referent::parameter ||
       operand.referent == Referent::result)) {
    if (operand.referent == Referent::function_variable) {
      passed.offset = code_.variables[operand.value].address;
      passed.bytes = code_.variables[operand.value].bytes;
    } else if (function_.entry) {
      return fail("a kernel's parameter passed on as it is");
    } else {
      const auto& own = operand.referent == Referent::parameter ? code_.parameters[operand.value]
                                                                : code_.results[operand.value];
      passed.offset = own.offset;
      passed.bytes = own.bytes;
    }
  } else if (is_predicate(operand)) {
    passed.is_register = passed.predicate = true;
    passed.predicate_index = slots_[operand.symbol].index;
  } else if (operand.kind == Kind::sink) {
    passed.is_register = true;
    passed.source = Ref(Bank::registers, sink_);
  } else {
    passed.is_register = true;
    const auto bits = register_bits(operand);
    passed.bytes = bits == 0 ? 8 : static_cast<std::uint64_t>(bits) / 8;
    passed.source = source(operand, operand.kind == Kind::floating ? Type::b32 : Type::b64);
  }
  list.push_back(passed);
  return true;
}

bool Decoder::call(DecodedInstruction& op) {
  op.control = Control::call;
  CallSite site;
  std::size_t i = 0;
  if (i < count() && operand(i).kind == Kind::list) {
    for (std::uint32_t k = 0; k < operand(i).part_count; ++k) pass(part(operand(i), k), site.results);
    ++i;
  }
  if (i >= count()) {
    fail("a call without a function");
    return true;
  }
  const auto& callee = operand(i++);
  if (callee.kind == Kind::symbol && callee.referent == Referent::function) {
    site.target = ptx::function_run_by(module_, static_cast<std::uint32_t>(callee.value));
    const auto& function = module_.functions[site.target];
    if (function.declaration) {
      if (!is_external(function.name))
        fail(fmt::format("a call of `{}`, which has no body in this module", function.name));
      site.external = std::string(function.name);
    }
  } else if (callee.kind == Kind::reg) {
    site.indirect = true;
    op.a = source(callee, Type::u64);
  } else {
    fail(fmt::format("a call of `{}`, which is not a function of this module", callee.text));
    return true;
  }
  if (i < count() && operand(i).kind == Kind::list)
    for (std::uint32_t k = 0; k < operand(i).part_count; ++k) pass(part(operand(i), k), site.arguments);
  const bool allocates = site.external == "malloc", releases = site.external == "free";
  if ((allocates && (site.arguments.size() != 1 || site.results.size() != 1)) ||
      (releases && site.arguments.size() != 1))
    fail(fmt::format("a call of `{}` with {} arguments and {} results", site.external, site.arguments.size(),
                     site.results.size()));
  if (!site.indirect && site.external.empty() && !failed_) {
    const auto& function = module_.functions[site.target];
    if (site.arguments.size() != function.parameters.size() || site.results.size() > function.results.size())
      fail(fmt::format("a call of `{}` with {} arguments and {} results; it has {} and {}", function.name,
                       site.arguments.size(), site.results.size(), function.parameters.size(),
                       function.results.size()));
  }
  op.extra = static_cast<std::uint32_t>(code_.calls.size());
  code_.calls.push_back(std::move(site));
  return true;
}

bool Decoder::barrier(const Words& words, DecodedInstruction& op) {
  op.control = Control::barrier;
  BarrierSite site;
  site.aligned = words[0] == "bar" || words.has("aligned");
  const auto make = [&] {
    op.extra = static_cast<std::uint32_t>(code_.barriers.size());
    code_.barriers.push_back(site);
    return true;
  };
  std::size_t i = 0;
  if (words.has("red")) {
    site.kind = words.has("popc")  ? BarrierSite::Kind::reduce_popc
                : words.has("and") ? BarrierSite::Kind::reduce_and
                                   : BarrierSite::Kind::reduce_or;
    if (count() < 3) return fail("a barrier that lacks operands"), true;
    if (site.kind == BarrierSite::Kind::reduce_popc)
      op.d = destination(0);
    else
      op.pd = predicate_destination(operand(0));
    i = 1;
  } else if (words.has("arrive")) {
    site.kind = BarrierSite::Kind::arrive;
  }
  const bool reduces = i == 1;
  const auto last = count() - (reduces ? 1 : 0);  // the predicate
  site.id = i < last ? source(i, Type::u32) : constant(0);
  ++i;
  if (i < last) {
    site.has_count = true;
    site.count = source(i, Type::u32);
  }
  if (reduces) op.p = predicate(count() - 1);
  if (site.kind == BarrierSite::Kind::arrive && !site.has_count)
    fail("bar.arrive without the number of threads");
  return make();
}

}  // namespace warptime::execute
