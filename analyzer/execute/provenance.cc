#include "analyzer/execute/provenance.h"

#include <algorithm>
#include <bit>

#include "analyzer/ptx/opcodes.h"

namespace warptime::execute {
namespace {

using Kind = ptx::Operand::Kind;
using Referent = ptx::Operand::Referent;

constexpr std::uint32_t most_owners = 31;  // the last bit is for what nobody is known to own

// What an address in a register was computed from.
struct Origin {
  std::uint32_t parameters = 0, arrays = 0;
  bool unknown = false;

  bool is_address() const { return parameters != 0 || arrays != 0; }
  friend bool operator==(const Origin&, const Origin&) = default;
};

constexpr Origin anything{0, 0, true};

Origin either(const Origin& a, const Origin& b) {
  return {a.parameters | b.parameters, a.arrays | b.arrays, a.unknown || b.unknown};
}

class Owners {
 public:
  Owners(const Program& program, const ptx::Function& kernel, FunctionCode& code)
      : program_(program),
        module_(*program.module),
        kernel_(kernel),
        code_(code),
        registers_(kernel.registers.size()) {}

  void run() {
    do {
      changed_ = false;
      for (const auto& instruction : kernel_.instructions) follow(instruction);
    } while (changed_);
    for (std::size_t i = 0; i < code_.ops.size(); ++i) {
      set(kernel_.instructions[i], code_.ops[i]);
      if (code_.ops[i].space == Space::shared && std::popcount(code_.ops[i].owners) == 2) choose(i);
    }
  }

 private:
  const ptx::Operand& operand(const ptx::Instruction& instruction, std::size_t i) const {
    return module_.operands[instruction.first_operand + i];
  }
  bool is_wide(std::uint32_t which) const { return kernel_.registers[which].type.ends_with("64"); }

  // The bit of a shared array; none where there are too many.
  Origin array(const ptx::Operand& symbol) {
    const bool of_module = symbol.referent == Referent::module_variable;
    if (!of_module && symbol.referent != Referent::function_variable) return anything;
    const auto& placed = of_module ? program_.module_variables[symbol.value] : code_.variables[symbol.value];
    if (placed.space != Space::shared) return anything;
    const auto& variable = of_module ? module_.variables[symbol.value] : kernel_.variables[symbol.value];
    auto& arrays = code_.shared_arrays;
    auto found = std::find_if(arrays.begin(), arrays.end(),
                              [&](const auto& one) { return one.name == variable.name; });
    if (found == arrays.end()) {
      if (arrays.size() == most_owners) return anything;
      // Dynamic shared memory has no end of its own.
      const auto bytes = placed.bytes == 0 || variable.elements == 0 ? ~std::uint64_t{0} : placed.bytes;
      arrays.push_back({std::string(variable.name), placed.address, bytes});
      found = arrays.end() - 1;
    }
    return {0, 1U << (found - arrays.begin()), false};
  }

  Origin of(const ptx::Operand& operand) {
    switch (operand.kind) {
      case Kind::reg:
        return registers_[operand.symbol];
      case Kind::symbol:
        return array(operand);
      case Kind::integer:
      case Kind::special:
        return {};
      case Kind::sum:
        return operand.part_count == 1 ? of(module_.operands[operand.first_part]) : anything;
      default:
        return anything;
    }
  }

  Origin loaded(const ptx::Instruction& instruction) {
    const auto& from = operand(instruction, 1);
    if (ptx::space_of(instruction.opcode) != ptx::StateSpace::param || from.part_count != 1) return anything;
    const auto& symbol = module_.operands[from.first_part];
    if (symbol.kind != Kind::symbol || symbol.referent != Referent::parameter ||
        symbol.value >= most_owners || program_.parameters[symbol.value].bytes != 8)
      return anything;
    return {1U << symbol.value, 0, false};
  }

  // 64-bit values that were loaded may be distances between buffers; 32-bit ones are indices into shared arrays.
  static Origin sum(const Origin& a, const Origin& b, bool wide) {
    if (wide || a.unknown == b.unknown) return either(a, b);
    const auto& known = a.unknown ? b : a;
    return known.is_address() ? known : anything;
  }

  Origin result(const ptx::Instruction& instruction, bool wide) {
    const Words words(instruction.opcode);
    const auto name = words[0];
    const auto n = instruction.operand_count;
    const auto source = [&](std::size_t i) { return of(operand(instruction, i)); };
    if (name == "ld") return loaded(instruction);
    if ((name == "mov" || name == "cvta") && n == 2) return source(1);
    if (name == "cvt" && n == 2) {
      const auto& from = operand(instruction, 1);
      return from.kind == Kind::reg && wide && !is_wide(from.symbol) ? Origin{} : source(1);
    }
    if (name == "add" && n == 3) return sum(source(1), source(2), wide);
    if (name == "sub" && n == 3) return source(2).is_address() ? anything : sum(source(1), source(2), wide);
    if (name == "mad" && n == 4) return sum({}, source(3), wide);
    if ((name == "and" || name == "or" || name == "selp" || name == "min" || name == "max") && n >= 3)
      return either(source(1), source(2));
    for (const std::string_view index : {"mul", "shl", "shr", "div", "rem", "bfe"})
      if (name == index) return {};
    return anything;
  }

  void follow(const ptx::Instruction& instruction) {
    if (instruction.operand_count == 0) return;
    const auto& first = operand(instruction, 0);
    const auto give = [&](const ptx::Operand& to, const Origin& origin) {
      if (to.kind != Kind::reg) return;
      const auto now = either(registers_[to.symbol], origin);
      changed_ = changed_ || !(now == registers_[to.symbol]);
      registers_[to.symbol] = now;
    };
    if (first.kind == Kind::reg)
      give(first, result(instruction, is_wide(first.symbol)));
    else  // vectors, pairs, and the results of calls
      for (std::uint32_t k = 0; k < first.part_count; ++k)
        if (first.kind != Kind::address) give(module_.operands[first.first_part + k], anything);
  }

  void set(const ptx::Instruction& instruction, DecodedInstruction& op) {
    const Words words(instruction.opcode);
    const bool returns = words[0] == "ld" || words[0] == "atom";
    if ((!returns && words[0] != "st" && words[0] != "red") || instruction.operand_count < 2) return;
    const auto& address = operand(instruction, returns ? 1 : 0);
    if (address.kind != Kind::address || address.part_count == 0) return;
    const auto origin = of(module_.operands[address.first_part]);
    if (origin.unknown) return;
    if (op.space == Space::shared && origin.parameters == 0 && origin.arrays != 0)
      op.owners = origin.arrays;
    else if ((op.space == Space::global || op.space == Space::generic) && origin.arrays == 0 &&
             origin.parameters != 0)
      op.owners = origin.parameters;
  }

  // The instruction that last wrote a register before `at`, in straight code; none where there is a way in between.
  const ptx::Instruction* writer(std::uint32_t which, std::size_t at) const {
    while (at > 0) {
      for (const auto& label : kernel_.labels)
        if (label.instruction == at) return nullptr;
      const auto& instruction = kernel_.instructions[--at];
      if (code_.ops[at].control != Control::none) return nullptr;
      if (instruction.operand_count != 0 && operand(instruction, 0).kind == Kind::reg &&
          operand(instruction, 0).symbol == which)
        return instruction.guard == ptx::no_index ? &instruction : nullptr;
    }
    return nullptr;
  }

  // An access at base + index, whose base a selp chose a few instructions before.
  void choose(std::size_t here) {
    const auto& access = kernel_.instructions[here];
    const bool returns = code_.ops[here].role == Role::load;
    auto at = here;
    const auto* base = &module_.operands[operand(access, returns ? 1 : 0).first_part];
    for (std::size_t steps = 0; steps < 3 && base != nullptr && base->kind == Kind::reg; ++steps) {
      const auto* from = writer(base->symbol, at);
      if (from == nullptr) return;
      const auto before = static_cast<std::size_t>(from - kernel_.instructions.data());
      const Words words(from->opcode);
      if (words[0] == "selp") {
        const auto yes = of(operand(*from, 1)), no = of(operand(*from, 2));
        if (writer(operand(*from, 3).symbol, here) == writer(operand(*from, 3).symbol, before))
          code_.choices[static_cast<std::uint32_t>(here)] = {code_.ops[before].p, yes.arrays, no.arrays};
        return;
      }
      if (words[0] != "add") return;
      const bool first = of(operand(*from, 1)).is_address(), second = of(operand(*from, 2)).is_address();
      if (first == second) return;
      base = &operand(*from, first ? 1 : 2);
      at = before;
    }
  }

  const Program& program_;
  const ptx::Module& module_;
  const ptx::Function& kernel_;
  FunctionCode& code_;
  std::vector<Origin> registers_;  // by Function::registers
  bool changed_ = false;
};

}  // namespace

void find_owners(const Program& program, const ptx::Function& kernel, FunctionCode& code) {
  if (program.wide && kernel.entry) Owners(program, kernel, code).run();
}

void give_owners(const Program& program, Memory::State& memory, const std::vector<Argument>& arguments) {
  constexpr std::uint32_t nobody = 1U << most_owners;
  for (auto& buffer : memory.buffers) buffer->owners = nobody;
  if (!program.wide) return;
  for (std::size_t k = 0; k < std::min<std::size_t>(arguments.size(), most_owners); ++k) {
    if (arguments[k].size() != 8) continue;
    std::uint64_t address = 0;
    std::memcpy(&address, arguments[k].data(), sizeof address);
    auto* pointed = memory.below(address);
    if (pointed != nullptr && address - pointed->address > pointed->bytes.size()) pointed = nullptr;
    // One that points to no buffer may be anything: a distance between two, for example.
    for (auto& buffer : memory.buffers)
      if (pointed == nullptr || buffer.get() == pointed) buffer->owners |= 1U << k;
  }
}

}  // namespace warptime::execute
