// Symbolic expressions: polynomials over kernel arguments, launch dimensions, thread indices and loop
// counters, with floor division, minimum, maximum, comparisons and powers of two as further atoms.
// Hash-consed: equal expressions have equal ids. Knows nothing of PTX. Registers are read as whole numbers
// that do not wrap; if compilers rely on wrapping (unsigned comparisons), the comparison keeps its own
// operator, and facts decide it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warptime::analysis {

using ExprId = std::uint32_t;

// One key for two numbers, for hash tables.
inline std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
  return (std::uint64_t{a} << 32) | b;
}

enum class SymbolicOp : std::uint8_t {
  constant,      // number
  argument,      // a: parameter index, b: byte offset in it
  special,       // a: Special
  counter,       // a: loop; 0, 1, …: how often its header has run before
  phi,           // a: index into the evaluator's phis: a register where paths join
  result,        // a: the instruction that makes it, b: the register; no closed form
  opaque,        // b: a serial number; nothing is known about it
  symbol,        // a: serial; the address of a variable
  sum,           // number + Σ coefficient · term
  product,       // of two or more atoms
  floor_divide,  // a / b, rounded down
  // a / b, rounded to zero, where the two may differ: signed division of what may be negative.
  truncated_divide,
  minimum,
  maximum,
  less,
  less_equal,
  equal,
  not_equal,  // 1 or 0
  less_unsigned,
  less_equal_unsigned,  // as unsigned numbers of the register's width
  logical_and,
  logical_or,
  logical_not,
  select,        // a ? b : c
  power_of_two,  // 2 ^ a, a >= 0
  log2_floor,    // of a >= 1
  bit_and,
  bit_or,
  bit_xor,  // where they are no arithmetic
};

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  warpsize,
  other,
};

// What an expression depends on.
enum Dependence : std::uint8_t {
  on_argument = 1,
  on_launch = 2,  // ntid, nctaid
  on_block = 4,   // ctaid
  on_thread = 8,  // tid, laneid, warpid: threads of one warp can differ
  on_counter = 16,
  on_data = 32,  // something loaded, or something without a closed form
  on_load = 64,  // beside on_data: not only what is computed from the other kinds
  on_unknown = on_data | on_load | on_thread,  // of a value that nothing is known of
};

struct Term {
  ExprId atom;
  std::int64_t coefficient;
  friend bool operator==(const Term&, const Term&) = default;
};

// The terms of an expression, by their places in the table: stays valid while new expressions move the table.
class TermList {
 public:
  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Term;
    Iterator() = default;
    Iterator(const TermList* list, std::uint32_t at) : list_(list), at_(at) {}
    Term operator*() const { return (*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {list_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const TermList* list_ = nullptr;
    std::uint32_t at_ = 0;
  };
  TermList(const std::vector<Term>& all, std::uint32_t first, std::uint32_t count)
      : all_(&all), first_(first), count_(count) {}
  explicit TermList(Term only) : count_(1), only_(only) {}
  Term operator[](std::size_t i) const { return all_ != nullptr ? (*all_)[first_ + i] : only_; }
  std::size_t size() const { return count_; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, count_}; }

 private:
  const std::vector<Term>* all_ = nullptr;  // of the table; null: the list is `only_`
  std::uint32_t first_ = 0, count_ = 0;
  Term only_{};
};

// The results for subexpressions in one walk over an expression; usually few.
class ExprMemo {
 public:
  const ExprId* find(ExprId id) const {
    if (many_.empty()) {
      for (std::size_t i = 0; i < size_; ++i)
        if (few_[i].key == id) return &few_[i].value;
      return nullptr;
    }
    const auto& entry = many_[place_of(id)];
    return entry.key == id ? &entry.value : nullptr;
  }
  void set(ExprId id, ExprId value) {
    if (many_.empty()) {
      if (size_ < most_few) {
        few_[size_++] = {id, value};
        return;
      }
      grow();
    } else if (size_ * 2 >= many_.size()) {
      grow();
    }
    insert({id, value});
  }
  std::size_t size() const { return size_; }
  void clear() {
    size_ = 0;
    many_.clear();
  }

 private:
  static constexpr std::size_t most_few = 16;
  static constexpr ExprId free_place = UINT32_MAX;
  struct Entry {
    ExprId key = free_place, value = 0;
  };
  std::size_t place_of(ExprId id) const {
    const auto mask = many_.size() - 1;
    auto at = (id * std::size_t{0x9e3779b1}) & mask;
    while (many_[at].key != free_place && many_[at].key != id) at = (at + 1) & mask;
    return at;
  }
  void insert(Entry entry) {
    auto& place = many_[place_of(entry.key)];
    size_ += place.key == free_place ? 1 : 0;
    place = entry;
  }
  void grow() {
    auto old = std::exchange(many_, std::vector<Entry>(many_.empty() ? 4 * most_few : 2 * many_.size()));
    if (old.empty()) old.assign(few_.begin(), few_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ = 0;
    for (const Entry& entry : old)
      if (entry.key != free_place) insert(entry);
  }

  std::array<Entry, most_few> few_;
  std::vector<Entry> many_;  // open addressing, where few_ is too short
  std::size_t size_ = 0;
};

// Owns all symbolic expressions of one kernel, simplifies them as they are made, and gives each an id.
class SymbolicExprs {
 public:
  SymbolicExprs();  // id 0, which unused operands of a node hold, is the constant 0
  ~SymbolicExprs();
  SymbolicExprs(const SymbolicExprs&) = delete;
  SymbolicExprs& operator=(const SymbolicExprs&) = delete;

  struct Node {
    SymbolicOp op = SymbolicOp::constant;
    std::uint8_t dependence = 0;  // without phis and results, which the evaluator adds
    bool has_phi = false;
    bool indirect = false;    // has a phi or a result
    std::uint16_t depth = 0;  // of nesting
    ExprId a = 0, b = 0, c = 0;
    std::int64_t number = 0;
    std::uint32_t first_term = 0, term_count = 0;
  };

  ExprId constant(std::int64_t number);
  ExprId argument(std::uint32_t index, std::uint32_t offset);
  ExprId special(Special which);
  ExprId counter(std::uint32_t loop);
  ExprId phi(std::uint32_t index);
  ExprId symbol(std::uint32_t serial);
  ExprId result(std::uint32_t instruction, std::uint32_t reg);
  ExprId opaque(std::uint8_t dependence);  // a new one each time

  ExprId add(ExprId a, ExprId b);
  ExprId subtract(ExprId a, ExprId b);
  ExprId scale(ExprId a, std::int64_t factor);
  ExprId multiply(ExprId a, ExprId b);
  ExprId floor_divide(ExprId a, ExprId b);
  ExprId truncated_divide(ExprId a, ExprId b);
  ExprId modulo(ExprId a, ExprId b) { return subtract(a, multiply(b, floor_divide(a, b))); }
  ExprId minimum(ExprId a, ExprId b);
  ExprId maximum(ExprId a, ExprId b);
  ExprId compare(SymbolicOp op, ExprId a, ExprId b);  // one of the six comparisons
  ExprId logical_and(ExprId a, ExprId b);
  ExprId logical_or(ExprId a, ExprId b);
  ExprId logical_not(ExprId a);
  ExprId select(ExprId condition, ExprId then_value, ExprId else_value);
  ExprId power_of_two(ExprId exponent);
  ExprId log2_floor(ExprId a);
  ExprId bits(SymbolicOp op, ExprId a, ExprId b);  // one of the three

  // By value: new expressions move the table.
  Node operator[](ExprId id) const { return nodes_[id]; }
  // Of a sum or, with coefficient 1 each, of a product.
  TermList terms(ExprId id) const { return {terms_, nodes_[id].first_term, nodes_[id].term_count}; }
  // What an atom is the product of: a product's atoms, or itself.
  TermList parts(ExprId atom) const {
    return nodes_[atom].op == SymbolicOp::product ? terms(atom) : TermList({atom, 1});
  }
  bool is_constant(ExprId id) const { return nodes_[id].op == SymbolicOp::constant; }
  bool is_constant(ExprId id, std::int64_t number) const {
    return is_constant(id) && nodes_[id].number == number;
  }
  bool is_boolean(ExprId id) const;  // a comparison or a logical operation

  // Any expression as number + Σ coefficient · atom. Appends the terms, returns the number.
  std::int64_t linear_terms(ExprId id, std::vector<Term>& terms) const;
  // The same without a copy of the terms, and the number alone.
  TermList linear_terms(ExprId id) const {
    const auto op = nodes_[id].op;
    if (op == SymbolicOp::sum) return terms(id);
    return op == SymbolicOp::constant ? TermList(terms_, 0, 0) : TermList({id, 1});
  }
  std::int64_t number_of(ExprId id) const {
    const auto op = nodes_[id].op;
    return op == SymbolicOp::constant || op == SymbolicOp::sum ? nodes_[id].number : 0;
  }
  // number + Σ terms, which is none of the table's.
  class Linear {
   public:
    std::int64_t number = 0;
    std::span<const Term> terms() const { return {list_.data(), count_}; }

   private:
    friend class SymbolicExprs;
    std::array<Term, 2 * 32> list_;  // not initialised beyond count_
    std::size_t count_ = 0;
  };
  // a - b, without making it: to look at what is not needed again. False: it is no sum that could be made.
  bool difference(ExprId a, ExprId b, Linear& result) const;
  // `id` as coefficient · atom + rest, where neither contains `atom`. False where it is not linear in `atom`.
  bool split_linear(ExprId id, ExprId atom, ExprId& coefficient, ExprId& rest);

  // Rebuilds `id` with every leaf (argument, special, counter, phi, result, opaque, symbol) replaced by the
  // result of `leaf`. Parts that `relevant` rejects stay as they are.
  using LeafRewriter = std::function<ExprId(ExprId)>;
  ExprId rewrite(ExprId id, bool (*relevant)(const Node&), const LeafRewriter& leaf);
  bool any_leaf(ExprId id, const std::function<bool(ExprId)>& predicate) const;

  std::size_t size() const { return nodes_.size(); }

 private:
  static constexpr std::size_t max_factors = 6;  // of a product
  ExprId sum_wraps(ExprId b, std::int64_t d);
  // The replacement of an expression of these parts that is too large, or overflows.
  ExprId opaque_of(std::initializer_list<ExprId> parts);
  std::span<const Term> term_span(ExprId id) const {
    return {terms_.data() + nodes_[id].first_term, nodes_[id].term_count};
  }
  ExprId intern(const Node& node, std::span<const Term> terms = {});
  ExprId make(SymbolicOp op, ExprId a, ExprId b = 0, ExprId c = 0);
  // number + Σ terms. from_sorted: terms in the order of their atoms, each once, none with coefficient 0.
  ExprId from_linear(std::int64_t number, std::vector<Term>& terms);
  ExprId from_sorted(std::int64_t number, std::span<const Term> terms);
  // The terms of `id` without a copy; `single` holds that of an atom.
  std::int64_t linear_span(ExprId id, Term& single, std::span<const Term>& terms) const;
  // a + sign · b; false or nothing where a number overflows.
  bool merge(ExprId a, ExprId b, std::int64_t sign, Linear& result) const;
  std::optional<ExprId> add_scaled(ExprId a, ExprId b, std::int64_t sign);
  ExprId floor_divide_by_number(ExprId a, ExprId b);
  std::optional<ExprId> exact_quotient(ExprId a, ExprId b);
  std::optional<ExprId> power_divisor(ExprId a) const;
  std::optional<ExprId> reciprocal_division(ExprId a, std::int64_t power);
  bool is_multiple(ExprId id, ExprId of);  // by a whole number
  // The atoms of one product, or of two that are multiplied.
  class Factors {
   public:
    void push_back(ExprId atom) { atoms_[size_++] = atom; }
    void erase(ExprId* at) { std::move(at + 1, end(), at), --size_; }
    ExprId* begin() { return atoms_.data(); }
    ExprId* end() { return atoms_.data() + size_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

   private:
    std::array<ExprId, 2 * max_factors> atoms_;  // not initialised beyond size_
    std::size_t size_ = 0;
  };
  ExprId product_of(Factors& atoms);
  void factors(ExprId atom, Factors& into) const;
  // A borrowed list of terms: making expressions needs many short lists.
  class Scratch {
   public:
    explicit Scratch(const SymbolicExprs& exprs) : exprs_(exprs) {
      if (exprs.spare_.empty()) return;
      list = std::move(exprs.spare_.back());
      exprs.spare_.pop_back();
    }
    ~Scratch() {
      list.clear();
      exprs_.spare_.push_back(std::move(list));
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::vector<Term> list;

   private:
    const SymbolicExprs& exprs_;
  };
  struct Tables;
  static Tables& spare_tables();
  struct Rewriting;
  ExprId rewrite_part(ExprId id, Rewriting& rewriting, int depth);
  bool any_leaf_part(ExprId id, const std::function<bool(ExprId)>& predicate, ExprMemo& memo) const;
  void grow_index();

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> hashes_;  // by id
  std::vector<Term> terms_;
  std::vector<ExprId> index_;  // open addressing; 0 (which is found without) marks free places
  std::uint32_t serial_ = 0;
  mutable std::vector<std::vector<Term>> spare_;
};

}  // namespace warptime::analysis
