#include "analyzer/execute/memory.h"

#include <fmt/format.h>

#include "analyzer/execute/code.h"
#include "analyzer/execute/layout.h"

namespace warptime::execute {
namespace {

constexpr std::uint64_t alignment = 256;             // of buffers, as cudaMalloc's
constexpr std::uint64_t buffer_gap_bytes = 1 << 16;  // between them

Diagnostic too_much(const std::string& name, std::uint64_t bytes, std::uint64_t limit) {
  return error(fmt::format("{} bytes for `{}`: more than the {} MiB allowed for all buffers", bytes, name,
                           limit >> 20));
}

}  // namespace

Memory::Memory(std::unique_ptr<State> state) : state_(std::move(state)) {}
Memory::Memory(Memory&&) noexcept = default;
Memory& Memory::operator=(Memory&&) noexcept = default;
Memory::~Memory() = default;

Result<Memory> Memory::create(const Program& program, std::uint64_t limit_bytes) {
  auto state = std::make_unique<State>();
  state->wide = program.wide;
  state->limit_bytes = limit_bytes;
  const auto base = address_map(program.wide).global;
  Diagnostics errors;
  for (const auto& variable : program.globals) {
    if (variable.bytes > limit_bytes || state->used_bytes + variable.bytes > limit_bytes)
      return too_much(variable.name, variable.bytes, limit_bytes);
    state->used_bytes += variable.bytes;
    auto buffer = std::make_unique<Buffer>();
    buffer->name = variable.name;
    buffer->address = base + variable.offset;
    buffer->bytes.resize(variable.bytes);
    buffer->constant = variable.constant;
    initialise(program, *variable.variable, buffer->bytes, errors);
    state->buffers.push_back(std::move(buffer));
  }
  if (!errors.empty()) return errors;
  state->next_address = align_up(base + program.globals_bytes, buffer_gap_bytes) + buffer_gap_bytes;
  return Memory(std::move(state));
}

Result<std::uint32_t> Memory::allocate(std::string name, std::uint64_t bytes, Contents contents) {
  auto& state = *state_;
  const auto end = address_map(state.wide).globals_end;
  if (bytes > state.limit_bytes || state.used_bytes + bytes > state.limit_bytes ||
      bytes > end - state.next_address)
    return too_much(name, bytes, state.limit_bytes);
  state.used_bytes += bytes;
  auto buffer = std::make_unique<Buffer>();
  buffer->name = std::move(name);
  buffer->address = state.next_address;
  buffer->bytes.resize(bytes);
  if (contents == Contents::uninitialised) buffer->valid.resize(bytes);
  state.next_address = align_up(buffer->address + bytes, alignment) + buffer_gap_bytes;
  state.buffers.push_back(std::move(buffer));
  return static_cast<std::uint32_t>(state.buffers.size() - 1);
}

Result<std::uint32_t> Memory::allocate(std::string name, std::span<const std::byte> contents) {
  auto buffer = allocate(std::move(name), contents.size());
  if (buffer && !contents.empty())
    std::memcpy(state_->buffers[*buffer]->bytes.data(), contents.data(), contents.size());
  return buffer;
}

std::optional<std::uint32_t> Memory::find(std::string_view name) const {
  for (std::uint32_t i = 0; i < state_->buffers.size(); ++i)
    if (state_->buffers[i]->name == name) return i;
  return std::nullopt;
}

std::span<std::byte> Memory::bytes(std::uint32_t buffer) {
  return state_->buffers[buffer]->bytes;
}
std::span<const std::byte> Memory::bytes(std::uint32_t buffer) const {
  return state_->buffers[buffer]->bytes;
}
std::uint64_t Memory::address(std::uint32_t buffer) const {
  return state_->buffers[buffer]->address;
}
const std::string& Memory::name(std::uint32_t buffer) const {
  return state_->buffers[buffer]->name;
}

bool Memory::initialised(std::uint32_t buffer) const {
  const auto& valid = state_->buffers[buffer]->valid;
  return std::find(valid.begin(), valid.end(), 0) == valid.end();
}

void Memory::forget(std::uint32_t buffer, std::uint64_t first) {
  Buffer& forgotten = *state_->buffers[buffer];
  if (first >= forgotten.bytes.size()) return;
  if (forgotten.valid.empty()) forgotten.valid.assign(forgotten.bytes.size(), 1);
  std::fill(forgotten.valid.begin() + static_cast<std::ptrdiff_t>(first), forgotten.valid.end(),
            std::uint8_t{0});
}

std::vector<ConstantVariable> constant_variables(const Program& program) {
  std::vector<ConstantVariable> all;
  for (const GlobalVariable& variable : program.globals)
    if (variable.constant)
      all.push_back({variable.name, variable.bytes, !variable.variable->initializer.empty()});
  return all;
}

}  // namespace warptime::execute
