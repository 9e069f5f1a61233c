#include "analyzer/execute/undefined.h"

#include <algorithm>

namespace warptime::execute {
namespace {

using Value = Undefined::Value;

std::uint64_t read_key(const Warp& warp, std::uint32_t pc) {
  return std::uint64_t{warp.code().index} << 32 | pc;
}

void say_undefined(Warp& warp, std::uint32_t lane, const Value& value, const char* use) {
  const auto here = warp.pc;
  warp.pc = value.origin;
  if (!warp.found_before(Finding::Kind::uninitialised_memory))
    warp.fault(
        Finding::Kind::uninitialised_memory, lane,
        warp.machine->undefined_reads[read_key(warp, value.origin)] + ", and " + use + " depends on it");
  warp.pc = here;
}

std::uint32_t key_of(std::uint32_t slot, std::uint32_t lane) {
  return slot * lanes_of_warp + lane;
}

const Value* find(const std::unordered_map<std::uint32_t, Value>& values, std::uint32_t slot,
                  std::uint32_t lane) {
  const auto found = values.find(key_of(slot, lane));
  return found == values.end() ? nullptr : &found->second;
}

bool is_register(Ref ref) {
  return ref.bank() == static_cast<std::uint32_t>(Bank::registers);
}

// Calls f(lane, value) for the lanes of a register or predicate that are undefined.
template <class F>
void each_undefined(const Frame& frame, std::uint32_t touched, std::uint32_t mask, F&& f) {
  const bool predicate = (touched & predicate_mark) != 0;
  const auto& values = predicate ? frame.undefined.predicates : frame.undefined.values;
  if (values.empty()) return;
  each(mask, [&](std::uint32_t i) {
    if (const auto* value = find(values, touched & ~predicate_mark, i)) f(i, *value);
  });
}

void check_uses(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask) {
  const auto& frame = warp.frame();
  if (op.guard != 0)
    each_undefined(frame, op.guard | predicate_mark, active,
                   [&](std::uint32_t i, const Value& value) { say_undefined(warp, i, value, "a branch"); });
  if (op.accesses && is_register(op.a))
    each_undefined(frame, op.a.slot(), mask,
                   [&](std::uint32_t i, const Value& value) { say_undefined(warp, i, value, "an address"); });
}

// What an instruction that is no access writes, and what it would write were its undefined bytes others.
class Dependence {
 public:
  Dependence(Warp& warp, const DecodedInstruction& op, std::uint32_t mask)
      : warp_(warp), op_(op), mask_(mask), touched_(warp.code().touched.data()) {}

  void run() {
    for (std::uint32_t k = 0; k < op_.reads_count; ++k)
      each_undefined(warp_.frame(), touched_[op_.reads_first + k], mask_,
                     [&](std::uint32_t i, const Value& value) {
                       lanes_ |= 1u << i;
                       if (sources_[i].bytes == 0) sources_[i] = value;
                       sources_[i].bytes = 1;
                       sources_[i].computed = sources_[i].computed || value.computed;
                     });
    const auto before = written();
    const auto carry = warp_.carry;
    std::vector<std::uint64_t> otherwise;
    if (lanes_ != 0) {
      const auto sources = flip();
      op_.run(warp_, op_, mask_);
      otherwise = written();
      restore(sources);
      put(before);
      warp_.carry = carry;
    }
    op_.run(warp_, op_, mask_);
    mark(otherwise);
  }

 private:
  std::uint64_t* slot(std::uint32_t touched) {
    return warp_.registers + std::size_t{touched} * lanes_of_warp;
  }

  template <class F>
  void each_written(F&& f) {
    for (std::uint32_t k = 0; k < op_.writes_count; ++k) f(touched_[op_.writes_first + k]);
  }

  std::vector<std::uint64_t> written() {
    std::vector<std::uint64_t> values;
    each_written([&](std::uint32_t touched) {
      if ((touched & predicate_mark) != 0)
        values.push_back(warp_.predicates[touched & ~predicate_mark]);
      else
        values.insert(values.end(), slot(touched), slot(touched) + lanes_of_warp);
    });
    return values;
  }

  void put(const std::vector<std::uint64_t>& values) {
    const auto* from = values.data();
    each_written([&](std::uint32_t touched) {
      if ((touched & predicate_mark) != 0) {
        warp_.predicates[touched & ~predicate_mark] = static_cast<std::uint32_t>(*from++);
      } else {
        std::copy_n(from, lanes_of_warp, slot(touched));
        from += lanes_of_warp;
      }
    });
  }

  struct Flipped {
    std::uint64_t* place;
    std::uint64_t value;
  };
  std::vector<Flipped> flip() {
    std::vector<Flipped> flipped;
    for (std::uint32_t k = 0; k < op_.reads_count; ++k) {
      const auto touched = touched_[op_.reads_first + k];
      if ((touched & predicate_mark) != 0) continue;
      each_undefined(warp_.frame(), touched, mask_, [&](std::uint32_t i, const Value& value) {
        auto* place = slot(touched) + i;
        for (const auto& one : flipped)
          if (one.place == place) return;
        flipped.push_back({place, *place});
        for (std::uint32_t byte = 0; byte < 8; ++byte)
          if ((value.bytes >> byte & 1) != 0) *place ^= std::uint64_t{0xff} << (8 * byte);
      });
    }
    return flipped;
  }
  static void restore(const std::vector<Flipped>& flipped) {
    for (const auto& one : flipped) *one.place = one.value;
  }

  void mark(const std::vector<std::uint64_t>& otherwise) {
    auto& undefined = warp_.frame().undefined;
    const auto* other = otherwise.data();
    each_written([&](std::uint32_t touched) {
      const bool predicate = (touched & predicate_mark) != 0;
      const auto which = touched & ~predicate_mark;
      each(mask_, [&](std::uint32_t i) {
        auto& values = predicate ? undefined.predicates : undefined.values;
        values.erase(key_of(which, i));
        if ((lanes_ >> i & 1) == 0) return;
        auto value = sources_[i];
        if (!predicate) difference(slot(touched)[i] ^ other[i], value);
        if (value.bytes != 0) values[key_of(which, i)] = value;
      });
      if (!otherwise.empty()) other += predicate ? 1 : lanes_of_warp;
    });
  }

  // A byte that is another throughout is a copy.
  void difference(std::uint64_t bits, Value& value) const {
    value.bytes = 0;
    value.computed = value.computed || !op_.moves;
    for (std::uint32_t byte = 0; byte < 8; ++byte) {
      const auto here = bits >> (8 * byte) & 0xff;
      if (here == 0) continue;
      value.bytes = static_cast<std::uint8_t>(value.bytes | 1u << byte);
      value.computed = value.computed || here != 0xff;
    }
  }

  Warp& warp_;
  const DecodedInstruction& op_;
  std::uint32_t mask_;
  const std::uint32_t* touched_;
  std::uint32_t lanes_ = 0;  // that read what is undefined
  std::array<Value, lanes_of_warp> sources_{};
};

// A load or an atomic: what it writes is defined, but for what the handler finds.
void run_access(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  auto& frame = warp.frame();
  const auto* touched = frame.code->touched.data();
  if (!op.copies && op.role == Role::load)  // atomics
    for (std::uint32_t k = 0; k < op.reads_count; ++k)
      each_undefined(frame, touched[op.reads_first + k], mask, [&](std::uint32_t i, const Value& value) {
        say_undefined(warp, i, value, "what an atomic writes");
      });
  for (std::uint32_t k = 0; k < op.writes_count; ++k)
    each(mask,
         [&](std::uint32_t i) { frame.undefined.values.erase(key_of(touched[op.writes_first + k], i)); });
  op.run(warp, op, mask);
}

// Where it is kept which bytes of the memory at `to` were written; null: nowhere.
std::uint8_t* validity_of(Warp& warp, std::uint32_t lane, const std::byte* to) {
  auto& block = *warp.block;
  const auto within = [&](const std::vector<std::byte>& bytes) {
    return !bytes.empty() && to >= bytes.data() && to < bytes.data() + bytes.size();
  };
  if (within(block.shared)) return &block.shared_valid[static_cast<std::size_t>(to - block.shared.data())];
  for (auto* memory : {&warp.local[lane], &warp.params[lane]})
    if (within(memory->bytes)) return &memory->valid[static_cast<std::size_t>(to - memory->bytes.data())];
  auto* buffer = warp.cached;
  if (buffer == nullptr || !within(buffer->bytes)) return nullptr;
  if (buffer->valid.empty()) buffer->valid.assign(buffer->bytes.size(), 1);
  return &buffer->valid[static_cast<std::size_t>(to - buffer->bytes.data())];
}

}  // namespace

void note_undefined_read(Warp& warp, const std::string& message) {
  warp.machine->undefined_reads.try_emplace(read_key(warp, warp.pc), message);
}

void load_undefined(Warp& warp, const Ref* refs, std::uint32_t count, std::uint32_t lane,
                    std::uint32_t bytes) {
  auto& values = warp.frame().undefined.values;
  for (std::uint32_t k = 0; k < count; ++k) {
    const auto mine = warp.undefined_bytes >> (k * bytes) & ((1u << bytes) - 1);
    if (mine != 0 && is_register(refs[k]))
      values[key_of(refs[k].slot(), lane)] = {static_cast<std::uint8_t>(mine), false, warp.pc};
  }
  warp.undefined_bytes = 0;
}

void store_undefined(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, const std::byte* to,
                     std::uint32_t bytes) {
  const auto& code = warp.code();
  for (std::uint32_t k = 0; k < op.count; ++k) {
    const auto ref = code.refs[op.extra + k];
    const auto* value = is_register(ref) ? find(warp.frame().undefined.values, ref.slot(), lane) : nullptr;
    if (value == nullptr || (value->bytes & ((1u << bytes) - 1)) == 0) continue;
    if (value->computed && (warp.global_lanes >> lane & 1) != 0) {
      say_undefined(warp, lane, *value, "what is stored");
      continue;
    }
    auto* valid = validity_of(warp, lane, to + k * bytes);
    if (valid == nullptr) continue;
    for (std::uint32_t byte = 0; byte < bytes; ++byte)
      if ((value->bytes >> byte & 1) != 0) valid[byte] = 0;
  }
}

void run_with_undefined(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask) {
  check_uses(warp, op, active, mask);
  if (op.control != Control::none || mask == 0) return;
  if (op.accesses)
    run_access(warp, op, mask);
  else if (op.writes_count == 0)
    op.run(warp, op, mask);
  else
    Dependence(warp, op, mask).run();
}

}  // namespace warptime::execute
