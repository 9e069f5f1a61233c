#include "simulator/program/joined_loads.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/program/walk.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;

constexpr std::int64_t kLeastJoinedBytes = 4, kMostJoinedBytes = 16;

// A number that divides the expression's value whatever its names are; 0 of the number 0, which all divide.
std::int64_t divisor_of(const Expression& expression) {
  const auto& parts = expression.operands();
  switch (expression.op()) {
    case Operator::integer:
      return std::gcd(expression.integer_value(), std::int64_t{1} << 30);
    case Operator::negate:
      return divisor_of(parts[0]);
    case Operator::multiply:
      return std::gcd(divisor_of(parts[0]) * divisor_of(parts[1]), std::int64_t{1} << 30);
    case Operator::add:
    case Operator::subtract:
    case Operator::modulo:
    case Operator::minimum:
    case Operator::maximum: {
      std::int64_t divisor = 0;
      for (const auto& part : parts) divisor = std::gcd(divisor, divisor_of(part));
      return divisor;
    }
    case Operator::conditional:
      return std::gcd(divisor_of(parts[1]), divisor_of(parts[2]));
    default:
      return 1;
  }
}

// An address as a number of bytes from what is not a number in it.
struct SplitAddress {
  std::string base;  // its terms
  std::int64_t divisor = 0, offset = 0;
};

void split(const Expression& expression, bool negative, SplitAddress& into) {
  if (expression.is_integer()) {
    into.offset += negative ? -expression.integer_value() : expression.integer_value();
  } else if (expression.op() == Operator::add || expression.op() == Operator::subtract) {
    split(expression.operands()[0], negative, into);
    split(expression.operands()[1], negative != (expression.op() == Operator::subtract), into);
  } else {
    into.base += (negative ? " - " : " + ") + to_string(expression);
    into.divisor = std::gcd(into.divisor, divisor_of(expression));
  }
}

// The loads of straight code so far that no store separates.
class Run {
 public:
  void add(Item& item, std::size_t place, const ChipAccess& access) {
    if (!access.address || access.bytes < kLeastJoinedBytes || access.bytes >= kMostJoinedBytes) return;
    SplitAddress address;
    split(*access.address, false, address);
    const auto offset = address.offset;
    auto& loads = loads_[{address.base, access.bytes}];
    loads.divisor = address.divisor;
    loads.at.try_emplace(offset, Place{&item, place});  // the same word again is a load of its own
  }

  // Joins what has come together, and begins anew. Items change at apply().
  void end() {
    for (auto& [key, loads] : loads_)
      for (std::int64_t bytes = kMostJoinedBytes; bytes > key.second; bytes /= 2)
        join(loads, key.second, bytes);
    loads_.clear();
  }

  void apply() {
    for (const auto& [item, changes] : changed_) apply(*item, changes);
  }

 private:
  struct Place {
    Item* item;
    std::size_t place;  // in on_chip
  };
  struct Loads {
    std::int64_t divisor = 0;          // of the base
    std::map<std::int64_t, Place> at;  // by offset
  };
  struct Change {
    std::optional<Expression>
        address;  // of a load that is joined there; absent: the access is a part of another
    std::int64_t bytes = 0;
  };

  void join(Loads& loads, std::int64_t each, std::int64_t bytes) {
    if (loads.divisor % bytes != 0) return;
    for (auto first = loads.at.begin(); first != loads.at.end();) {
      const auto offset = first->first;
      auto next = first;
      std::int64_t covered = 0;
      while (covered < bytes && next != loads.at.end() && next->first == offset + covered)
        covered += each, ++next;
      if (offset % bytes != 0 || covered < bytes) {
        ++first;
        continue;
      }
      // Items of a list stand in memory in their order.
      const auto earliest = std::min_element(first, next, [](const auto& a, const auto& b) {
        return std::pair(a.second.item, a.second.place) < std::pair(b.second.item, b.second.place);
      });
      const auto address = first->second.item->detail->on_chip[first->second.place].address;
      for (auto part = first; part != next; ++part)
        changed_[part->second.item][part->second.place] =
            part == earliest ? Change{address, bytes} : Change{};
      first = loads.at.erase(first, next);
    }
  }

  static void apply(Item& item, const std::map<std::size_t, Change>& changes) {
    auto detail = std::make_shared<ItemDetail>(*item.detail);
    detail->on_chip.clear();
    for (std::size_t i = 0; i < item.detail->on_chip.size(); ++i) {
      ChipAccess access = item.detail->on_chip[i];
      if (const auto change = changes.find(i); change != changes.end()) {
        if (change->second.bytes == 0) continue;
        access.address = change->second.address;
        access.bytes = change->second.bytes;
      }
      detail->on_chip.push_back(std::move(access));
    }
    item.detail = std::move(detail);
  }

  std::map<std::pair<std::string, std::int64_t>, Loads> loads_;  // by base and bytes
  std::map<Item*, std::map<std::size_t, Change>> changed_;
};

}  // namespace

void join_shared_loads(Items& items) {
  Run run;
  const Item* before = nullptr;
  for (Item& item : items) {
    if (before != nullptr && (before->threads != item.threads || before->shares != item.shares)) run.end();
    before = &item;
    if (is_nested(item)) run.end();
    for_each_inner(item, [](Items& inner) { join_shared_loads(inner); });
    if (!item.detail) continue;
    for (std::size_t i = 0; i < item.detail->on_chip.size(); ++i) {
      const ChipAccess& access = item.detail->on_chip[i];
      if (access.space != ChipAccess::Space::shared) continue;
      if (access.kind == ChipAccess::Kind::load)
        run.add(item, i, access);
      else
        run.end();
    }
    if (item.detail->barrier) run.end();
  }
  run.end();
  run.apply();
}

}  // namespace warptime
