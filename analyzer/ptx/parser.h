// The recursive-descent parser behind parse() of module.h. parser.cc reads the file level, declarations.cc
// variables and function headers, statements.cc function bodies, operands.cc operands, constants.cc constant
// expressions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/ptx/lexer.h"
#include "analyzer/ptx/module.h"
#include "analyzer/ptx/names.h"
#include "analyzer/ptx/opcodes.h"
#include "analyzer/ptx/scopes.h"

namespace warptime::ptx {

// Text of the file in single quotes, cut where it is long, for messages.
std::string quoted(std::string_view text);

// The token so that a message can name it, also where the file has ended.
std::string described(const Token& token);

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : file_(file), lexer_(text), scopes_(text) {
    module_.text = text;
  }

  Result<Module> run();

 private:
  // A constant's value while it is computed.
  struct Constant {
    bool floating = false;
    std::uint64_t integer = 0;  // two's complement
    double real = 0;
  };
  // Operands are made where they stay, without a copy; the place of one is good until the next push.
  class OperandStack {
   public:
    OperandStack() : room_(64) {}
    Operand& push() {
      if (size_ == room_.size()) room_.resize(size_ * 2);
      return room_[size_++] = Operand();
    }
    void resize(std::size_t size) { size_ = size; }  // to fewer
    void clear() { size_ = 0; }
    std::size_t size() const { return size_; }
    const Operand* begin() const { return room_.data(); }
    const Operand* end() const { return room_.data() + size_; }
    const Operand& front() const { return room_.front(); }
    const Operand& back() const { return room_[size_ - 1]; }

   private:
    std::vector<Operand> room_;
    std::size_t size_ = 0;
  };
  struct Place {  // a source location
    std::uint32_t file = 0;
    std::uint32_t line = 0;
  };
  struct KnownOpcode {
    const Opcode* info = nullptr;
    bool good = true;  // none of its parts is a directive
  };
  struct PlaceHash {
    std::size_t operator()(const std::array<std::uint32_t, 3>& place) const {
      std::uint64_t hash = 0;
      for (std::uint32_t number : place) hash = (hash ^ number) * 0x9e3779b97f4a7c15ull;
      return hash ^ (hash >> 32);
    }
  };

  // ---- tokens and errors (parser.cc)
  void advance() { lexer_.next_significant(token_); }
  bool at(char c) const { return token_.mark == c; }
  bool at_end() const { return token_.kind == TokenKind::end || token_.kind == TokenKind::unterminated; }
  bool at_word() const { return token_.kind == TokenKind::word; }
  bool at_directive() const { return token_.kind == TokenKind::directive; }
  bool at_directive(std::string_view name) const { return at_directive() && token_.text == name; }
  char following() const;                    // the character right behind the token
  bool expect(char c);                       // goes on, or reports
  bool unexpected(std::string_view wanted);  // reports the token; returns false
  bool fail_at(std::string_view place, std::uint32_t line, std::string message, std::string hint = {});
  Diagnostic diagnostic_at(std::string_view place, std::uint32_t line, std::string message,
                           std::string hint = {}) const;
  bool full() const { return diagnostics_.size() >= maximum_diagnostics; }
  std::string_view span_from(const char* start) const;  // to the end of the last token read
  const char* start() const { return token_.text.data(); }
  void consume() {  // advance, and remember where the token ended
    last_end_ = token_.text.data() + token_.text.size();
    advance();
  }

  // ---- the file level (parser.cc)
  void reserve_operands();
  void file_statement();
  bool version();
  bool target();
  bool address_size();
  bool source_file();
  bool pragma();
  bool alias();
  bool section();
  bool section_data();
  bool section_label();
  void require_target();
  void skip_dwarf_line();
  void recover_in_file();
  bool starts_file_statement() const;
  // A module newer than our tables may have words that they lack.
  bool newer_than_known() const { return module_.version.size() > 3 || module_.version > "9.0"; }
  bool no_directive_in(const Token& word);  // reports a.reg
  // No body has these: a brace is missing before them.
  bool ends_every_body() const {
    return at_directive(".entry") || at_directive(".func") || at_directive(".visible") ||
           at_directive(".file") || at_directive(".section");
  }

  // ---- declarations (declarations.cc)
  bool declaration(Linkage linkage, Function* function);
  Linkage linkage();
  bool register_declaration(Function* function);
  bool at_attribute() const;
  bool spaceless_declaration();
  bool variable_prefix(Variable& variable);
  bool bank();
  bool alignment(bool pointee, Variable& variable);
  bool parenthesized();
  bool variable_suffix(Variable& variable);
  bool initializer(Variable& variable);
  bool initial_value(int depth);
  bool initial_element();
  bool initial_name();
  bool declare_variable(const Variable& variable, Function* function);
  bool declare_variable_range(const Variable& variable, Function* function);
  bool function(Linkage linkage);
  bool function_header(Function& function);
  bool parameters(std::vector<Variable>& list);
  bool header_directive(Function& function);
  void declare_parameters(Function& function);
  bool register_function(Function& function, std::uint32_t& index);

  // ---- bodies (statements.cc)
  bool body(Function& function);
  void finish_function(Function& function, bool closed);
  void answer_label_uses(bool closed);
  bool statement();
  bool body_directive();
  bool backslash();
  bool at_function_in_body();
  bool function_in_body();
  bool location();
  bool label(const Token& name);
  bool branch_targets(const Token& name);
  bool prototype(const Token& name);
  bool guarded_instruction();
  bool instruction(const Token& opcode, const Token* guard);
  bool finish_opcode(const Token& opcode, Instruction& instruction);
  bool call_goes_on() const;
  KnownOpcode known(std::string_view opcode);
  KnownOpcode look_up(std::string_view opcode);
  void recover_in_body();

  // ---- operands (operands.cc)
  bool operand(int depth);  // pushes one onto pending_
  bool word_operand();
  bool name(Operand& operand);  // resolves the token, and goes on
  bool unresolved_name(Operand& operand, std::uint32_t line);
  bool selector();  // .x of a register, with a blank before it
  bool list_of(Operand::Kind kind, char close, int depth);
  bool address(int depth);
  bool offset(std::uint64_t& value);
  bool vector_operand(int depth);
  bool array_element(const char* begin, std::size_t place);
  std::uint64_t element_bytes(const Operand& array) const;
  bool constant_operand();
  bool negated_operand();
  std::uint32_t flush(std::size_t first);  // moves pending_[first…] into the arena; returns where
  void close_composite(Operand::Kind kind, std::size_t first, const char* start, std::uint64_t value = 0);

  // ---- constants (constants.cc)
  bool constant(Constant& value, int precedence, int depth);
  bool primary(Constant& value, int depth);
  bool number(Constant& value);
  int binary_operator(std::string_view& symbol) const;
  bool apply(std::string_view symbol, const Constant& right, Constant& left, const Token& place);
  bool whole_number(std::uint64_t& value);  // an integer token

  static constexpr std::size_t maximum_diagnostics = 20;
  static constexpr int maximum_depth = 200;

  const std::string& file_;
  Lexer lexer_;
  Token token_;
  const char* last_end_ = nullptr;
  Module module_;
  Diagnostics diagnostics_;
  Scopes scopes_;
  std::size_t unknown_labels_ = 0;  // how many of the diagnostics are about labels
  bool target_missed_ = false;
  bool stopped_ = false;  // nothing sensible can follow

  Function* function_ = nullptr;           // whose body is read
  std::vector<Instruction> instructions_;  // of that body
  std::vector<Register> registers_;        // room for those of a body while it is read
  std::vector<Label> labels_;
  OperandStack pending_;     // operands not yet in the arena
  bool unanswered_ = false;  // there may be labels to be answered in pending_
  int open_braces_ = 0;      // of operands, for recovery
  std::string_view call_;    // the opcode of the call that is read: the place of errors in its names
  std::uint32_t call_line_ = 0;
  bool takes_label_ = false;     // the instruction that is read is a bra
  bool unknown_opcode_ = false;  // of the instruction that is read
  Category category_ = Category::arithmetic;
  Place place_;  // what .loc said last
  std::uint32_t inner_line_ = 0;
  // .loc with inlined_at: (file, line, column) of inlined code → the outermost call's place, for chains.
  std::unordered_map<std::array<std::uint32_t, 3>, Place, PlaceHash> inlined_;
  struct RecentOpcode {
    std::uint64_t first = 0;   // eight characters, padded with zeros
    std::uint64_t second = 0;  // the next eight
    KnownOpcode known;
  };
  std::array<RecentOpcode, 256> recent_opcodes_;  // short ones, by a hash: in front of opcode_names_
  NameTable opcode_names_;
  std::vector<KnownOpcode> opcodes_;                                    // by number in opcode_names_
  std::vector<std::uint32_t> target_labels_;                            // of all .branchtargets of the body
  std::vector<std::pair<std::uint32_t, std::uint32_t>> target_ranges_;  // first, count
};

}  // namespace warptime::ptx
