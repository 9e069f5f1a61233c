// Calls: registers, local and parameter memory of a function's frame.
#include "analyzer/execute/machine.h"

namespace warptime::execute {
namespace {

constexpr std::uint64_t most_stack_bytes = 512 * 1024;          // local memory of a thread, on every device
constexpr std::size_t most_frame_bytes = std::size_t{1} << 32;  // of this process

void grow(LaneMemory& memory, std::uint64_t from, std::uint64_t to) {
  if (to <= from) return;
  if (memory.bytes.size() < to) {
    memory.bytes.resize(to);
    memory.valid.resize(to);
  }
  std::fill(memory.valid.begin() + static_cast<std::ptrdiff_t>(from),
            memory.valid.begin() + static_cast<std::ptrdiff_t>(to), std::uint8_t{0});
}

void clear(Machine& machine, Frame& frame, const FunctionCode& code) {
  const auto size = std::size_t{code.register_slots} * lanes_of_warp;
  if (frame.registers.capacity() < size)
    machine.frame_bytes += (size - frame.registers.capacity()) * sizeof(std::uint64_t);
  frame.code = &code;
  frame.registers.assign(size, 0);
  frame.predicates.assign(code.predicates, 0);
  frame.known.assign(std::size_t{code.register_slots} + code.predicates, 0);
}

// Makes a frame over what is in use of local and parameter memory of `mask`.
std::uint32_t make_frame(Warp& warp, const FunctionCode& code, const Frame* caller, std::uint32_t mask) {
  std::uint32_t index = 0;
  if (warp.free_frames.empty()) {
    index = static_cast<std::uint32_t>(warp.frames.size());
    warp.frames.emplace_back();
  } else {
    index = warp.free_frames.back();
    warp.free_frames.pop_back();
  }
  auto& frame = warp.frames[index];
  clear(*warp.machine, frame, code);
  frame.mask = mask;
  frame.undefined = {};
  frame.depth = caller == nullptr ? 1 : caller->depth + 1;
  frame.local_base = caller == nullptr ? 0 : align_up(caller->local_end, 16);
  frame.param_base = caller == nullptr ? 0 : align_up(caller->param_end, 16);
  frame.local_end = frame.local_base + code.local_bytes;
  frame.param_end = frame.param_base + code.param_bytes;
  each(mask, [&](std::uint32_t lane) {
    grow(warp.local[lane], frame.local_base, frame.local_end);
    grow(warp.params[lane], frame.param_base, frame.param_end);
  });
  return index;
}

// Where a value is: in a register or predicate of `frame`, or in its parameter memory.
struct Place {
  Frame* frame;
  const CallSite::Passed* passed;
};

const std::uint64_t* slot_of(const Warp& warp, const Place& place) {
  const auto ref = place.passed->source;
  if (ref.bank() == static_cast<std::uint32_t>(Bank::registers))
    return &place.frame->registers[std::size_t{ref.slot()} * lanes_of_warp];
  if (ref.bank() == static_cast<std::uint32_t>(Bank::constants))
    return &place.frame->code->constants[std::size_t{ref.slot()} * lanes_of_warp];
  return &warp.specials[std::size_t{ref.slot()} * lanes_of_warp];
}

std::uint64_t value_of_register(const Warp& warp, const Place& place, std::uint32_t lane) {
  if (place.passed->predicate) return (place.frame->predicates[place.passed->predicate_index] >> lane) & 1;
  return slot_of(warp, place)[lane];
}

void set_register(const Place& place, std::uint32_t lane, std::uint64_t value) {
  auto& frame = *place.frame;
  if (place.passed->predicate) {
    auto& predicate = frame.predicates[place.passed->predicate_index];
    if (place.passed->predicate_index != 0)
      predicate = (predicate & ~(1u << lane)) | static_cast<std::uint32_t>(value & 1) << lane;
    frame.known[frame.code->register_slots + place.passed->predicate_index] |= 1u << lane;
    return;
  }
  frame.registers[std::size_t{place.passed->source.slot()} * lanes_of_warp + lane] = value;
  frame.known[place.passed->source.slot()] |= 1u << lane;
}

void copy(Warp& warp, const Place& from, const Place& to, std::uint32_t lane) {
  auto& memory = warp.params[lane];
  const auto from_at = from.frame->param_base + from.passed->offset,
             to_at = to.frame->param_base + to.passed->offset;
  if (from.passed->is_register) {
    const auto value = value_of_register(warp, from, lane);
    if (to.passed->is_register) return set_register(to, lane, value);
    const auto bytes = std::min<std::uint64_t>(to.passed->bytes, 8);
    std::memcpy(&memory.bytes[to_at], &value, bytes);
    std::memset(&memory.valid[to_at], 1, bytes);
  } else if (to.passed->is_register) {
    std::uint64_t value = 0;
    std::memcpy(&value, &memory.bytes[from_at], std::min<std::uint64_t>(from.passed->bytes, 8));
    set_register(to, lane, value);
  } else {
    const auto bytes = std::min(from.passed->bytes, to.passed->bytes);
    if (bytes == 0) return;
    std::memmove(&memory.bytes[to_at], &memory.bytes[from_at], bytes);
    std::memmove(&memory.valid[to_at], &memory.valid[from_at], bytes);
  }
}

void copy_all(Warp& warp, Frame& from, const std::vector<CallSite::Passed>& sources, Frame& to,
              const std::vector<CallSite::Passed>& targets, std::uint32_t mask) {
  for (std::size_t k = 0; k < std::min(sources.size(), targets.size()); ++k)
    each(mask, [&](std::uint32_t lane) { copy(warp, {&from, &sources[k]}, {&to, &targets[k]}, lane); });
}

}  // namespace

void use_frame(Warp& warp, std::uint32_t index) {
  auto& frame = warp.frames[index];
  warp.current = &frame;
  warp.frame_index = index;
  warp.registers = frame.registers.data();
  warp.predicates = frame.predicates.data();
  warp.banks[static_cast<int>(Bank::registers)] = warp.registers;
  warp.banks[static_cast<int>(Bank::constants)] = frame.code->constants.data();
  warp.banks[static_cast<int>(Bank::specials)] = warp.specials.data();
}

std::uint64_t argument_value(const Warp& warp, const CallSite::Passed& passed, std::uint32_t lane) {
  auto& frame = const_cast<Warp&>(warp).frame();
  if (passed.is_register) return value_of_register(warp, {&frame, &passed}, lane);
  std::uint64_t value = 0;
  std::memcpy(&value, &warp.params[lane].bytes[frame.param_base + passed.offset],
              std::min<std::uint64_t>(passed.bytes, 8));
  return value;
}

void give_value(Warp& warp, const CallSite::Passed& passed, std::uint32_t lane, std::uint64_t value) {
  auto& frame = warp.frame();
  if (passed.is_register) return set_register({&frame, &passed}, lane, value);
  const auto at = frame.param_base + passed.offset, bytes = std::min<std::uint64_t>(passed.bytes, 8);
  std::memcpy(&warp.params[lane].bytes[at], &value, bytes);
  std::memset(&warp.params[lane].valid[at], 1, bytes);
}

void start_warp(Warp& warp, std::uint32_t live) {
  const auto& program = *warp.machine->program;
  const auto& code = program.functions.at(program.kernel);
  warp.live = live;
  warp.groups.clear();
  warp.waiting.clear();
  warp.meetings.clear();
  warp.free_meetings.clear();
  warp.free_frames.clear();
  for (auto frame = static_cast<std::uint32_t>(warp.frames.size()); frame-- > 0;)
    warp.free_frames.push_back(frame);
  warp.polls = {};
  warp.long_turns = 0;
  warp.carry = 0;
  warp.cached = nullptr;
  warp.pc = 0;
  warp.state = Warp::State::ready;
  const auto frame = make_frame(warp, code, nullptr, full_mask);
  warp.groups.push_back({0, live, static_cast<std::uint32_t>(code.ops.size()), none_index, frame});
  use_frame(warp, frame);
}

bool enter(Warp& warp, const FunctionCode& callee, const CallSite& site, std::uint32_t mask) {
  auto& machine = *warp.machine;
  std::string too_much;
  if (warp.frame().depth >= machine.options->most_frames)
    too_much = "more than " + std::to_string(machine.options->most_frames) + " nested calls";
  else if (warp.frame().local_end + callee.local_bytes > most_stack_bytes)
    too_much = "more than 512 KiB of local memory in nested calls";
  else if (machine.frame_bytes > most_frame_bytes)
    too_much = "the registers of nested calls take more than 4 GiB";
  if (!too_much.empty()) {
    warp.fault(Finding::Kind::bad_operand, static_cast<std::uint32_t>(std::countr_zero(mask)), too_much);
    machine.stopped = true;
    return false;
  }
  auto group = warp.groups.back();
  warp.groups.pop_back();
  const auto caller = group.frame;
  const auto frame = make_frame(warp, callee, &warp.frames[caller], mask);
  const auto meeting =
      open_meeting(warp, {group.pc, caller, group.mask, group.mask & ~mask, group.meeting, frame});
  copy_all(warp, warp.frames[caller], site.arguments, warp.frames[frame], callee.parameters, mask);
  warp.groups.push_back({0, mask, static_cast<std::uint32_t>(callee.ops.size()), meeting, frame});
  use_frame(warp, frame);
  return true;
}

// The call is the instruction before the one where the caller goes on.
void copy_results(Warp& warp, const Meeting& meeting, std::uint32_t lanes) {
  auto &callee = warp.frames[meeting.callee], &caller = warp.frames[meeting.frame];
  const auto& site = caller.code->calls[caller.code->ops[meeting.pc - 1].extra];
  copy_all(warp, callee, callee.code->results, caller, site.results, lanes & callee.mask);
}

void drop_frame(Warp& warp, std::uint32_t frame) {
  warp.free_frames.push_back(frame);
}

}  // namespace warptime::execute
