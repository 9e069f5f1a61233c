// A PTX module as parsed: structure first, meaning second. Any well-formed `opcode operands;` parses, also
// where the opcode is newer than our table. All text is string_views into the PTX, which must outlive the
// module; spans are lossless.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::ptx {

struct Opcode;  // opcodes.h: one line of the table

enum class StateSpace : std::uint8_t {
  none,
  reg,
  sreg,
  constant,
  global,
  local,
  param,
  shared,
  texture,
  generic
};

enum class Linkage : std::uint8_t { none, visible, external, weak, common };

constexpr std::uint32_t no_index = 0xffffffff;

// Operands lie in Module::operands; those with parts (vectors, pairs, addresses, argument lists) name a range
// of it.
struct Operand {
  enum class Kind : std::uint8_t {
    reg,      // a declared register: symbol = index into Function::registers
    special,  // %tid.x, %laneid, …: text
    symbol,   // a variable, function or parameter by name: symbol = index into Module::variables where it is
              // one, else no_index; `referent` says which kind of thing it is, `value` its index in the table
              // of that kind
    label,    // symbol = index into Function::labels
    integer,  // value
    floating,  // value: the bits of a double
    address,   // [base], [base+offset]: one part (base: reg, symbol, integer), or several for texture and
               // tensor coordinates; value = offset in bytes. array[3] and array[%r] of loads, stores and
               // atomics: parts are the symbol and, in the second, the register that counts elements
    vector,    // {a, b, c, d}: parts
    pair,      // a|b: two parts
    list,      // (a, b): parts (of call)
    sum,   // symbol+offset or register+offset outside brackets: one part, value = offset; array[3], array[%r]
           // of other instructions
    sink,  // _
    text,  // a word that nothing declares, of an instruction that the table does not know
  };
  // What a `symbol` names, and which table `value` then is an index into.
  enum class Referent : std::uint8_t {
    none,               // nothing that is declared
    module_variable,    // Module::variables
    function,           // Module::functions
    parameter,          // Function::parameters
    result,             // Function::results
    function_variable,  // Function::variables
    branch_targets,     // Function::branch_targets
    prototype,          // Function::prototypes
  };
  Kind kind = Kind::text;
  Referent referent = Referent::none;
  bool negated = false;  // !%p, -%r
  std::uint32_t symbol = no_index;
  std::uint32_t first_part = 0;  // into Module::operands
  std::uint32_t part_count = 0;
  std::string_view text;    // as written, lossless: a register's with its selector (%r1.b0)
  std::uint64_t value = 0;  // integer: two's complement; see also the kinds
};

struct Instruction {
  std::string_view opcode;          // ld.global.nc.f32, as written
  const Opcode* info = nullptr;     // the table's line for its first words; null: unknown
  std::uint32_t guard = no_index;   // operand index of the predicate register (negated: @!p); no_index: none
  std::uint32_t first_operand = 0;  // into Module::operands
  std::uint32_t operand_count = 0;
  std::uint32_t offset = 0;  // byte offset in the PTX of its first character (the guard's where there is one)
  std::uint32_t line = 0;    // 1-based, of the PTX
  // The source line that .loc gives; inlined code: the line of the outermost call in the kernel, with the
  // callee's own in inner_line.
  std::uint32_t source_line = 0;  // 0: unknown
  std::uint32_t source_file = 0;  // .file number; 0: unknown
  std::uint32_t inner_line = 0;   // 0: not inlined
};

// A register that some instruction names; one that is only declared takes no place. Registers of the same
// name in sibling scopes are different registers.
struct Register {
  std::string_view type;            // b32, f32, pred, …; of a vector register as written: v4 .f32
  std::uint32_t name = 0;           // offset in Module::text of its name's declaration; see register_name
  std::uint32_t number = no_index;  // %r<10>: its number; no_index: a plain name
};

struct Label {
  std::string_view name;
  std::uint32_t instruction =
      no_index;  // what follows it: index into Function::instructions, size() at the end
};

// A variable, parameter, or entry of a .param list.
struct Variable {
  std::string_view name;
  StateSpace space = StateSpace::none;
  Linkage linkage = Linkage::none;
  StateSpace pointee = StateSpace::none;  // of a parameter: what `.ptr .global` names; .ptr alone: generic
  std::string_view type;                  // u32, b8, f32, …
  std::uint32_t align = 0;                // bytes; 0: not given
  std::uint64_t elements = 1;             // of an array, all dimensions multiplied; 0: of unknown size
  std::uint8_t vector_width = 1;          // .v4: 4
  bool is_array = false;
  std::string_view dimensions;   // of an array, as written: [4][8]
  std::string_view initializer;  // as written; may be empty
  std::uint32_t line = 0;
};

struct BranchTargets {  // L: .branchtargets A, B, C; L marks no place and is none of Function::labels
  std::string_view name;
  std::vector<std::uint32_t> labels;  // indices into Function::labels, in the list's order
};

struct Prototype {  // L: .callprototype (…) _ (…); or L: .calltargets f, g;
  std::string_view name;
  std::string_view text;               // as written, from the directive on
  std::vector<std::uint32_t> targets;  // of .calltargets: indices into Module::functions
};

// A function that is declared first and defined later is one entry, the definition, in the declaration's
// place.
struct Function {
  std::string_view name;
  Linkage linkage = Linkage::none;
  bool entry = false;        // .entry; otherwise .func
  bool declaration = false;  // no body
  std::vector<Variable> parameters;
  std::vector<Variable> results;  // of a .func
  std::vector<Register> registers;
  std::vector<Variable> variables;  // declared in the body (.local, .shared, .param of calls)
  std::vector<Label> labels;
  std::vector<BranchTargets> branch_targets;
  std::vector<Prototype> prototypes;
  std::vector<Instruction> instructions;     // in file order
  std::vector<std::string_view> directives;  // .maxntid 256, 1, 1 … as written
  std::uint32_t alias_of = no_index;         // .alias: the function that this declaration stands for
  std::uint32_t line = 0;                    // of its header
  std::uint32_t end_line = 0;                // of its closing brace
};

struct SourceFile {
  std::uint32_t number = 0;
  std::string path;
};

struct Module {
  std::string_view text;     // the whole file
  std::string_view version;  // 9.0
  std::string_view target;   // sm_75, texmode_independent
  int address_size = 32;     // where the file has no .address_size; so the PTX ISA
  std::vector<SourceFile> files;
  std::vector<Variable> variables;  // of module scope
  std::vector<Function> functions;
  std::vector<Operand> operands;  // the arena
  // What the views above look into where the file does not have it in one piece: opcodes written with blanks
  // between their parts (ld .global .f32), names of variables declared as a range (.shared .b32 s<4>).
  std::vector<std::shared_ptr<const std::string>> made_text;
};

// The function that runs where `function` (an index into Module::functions) is called: what a `.alias` stands
// for, else itself.
std::uint32_t function_run_by(const Module& module, std::uint32_t function);

// `%r12` of register `r` in `function`.
std::string register_name(const Module& module, const Function& function, std::uint32_t reg);

// Parses a whole file. `file` is for the diagnostics, which carry line, column and the source line; parsing
// recovers after an error and reports several (at most 20).
Result<Module> parse(std::string_view text, const std::string& file);

}  // namespace warptime::ptx
