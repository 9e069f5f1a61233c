// Facts about PTX instructions: one table, a line each (opcodes.def). What an instruction reads and writes,
// which state space it touches, and whether it ends a basic block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyzer/ptx/module.h"

namespace warptime::ptx {

enum class Category : std::uint8_t {
  arithmetic,  // integer, floating point, logic, comparison, conversion, video, matrix on registers
  move,        // mov, cvta, shfl, vote, …: register transfer
  load,        // ld, ldu, tex, …: reads memory of `space_of`
  store,       // st, sust, …
  atomic,      // atom: reads and writes
  reduction,   // red: writes
  async_copy,  // cp.async…: memory to memory
  prefetch,    // prefetch, applypriority, …: touches no register
  barrier,     // bar, barrier, membar, fence, mbarrier …
  branch,      // bra, brx.idx
  call,        // call
  exit,        // ret, exit, trap
};

// What else is known of an opcode: a set of these.
enum Property : std::uint8_t {
  plain = 0,
  accumulates = 1,        // the destination is read too
  ends_block = 2,         // the next instruction begins a basic block
  slow = 4,               // takes much longer than an addition: division, roots, transcendental functions
  tensor_core = 8,        // runs on the tensor cores
  texture = 16,           // reads through the texture units
  surface = 32,           // reads or writes a surface, through the texture units
  of_other_threads = 64,  // the result is made of what other threads hold
  moved_by_warp = 128,    // the type says nothing of the bytes that one thread moves
};

constexpr Property operator|(Property a, Property b) {
  return static_cast<Property>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

// `ld` of `ld.global.f32`, as one number: to compare it with a literal takes one instruction.
class FirstWord {
 public:
  constexpr explicit FirstWord(std::string_view opcode) : packed_(pack(opcode.substr(0, opcode.find('.')))) {}

  struct Literal {
    consteval Literal(const char* word) : packed(FirstWord::pack(word)) {  // NOLINT: implicit on purpose
      if (packed == too_long) throw "at most eight characters";
    }
    std::uint64_t packed;
  };
  friend constexpr bool operator==(FirstWord word, Literal literal) { return word.packed_ == literal.packed; }

 private:
  static constexpr std::uint64_t too_long = ~std::uint64_t{0};  // is no literal
  static constexpr std::uint64_t pack(std::string_view word) {
    std::uint64_t all = 0;
    for (const char c : word) all = all << 8 | static_cast<unsigned char>(c);
    return word.size() <= 8 ? all : too_long;
  }

  std::uint64_t packed_;
};

struct Opcode {
  std::string_view name;  // first words, as far as the table distinguishes them: `ld`, `cp.async.bulk`
  Category category = Category::arithmetic;
  std::uint8_t destinations = 1;  // the first operands are written; the rest are read
  Property properties = plain;
  FirstWord first_word = FirstWord(name);
  constexpr bool is(Property property) const { return (properties & property) != 0; }
};

// The longest line of the table that `opcode` begins with, at a dot; null where there is none.
const Opcode* find_opcode(std::string_view opcode);

// The lines of the table are numbered from 0: for tables of what else is known of an opcode.
std::size_t opcode_index(const Opcode& opcode);
std::size_t opcode_count();

// The state space that a load, store, atomic, reduction, prefetch or copy names (`ld.global…`: global; no
// name: generic); a copy's is global where either of its sides is. Texture and surface accesses: texture.
// Other instructions: none.
StateSpace space_of(std::string_view opcode);
// The same, without looking the opcode up again.
StateSpace space_of(const Instruction& instruction);

// The opcode without its modifiers: `ld` of `ld.global.f32`.
inline std::string_view first_word(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

// The same of an instruction.
inline FirstWord first_word(const Instruction& instruction) {
  return instruction.info != nullptr ? instruction.info->first_word : FirstWord(instruction.opcode);
}

// Whether the opcode has `.word` as one of its parts: has_part("bra.uni", "uni").
bool has_part(std::string_view opcode, std::string_view word);

// Bytes that one thread moves: type width times vector width of `ld.global.v4.f32` (16); 0 where the opcode
// does not say.
int access_bytes(std::string_view opcode);
int access_bytes(const Instruction& instruction);

// Bytes of a type such as `f32`, `b128`, `bf16x2`; 0 where the word is none or has no size in memory.
int type_bytes(std::string_view type);

}  // namespace warptime::ptx
