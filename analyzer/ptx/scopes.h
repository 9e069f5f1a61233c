// What the names in a function mean. Registers, variables and labels are local to their {} scope; a label is
// known in the whole of its scope, also before the place that it marks; everything else from its declaration
// on.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/ptx/module.h"
#include "analyzer/ptx/names.h"

namespace warptime::ptx {

// What a name was found to be.
struct Named {
  enum class Kind : std::uint8_t {
    nothing,
    reg,                // index into Function::registers
    parameter,          // Function::parameters
    result,             // Function::results
    function_variable,  // Function::variables
    branch_targets,     // Function::branch_targets
    prototype,          // Function::prototypes
    module_variable,    // Module::variables
    function,           // Module::functions
  };
  Kind kind = Kind::nothing;
  std::uint32_t index = no_index;
};

// A use of a name that may turn out to be a label's.
struct LabelUse {
  enum class Need : std::uint8_t {
    label,      // of a branch
    something,  // of an instruction that takes declared names
    nothing,    // of an unknown instruction, which may have words of its own
  };
  std::uint32_t target = 0;  // the parser's own: where the label's index goes
  std::string_view name;
  std::string_view place;  // of an error: the name, or the call that it is in
  std::uint32_t line = 0;  // of `place`
  Need need = Need::label;
  std::uint32_t label = no_index;  // index into Function::labels, once known
  std::uint32_t next = no_index;   // the use of the same name before this one
};

class Scopes {
 public:
  // `text`: of the module, to limit what ranges of registers may take.
  explicit Scopes(std::string_view text) : text_(text), slot_budget_(text.size() / 2 + 4096) {}

  // Module scope. False: the name is taken.
  bool declare_global(std::string_view name, Named named);
  bool declare_global_register(std::string_view name, std::string_view type, std::uint64_t count, bool range);
  Named find_global(std::string_view name) const;

  void begin_function(Function& function);  // opens the function's own scope
  void open();
  void close();
  int depth() const { return static_cast<int>(scopes_.size()); }

  // In the innermost scope. False: the name is declared there already.
  bool declare(std::string_view name, Named named);
  bool declare_register(std::string_view name, std::string_view type);
  bool declare_registers(std::string_view prefix, std::string_view type, std::uint32_t count);  // %r<count>
  bool define_label(std::string_view name);  // of what follows; a new entry of Function::labels

  // Registers get their place in Function::registers when they are found for the first time.
  Named find(std::string_view name);

  // Label uses are answered when the scopes close, in `label`.
  void use_label(const LabelUse& use);
  std::vector<LabelUse>& label_uses() { return uses_; }

 private:
  struct Name {
    std::uint32_t declaration = no_index;  // innermost that is visible
    std::uint32_t range = no_index;        // the same, of registers that begin with this name
    std::uint32_t label_scope = no_index;  // serial number of the scope that defined the label last
    std::uint32_t last_use = no_index;     // as a label, not yet answered
  };
  struct Declaration {
    Named named;
    std::string_view type;           // of registers
    std::uint32_t offset = 0;        // of the declared name in the text
    std::uint32_t count = 0;         // of a range
    std::uint32_t slots = 0;         // of a range: its first place in slots_; no_index: in sparse_
    std::uint32_t serial = 0;        // key in sparse_
    std::uint32_t outer = no_index;  // the declaration that this one hides
    std::uint32_t name = 0;
    std::uint32_t depth = 0;
    bool range = false;
  };
  struct Scope {
    std::uint32_t serial = 0;
    std::size_t declarations = 0;  // sizes at its beginning
    std::size_t labels = 0;
    std::size_t uses = 0;
    std::size_t slots = 0;
    std::array<std::uint32_t, 2> numbered{};
  };
  struct DefinedLabel {
    std::uint32_t name = 0;
    std::uint32_t label = 0;
    std::uint32_t outer_scope = no_index;  // label_scope before
  };
  struct Numbered {  // a name's prefix and the number behind it
    std::string_view prefix;
    std::uint32_t number = no_index;
  };
  struct Global {
    Named named;
    Declaration registers;       // of a register of module scope
    std::uint32_t function = 0;  // serial number of the function that `registers` was last used in
  };

  // Ranges by their prefix, as long as no declaration and no scope changes what is visible.
  struct CachedRange {
    std::uint64_t prefix = 0;
    std::uint32_t epoch = 0;
    std::uint32_t range = no_index;
  };

  static Numbered split(std::string_view name);
  std::uint32_t intern(std::string_view name);
  std::uint32_t offset_of(std::string_view name) const {
    return static_cast<std::uint32_t>(name.data() - text_.data());
  }
  bool push(std::uint32_t name, std::uint32_t Name::*link, Declaration declaration);
  std::uint32_t find_range(const Numbered& numbered);
  std::uint32_t visible_range(std::string_view prefix);
  std::uint32_t add_register(const Declaration& declaration, std::uint32_t number);
  std::uint32_t sparse_register(const Declaration& declaration, std::uint32_t number);
  Named use(Declaration& declaration, std::uint32_t number);
  Named find_in_module(std::string_view name, const Numbered& numbered);

  std::string_view text_;
  std::size_t slot_budget_;
  std::uint32_t serial_ = 0;     // of ranges and scopes
  std::uint32_t functions_ = 0;  // serial number of the function

  NameTable globals_;
  std::vector<Global> global_;  // by number in globals_
  NameTable global_ranges_;
  std::vector<Global> global_range_;

  Function* function_ = nullptr;
  NameTable names_;
  std::vector<Name> name_;  // by number in names_
  std::vector<Declaration> declarations_;
  std::vector<Scope> scopes_;
  std::vector<DefinedLabel> labels_;
  std::vector<LabelUse> uses_;
  std::vector<std::uint32_t> slots_;  // registers of ranges, by number
  // Registers of ranges too large for slots_: (serial, number) → the function, the register.
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> sparse_;
  std::array<CachedRange, 64> cached_ranges_;
  std::uint32_t epoch_ = 1;
  // Plain declarations that a range could mean as well: names without and with a % in front.
  std::array<std::uint32_t, 2> numbered_{};
};

}  // namespace warptime::ptx
