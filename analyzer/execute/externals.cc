// The functions that the device's runtime gives: vprintf, __assertfail, malloc, free.
#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "analyzer/execute/machine.h"

namespace warptime::execute {
namespace {

constexpr std::size_t longest_text = 1 << 16;
constexpr std::uint64_t heap_bytes = 8 << 20;  // a device's, where nobody asks for another
constexpr std::uint64_t heap_alignment = 16;

// Reads memory as the kernel could; faults are findings at the call.
std::optional<std::uint64_t> read(Warp& warp, std::uint32_t lane, std::uint64_t address,
                                  std::uint32_t bytes) {
  const DecodedInstruction op;
  const auto* from = resolve(warp, op, lane, address, bytes, AccessKind::read, bytes, Space::generic);
  if (from == nullptr) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

std::optional<std::string> text_at(Warp& warp, std::uint32_t lane, std::uint64_t address) {
  std::string text;
  while (text.size() < longest_text) {
    const auto c = read(warp, lane, address + text.size(), 1);
    if (!c) return std::nullopt;
    if (*c == 0) return text;
    text += static_cast<char>(*c);
  }
  return text;
}

// The arguments of vprintf lie one behind the other, each aligned as its size asks.
class Arguments {
 public:
  Arguments(Warp& warp, std::uint32_t lane, std::uint64_t address)
      : warp_(warp), lane_(lane), address_(address) {}
  std::uint64_t next(std::uint32_t bytes) {
    address_ = align_up(address_, bytes);
    const auto value = read(warp_, lane_, address_, bytes);
    address_ += bytes;
    return value.value_or(0);
  }

 private:
  Warp& warp_;
  std::uint32_t lane_;
  std::uint64_t address_;
};

// `%.999999999f` would take gigabytes: widths and precisions are at most this.
constexpr long most_printed = 4096;

std::string with_limited_widths(const std::string& specification) {
  std::string limited;
  for (std::size_t at = 0; at < specification.size();) {
    const std::size_t end = std::min(specification.find_first_not_of("0123456789", at), specification.size());
    if (end > at) {
      const bool fits = end - at < 10 && std::stol(specification.substr(at, end - at)) <= most_printed;
      limited += fits ? specification.substr(at, end - at) : std::to_string(most_printed);
      at = end;
    } else {
      limited += specification[at++];
    }
  }
  return limited;
}

template <class T>
std::string print_one(const std::string& given, T value) {
  const std::string specification = with_limited_widths(given);
  char small[256];
  const int needed = std::snprintf(small, sizeof small, specification.c_str(), value);
  if (needed < 0) return {};
  if (static_cast<std::size_t>(needed) < sizeof small) return small;
  std::string large(static_cast<std::size_t>(std::min(needed, 1 << 16)) + 1, '\0');
  std::snprintf(large.data(), large.size(), specification.c_str(), value);
  large.pop_back();
  return large;
}

// One conversion, from behind the % on; `at` is moved behind it.
std::string convert(Warp& warp, std::uint32_t lane, const std::string& format, std::size_t& at,
                    Arguments& arguments) {
  std::string specification = "%";
  int longs = 0;
  for (; at < format.size(); ++at) {
    const char c = format[at];
    if (c == '*') {
      specification += std::to_string(static_cast<std::int32_t>(arguments.next(4)) % 10000);
    } else if (c == 'l' || c == 'j' || c == 'z' || c == 't') {
      longs += 1;
    } else if (c == 'h') {
      continue;
    } else if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == ' ' || c == '#' || c == '.') {
      if (specification.size() < 16) specification += c;
    } else {
      break;
    }
  }
  if (at >= format.size()) return specification;
  const char kind = format[at++];
  switch (kind) {
    case '%':
      return "%";
    case 'd':
    case 'i':
      return print_one(specification + "lld",
                       longs != 0 ? static_cast<long long>(arguments.next(8))
                                  : static_cast<long long>(static_cast<std::int32_t>(arguments.next(4))));
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      return print_one(specification + "ll" + kind,
                       static_cast<unsigned long long>(arguments.next(longs != 0 ? 8 : 4)));
    case 'c':
      return print_one(specification + kind, static_cast<int>(arguments.next(4)));
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return print_one(specification + kind, std::bit_cast<double>(arguments.next(8)));
    case 'p':
      return print_one("0x%llx", static_cast<unsigned long long>(arguments.next(8)));
    case 's':
      return print_one(specification + kind, text_at(warp, lane, arguments.next(8)).value_or("").c_str());
    default:
      return specification + kind;
  }
}

// `count`: how many conversions there are.
std::string formatted(Warp& warp, std::uint32_t lane, const std::string& format, std::uint64_t address,
                      std::uint64_t& count) {
  Arguments arguments(warp, lane, address);
  std::string text;
  count = 0;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      text += format[at++];
      continue;
    }
    if (at + 1 < format.size() && format[at + 1] != '%') ++count;
    text += convert(warp, lane, format, ++at, arguments);
  }
  return text;
}

void print(Warp& warp, const CallSite& site, std::uint32_t mask) {
  each(mask, [&](std::uint32_t lane) {
    const auto format = text_at(warp, lane, argument_value(warp, site.arguments[0], lane));
    if (!format) return;
    std::uint64_t count = 0;
    const auto text = formatted(warp, lane, *format, argument_value(warp, site.arguments[1], lane), count);
    if (!site.results.empty()) give_value(warp, site.results[0], lane, count);
    auto& machine = *warp.machine;
    if (machine.options->print)
      machine.options->print(text);
    else if (machine.result.printed.size() < (std::size_t{1} << 26))
      machine.result.printed += text;
  });
}

void assertion_failed(Warp& warp, const CallSite& site, std::uint32_t mask) {
  each(mask, [&](std::uint32_t lane) {
    const auto message = text_at(warp, lane, argument_value(warp, site.arguments[0], lane));
    const auto file = text_at(warp, lane, argument_value(warp, site.arguments[1], lane));
    warp.fault(Finding::Kind::assertion, lane,
               fmt::format("assertion `{}` failed ({}:{})", message.value_or("?"), file.value_or("?"),
                           static_cast<std::uint32_t>(argument_value(warp, site.arguments[2], lane))));
  });
}

// Each allocation is a buffer of its own, so that what is past its end is seen; null where the heap is full.
void allocate(Warp& warp, const CallSite& site, std::uint32_t mask) {
  auto& memory = *warp.machine->memory;
  const auto end = warp.machine->map->globals_end;
  each(mask, [&](std::uint32_t lane) {
    const auto bytes =
        align_up(argument_value(warp, site.arguments[0], lane) & 0xffffffffffff, heap_alignment);
    std::uint64_t address = 0;
    if (bytes != 0 && bytes <= heap_bytes - memory.heap_bytes && bytes <= end - memory.next_address) {
      auto buffer = std::make_unique<Memory::Buffer>();
      buffer->name = "malloc";
      buffer->address = address = memory.next_address;
      buffer->bytes.resize(bytes);
      buffer->valid.resize(bytes);
      buffer->from_heap = true;
      memory.heap_bytes += bytes;
      memory.next_address = align_up(address + bytes + heap_alignment, 256);
      memory.buffers.push_back(std::move(buffer));
    }
    give_value(warp, site.results[0], lane, address);
  });
}

void release(Warp& warp, const CallSite& site, std::uint32_t mask) {
  auto& memory = *warp.machine->memory;
  each(mask, [&](std::uint32_t lane) {
    const auto address = argument_value(warp, site.arguments[0], lane);
    if (address == 0) return;
    auto* buffer = memory.below(address);
    if (buffer == nullptr || buffer->address != address || !buffer->from_heap) {
      warp.fault(
          Finding::Kind::bad_operand, lane,
          fmt::format("free(0x{:x}) of memory that malloc did not return or that was freed before", address));
      return;
    }
    memory.heap_bytes -= buffer->bytes.size();
    buffer->bytes = {};
    buffer->valid = {};
    buffer->from_heap = false;
    buffer->name = "memory that was freed";
  });
}

}  // namespace

void call_external(Warp& warp, const CallSite& site, std::uint32_t mask) {
  if (site.external == "vprintf" && site.arguments.size() >= 2)
    print(warp, site, mask);
  else if (site.external == "__assertfail" && site.arguments.size() >= 3)
    assertion_failed(warp, site, mask);
  else if (site.external == "malloc")
    allocate(warp, site, mask);
  else if (site.external == "free")
    release(warp, site, mask);
}

}  // namespace warptime::execute
