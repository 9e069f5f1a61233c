#include "analyzer/ptx/opcodes.h"

#include <array>
#include <cstddef>

namespace warptime::ptx {
namespace {

// A test compiles this file with a table of its own.
#ifndef WARPTIME_OPCODES
#define WARPTIME_OPCODES "analyzer/ptx/opcodes.def"
#endif

constexpr Opcode table[] = {
#define OPCODE(name, category, destinations, properties) {name, Category::category, destinations, properties},
#include WARPTIME_OPCODES
#undef OPCODE
};

constexpr std::uint32_t hash_start = 2166136261u;
constexpr std::uint32_t hash_step(std::uint32_t hash, char c) {
  return (hash ^ static_cast<unsigned char>(c)) * 16777619u;  // FNV-1a
}
constexpr std::uint32_t hash_finish(std::uint32_t hash) {
  return hash ^ (hash >> 15);
}

constexpr std::uint32_t opcode_hash(std::string_view name) {
  std::uint32_t hash = hash_start;
  for (char c : name) hash = hash_step(hash, c);
  return hash_finish(hash);
}

// Open addressing; a slot holds a line of the table plus one, 0 where it is free.
constexpr std::size_t slot_count = 1024;
static_assert(std::size(table) * 4 < slot_count, "let the hash table grow with the opcode table");

constexpr std::array<std::uint16_t, slot_count> make_slots() {
  std::array<std::uint16_t, slot_count> slots{};
  for (std::size_t i = 0; i < std::size(table); ++i) {
    std::size_t slot = opcode_hash(table[i].name) % slot_count;
    while (slots[slot] != 0) slot = (slot + 1) % slot_count;
    slots[slot] = static_cast<std::uint16_t>(i + 1);
  }
  return slots;
}

constexpr std::array<std::uint16_t, slot_count> slots = make_slots();

const Opcode* find_exactly(std::string_view name, std::uint32_t hash) {
  for (std::size_t slot = hash % slot_count; slots[slot] != 0; slot = (slot + 1) % slot_count)
    if (table[slots[slot] - 1].name == name) return &table[slots[slot] - 1];
  return nullptr;
}

// The parts of an opcode, one by one: ld, global, L2::128B, v4, u32.
class Parts {
 public:
  explicit Parts(std::string_view opcode) : rest_(opcode) {}

  bool next(std::string_view& part) {
    if (done_) return false;
    const std::size_t dot = rest_.find('.');
    part = rest_.substr(0, dot);
    done_ = dot == std::string_view::npos;
    if (!done_) rest_.remove_prefix(dot + 1);
    return true;
  }

 private:
  std::string_view rest_;
  bool done_ = false;
};

// `shared` of `shared::cluster`.
std::string_view stem(std::string_view part) {
  return part.substr(0, part.find("::"));
}

StateSpace space_named(std::string_view part) {
  const std::string_view name = stem(part.substr(0, part.find('[')));  // const[2] of old modules
  if (name == "global") return StateSpace::global;
  if (name == "shared") return StateSpace::shared;
  if (name == "local") return StateSpace::local;
  if (name == "const") return StateSpace::constant;
  if (name == "param") return StateSpace::param;
  return StateSpace::none;
}

StateSpace space_of_known(std::string_view opcode, const Opcode* info) {
  if (info == nullptr) return StateSpace::none;
  if (info->is(texture | surface)) return StateSpace::texture;
  switch (info->category) {
    case Category::load:
    case Category::store:
    case Category::atomic:
    case Category::reduction:
    case Category::async_copy:
    case Category::prefetch:
      break;
    default:
      return StateSpace::none;
  }
  Parts parts(opcode);
  std::string_view part;
  parts.next(part);
  const bool copies = info->category == Category::async_copy;
  StateSpace first = StateSpace::none;
  while (parts.next(part)) {
    const StateSpace space = space_named(part);
    if (space == StateSpace::none) continue;
    if (!copies || space == StateSpace::global) return space;
    if (first == StateSpace::none) first = space;
  }
  return first == StateSpace::none ? StateSpace::generic : first;
}

// Digits only, at most three of them; 0 otherwise.
int small_number(std::string_view digits) {
  if (digits.empty() || digits.size() > 3) return 0;
  int value = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') return 0;
    value = value * 10 + (c - '0');
  }
  return value;
}

int access_bytes_of_known(std::string_view opcode, const Opcode* info) {
  if (info == nullptr || info->is(moved_by_warp)) return 0;
  Parts parts(opcode);
  std::string_view part;
  parts.next(part);
  // A texture's first type is that of the result, the second that of the coordinates.
  const bool first_type = info->is(texture | surface);
  int bytes = 0;
  int width = 1;
  while (parts.next(part)) {
    if (part.size() > 1 && part[0] == 'v' && small_number(part.substr(1)) != 0)
      width = small_number(part.substr(1));
    if (const int type = type_bytes(part); type != 0 && (bytes == 0 || !first_type)) bytes = type;
  }
  return bytes * width;
}

}  // namespace

const Opcode* find_opcode(std::string_view opcode) {
  const Opcode* longest = nullptr;
  std::uint32_t hash = hash_start;
  for (std::size_t i = 0; i <= opcode.size(); ++i) {
    if (i == opcode.size() || opcode[i] == '.' || opcode[i] == ':') {
      const Opcode* found = find_exactly(opcode.substr(0, i), hash_finish(hash));
      if (found != nullptr) longest = found;
    }
    if (i != opcode.size()) hash = hash_step(hash, opcode[i]);
  }
  return longest;
}

std::size_t opcode_index(const Opcode& opcode) {
  return static_cast<std::size_t>(&opcode - table);
}

std::size_t opcode_count() {
  return std::size(table);
}

StateSpace space_of(std::string_view opcode) {
  return space_of_known(opcode, find_opcode(opcode));
}

StateSpace space_of(const Instruction& instruction) {
  return space_of_known(instruction.opcode, instruction.info);
}

bool has_part(std::string_view opcode, std::string_view word) {
  Parts parts(opcode);
  for (std::string_view part; parts.next(part);)
    if (part == word) return true;
  return false;
}

int access_bytes(std::string_view opcode) {
  return access_bytes_of_known(opcode, find_opcode(opcode));
}

int access_bytes(const Instruction& instruction) {
  return access_bytes_of_known(instruction.opcode, instruction.info);
}

int type_bytes(std::string_view part) {
  std::size_t letters = 0;
  if (part.substr(0, 2) == "bf") {
    letters = 2;
  } else if (!part.empty() && (part[0] == 'b' || part[0] == 'f' || part[0] == 's' || part[0] == 'u')) {
    letters = 1;
  }
  if (letters == 0) return 0;
  std::string_view digits = part.substr(letters);
  int lanes = 1;
  if (const std::size_t x = digits.find('x'); x != std::string_view::npos) {
    lanes = small_number(digits.substr(x + 1));
    digits = digits.substr(0, x);
  }
  const int bits = small_number(digits);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128) return 0;
  return bits / 8 * lanes;
}

}  // namespace warptime::ptx
