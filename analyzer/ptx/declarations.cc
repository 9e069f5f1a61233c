// Variables, registers, and the headers of functions.
#include <fmt/format.h>

#include <limits>

#include "analyzer/ptx/parser.h"
#include "analyzer/ptx/words.h"

namespace warptime::ptx {
namespace {

StateSpace space_of_directive(std::string_view directive) {
  if (directive == ".global") return StateSpace::global;
  if (directive == ".const") return StateSpace::constant;
  if (directive == ".shared") return StateSpace::shared;
  if (directive == ".local") return StateSpace::local;
  if (directive == ".param") return StateSpace::param;
  if (directive == ".tex" || directive == ".surf") return StateSpace::texture;
  if (directive == ".reg") return StateSpace::reg;
  return StateSpace::none;
}

std::uint8_t vector_width_of(std::string_view directive) {
  if (directive == ".v2") return 2;
  if (directive == ".v4") return 4;
  if (directive == ".v8") return 8;
  return 0;
}

}  // namespace

// What stands before the name: a space (unless it has been read), .align 4, .v2, a type; of a parameter then
// .ptr .global .align 4.
bool Parser::variable_prefix(Variable& variable) {
  bool pointee = false;
  for (bool first = true; at_directive(); first = false) {
    const std::string_view word = token_.text;
    const StateSpace space = space_of_directive(word);
    const std::uint8_t width = vector_width_of(word);
    const bool typed = !variable.type.empty();
    if (space != StateSpace::none && (first || (pointee && variable.pointee == StateSpace::generic))) {
      (pointee ? variable.pointee : variable.space) = space;
      consume();
      if (space == StateSpace::constant && at('[') && !bank()) return false;
    } else if (word == ".align" && (!typed || variable.space == StateSpace::param)) {
      if (!alignment(pointee, variable)) return false;
    } else if (word == ".ptr" && typed && !pointee) {
      pointee = true;
      variable.pointee = StateSpace::generic;
      consume();
    } else if (word == ".attribute" && !typed) {
      consume();
      if (!parenthesized()) return false;
    } else if (width != 0 && !typed) {
      variable.vector_width = width;
      consume();
    } else if (!typed && (is_type(word.substr(1)) || newer_than_known())) {
      variable.type = word.substr(1);
      consume();
    } else {
      return unexpected(typed ? "a name" : "a type");
    }
  }
  return !variable.type.empty() || unexpected("a type");
}

// .const[2], the bank of old modules; the bracket is the token.
bool Parser::bank() {
  consume();
  std::uint64_t number = 0;
  return whole_number(number) && expect(']');
}

bool Parser::alignment(bool pointee, Variable& variable) {
  consume();
  std::uint64_t align = 0;
  const Token place = token_;
  if (!whole_number(align)) return false;
  if (align == 0 || align > (1u << 30) || (align & (align - 1)) != 0)
    return fail_at(place.text, place.line, "an alignment must be a power of two");
  if (!pointee) variable.align = static_cast<std::uint32_t>(align);  // .ptr .align: of what it points to
  return true;
}

// (…), whatever is in it.
bool Parser::parenthesized() {
  if (!at('(')) return unexpected("'('");
  int depth = 0;
  do {
    if (at_end() || at('{') || at(';')) return unexpected("')'");
    depth += at('(') ? 1 : at(')') ? -1 : 0;
    consume();
  } while (depth != 0);
  return true;
}

// [4][], and = {…}.
bool Parser::variable_suffix(Variable& variable) {
  bool unknown = false;
  const char* begin = start();
  while (at('[')) {
    variable.is_array = true;
    consume();
    if (at(']')) {
      unknown = true;
    } else {
      std::uint64_t size = 0;
      const Token place = token_;
      if (!whole_number(size)) return false;
      if (size != 0 && variable.elements > std::numeric_limits<std::uint64_t>::max() / 64 / size)
        return fail_at(place.text, place.line, "the array is too large");
      variable.elements *= size;
    }
    if (!expect(']')) return false;
  }
  if (unknown) variable.elements = 0;
  if (variable.is_array) variable.dimensions = span_from(begin);
  if (!at('=')) return true;
  consume();
  return initializer(variable);
}

bool Parser::initializer(Variable& variable) {
  const char* begin = start();
  if (!initial_value(0)) return false;
  variable.initializer = span_from(begin);
  return true;
}

// {1, 2}, {{1, 2}, {3, 4}}, or one element.
bool Parser::initial_value(int depth) {
  if (depth > maximum_depth) return fail_at(token_.text, token_.line, "initial values are nested too deeply");
  if (!at('{')) return initial_element();
  consume();
  if (at('}')) return expect('}');
  for (;;) {
    if (!initial_value(depth + 1)) return false;
    if (at('}')) return expect('}');
    if (!at(',')) return unexpected("',' or '}'");
    consume();
  }
}

// A constant; a name and an offset; a byte of an address, 0xff(name); of a texture reference addr_mode_0 =
// wrap.
bool Parser::initial_element() {
  if (at_word() && token_.text != "WARP_SZ") return initial_name();
  Constant value;
  if (!constant(value, 1, 0)) return false;
  if (!at('(') || value.floating) return true;
  consume();
  if (!at_word()) return unexpected("a name");
  return initial_name() && expect(')');
}

bool Parser::initial_name() {
  Token name = token_;
  consume();
  if (at('=')) {
    consume();
    if (!at_word() && token_.kind != TokenKind::integer) return unexpected("a setting");
    consume();
    return true;
  }
  const bool generic = name.text == "generic" && at('(');
  if (generic) {
    consume();
    if (!at_word()) return unexpected("a name");
    name = token_;
    consume();
    if (!expect(')')) return false;
  }
  const Named found = function_ != nullptr ? scopes_.find(name.text) : scopes_.find_global(name.text);
  if (found.kind == Named::Kind::nothing)
    return fail_at(name.text, name.line, fmt::format("{} is not declared", quoted(name.text)));
  std::uint64_t ignored = 0;
  return !at('+') || offset(ignored);
}

bool Parser::declare_variable(const Variable& variable, Function* function) {
  bool fresh = true;
  if (function == nullptr) {
    const Named known = scopes_.find_global(variable.name);
    if (known.kind == Named::Kind::module_variable) {
      // .extern first, the definition later: one entry
      Variable& earlier = module_.variables[known.index];
      const auto defines = [](const Variable& one) {
        return one.linkage == Linkage::none || one.linkage == Linkage::visible;
      };
      if (defines(earlier) && defines(variable))
        return fail_at(variable.name, variable.line,
                       fmt::format("{} is declared twice", quoted(variable.name)));
      if (earlier.elements == 0 || !variable.initializer.empty()) earlier = variable;
      return true;
    }
    fresh = scopes_.declare_global(
        variable.name, {Named::Kind::module_variable, static_cast<std::uint32_t>(module_.variables.size())});
    if (fresh) module_.variables.push_back(variable);
  } else {
    fresh = scopes_.declare(variable.name, {Named::Kind::function_variable,
                                            static_cast<std::uint32_t>(function->variables.size())});
    if (fresh) function->variables.push_back(variable);
  }
  return fresh ||
         fail_at(variable.name, variable.line, fmt::format("{} is declared twice", quoted(variable.name)));
}

// .shared .b32 s<4> declares s0 … s3.
bool Parser::declare_variable_range(const Variable& variable, Function* function) {
  const Token place = token_;
  std::uint64_t count = 0;
  consume();
  if (!whole_number(count) || !expect('>')) return false;
  if (count > 10000) return fail_at(place.text, place.line, "more than 10000 variables in one declaration");
  for (std::uint64_t i = 0; i < count; ++i) {
    Variable one = variable;
    module_.made_text.push_back(
        std::make_shared<const std::string>(std::string(variable.name) + std::to_string(i)));
    one.name = *module_.made_text.back();
    const bool fresh =
        function == nullptr
            ? scopes_.declare_global(one.name, {Named::Kind::module_variable,
                                                static_cast<std::uint32_t>(module_.variables.size())})
            : scopes_.declare(one.name, {Named::Kind::function_variable,
                                         static_cast<std::uint32_t>(function->variables.size())});
    if (!fresh) return fail_at(place.text, place.line, fmt::format("{} is declared twice", quoted(one.name)));
    (function == nullptr ? module_.variables : function->variables).push_back(one);
  }
  return true;
}

// .visible, .extern, .weak or .common, if there is one.
Linkage Parser::linkage() {
  Linkage result = Linkage::none;
  if (at_directive(".visible")) result = Linkage::visible;
  if (at_directive(".extern")) result = Linkage::external;
  if (at_directive(".weak")) result = Linkage::weak;
  if (at_directive(".common")) result = Linkage::common;
  if (result != Linkage::none) consume();
  return result;
}

// What stands behind a state space in declarations.
bool Parser::at_attribute() const {
  return at_directive() &&
         (token_.text == ".align" || vector_width_of(token_.text) != 0 || is_type(token_.text.substr(1)));
}

// .align 8 .b32 x; without a space: wrong, but where, that what follows shows.
bool Parser::spaceless_declaration() {
  const Token first = token_;
  Variable ignored;
  if (!variable_prefix(ignored)) return false;
  if (token_.dotted) return unexpected("a name");
  return fail_at(first.text, first.line, "a variable needs a state space such as .global");
}

// A statement that declares variables of one space; the space is the token.
bool Parser::declaration(Linkage linkage, Function* function) {
  Variable prefix;
  prefix.linkage = linkage;
  if (!variable_prefix(prefix)) return false;
  if (at(';')) return expect(';');  // ptxas takes a declaration of nothing
  for (;;) {
    if (!at_word() || token_.dotted || token_.text == "_") return unexpected("a variable's name");
    Variable variable = prefix;
    variable.name = token_.text;
    variable.line = token_.line;
    consume();
    if (at('<')) {
      if (!declare_variable_range(variable, function)) return false;
    } else if (!variable_suffix(variable) || !declare_variable(variable, function)) {
      return false;
    }
    if (!at(',')) return expect(';');
    consume();
  }
}

// .reg .b32 %r<100>, a, b;
bool Parser::register_declaration(Function* function) {
  Variable prefix;
  const char* begin = start() + token_.text.size();
  if (!variable_prefix(prefix)) return false;
  if (prefix.vector_width != 1) {  // from the v4 on
    const std::string_view written = span_from(begin);
    prefix.type = written.substr(written.find(".v") + 1);
  }
  if (at(';')) return expect(';');
  for (;;) {
    if (!at_word() || token_.dotted || token_.text == "_") return unexpected("a register's name");
    const Token name = token_;
    consume();
    std::uint64_t count = 0;
    const bool range = at('<');
    if (range) {
      consume();
      const Token place = token_;
      if (!whole_number(count) || !expect('>')) return false;
      if (count > std::numeric_limits<std::uint32_t>::max())
        return fail_at(place.text, place.line, "more registers than 32 bits can count");
    }
    bool fresh = false;
    if (function == nullptr) {
      fresh = scopes_.declare_global_register(name.text, prefix.type, count, range);
    } else if (range) {
      fresh = scopes_.declare_registers(name.text, prefix.type, static_cast<std::uint32_t>(count));
    } else {
      fresh = scopes_.declare_register(name.text, prefix.type);
    }
    if (!fresh) return fail_at(name.text, name.line, fmt::format("{} is declared twice", quoted(name.text)));
    if (!at(',')) return expect(';');
    consume();
  }
}

// (.param .u64 a, .param .align 8 .b8 b[16]); the parenthesis is the token.
bool Parser::parameters(std::vector<Variable>& list) {
  consume();
  if (at(')')) return expect(')');
  for (;;) {
    if (!at_directive(".param") && !at_directive(".reg")) return unexpected("'.param'");
    Variable parameter;
    parameter.line = token_.line;
    if (!variable_prefix(parameter)) return false;
    if (!at_word() || token_.dotted) return unexpected("a parameter's name");
    if (token_.text != "_") parameter.name = token_.text;
    consume();
    if (!variable_suffix(parameter)) return false;
    list.push_back(parameter);
    if (!at(',')) return expect(')');
    consume();
  }
}

// .maxntid 256, 1, 1 and the like, as written.
bool Parser::header_directive(Function& function) {
  const char* begin = start();
  if (!is_header_directive(token_.text) && !newer_than_known()) return unexpected("'{' or ';'");
  if (at_directive(".pragma")) {
    if (!pragma()) return false;
    function.directives.push_back(span_from(begin));
    return true;
  }
  consume();
  if (at('(') && !parenthesized()) return false;
  while (token_.kind == TokenKind::integer || token_.kind == TokenKind::string || at(',')) consume();
  function.directives.push_back(span_from(begin));
  return true;
}

bool Parser::function_header(Function& function) {
  function.line = token_.line;
  function.entry = token_.text == ".entry";
  consume();
  while (at_directive())
    if (!header_directive(function)) return false;
  if (at('(') && !function.entry && !parameters(function.results)) return false;
  while (at_directive())
    if (!header_directive(function)) return false;
  if (!at_word() || token_.dotted || token_.text == "_") return unexpected("a function's name");
  function.name = token_.text;
  consume();
  if (at('(') && !parameters(function.parameters)) return false;
  // Behind a .func that is declared without a ; the next statement of the file may follow.
  while (at_directive() && (function.entry || is_header_directive(token_.text)))
    if (!header_directive(function)) return false;
  return true;
}

// Gives the function its place in the module; a definition takes that of its declaration.
bool Parser::register_function(Function& function, std::uint32_t& index) {
  const Named known = scopes_.find_global(function.name);
  if (known.kind == Named::Kind::nothing) {
    index = static_cast<std::uint32_t>(module_.functions.size());
    scopes_.declare_global(function.name, {Named::Kind::function, index});
    module_.functions.emplace_back();
    return true;
  }
  const bool is_function = known.kind == Named::Kind::function;
  if (!is_function || (!function.declaration && !module_.functions[known.index].declaration))
    return fail_at(function.name, function.line, fmt::format("{} is defined twice", quoted(function.name)));
  if (const Function& before = module_.functions[known.index];
      !before.name.empty() && before.entry != function.entry)
    return fail_at(function.name, function.line,
                   fmt::format("{} is declared as an entry and as a function", quoted(function.name)));
  index = known.index;
  return true;
}

void Parser::declare_parameters(Function& function) {
  const auto declare_all = [&](const std::vector<Variable>& list, Named::Kind kind) {
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const Variable& variable = list[i];
      if (variable.name.empty()) continue;
      const bool fresh = variable.space == StateSpace::reg
                             ? scopes_.declare_register(variable.name, variable.type)
                             : scopes_.declare(variable.name, {kind, i});
      if (!fresh)
        fail_at(variable.name, variable.line, fmt::format("{} is declared twice", quoted(variable.name)));
    }
  };
  declare_all(function.results, Named::Kind::result);
  declare_all(function.parameters, Named::Kind::parameter);
}

bool Parser::function(Linkage linkage) {
  Function function;
  function.linkage = linkage;
  if (!function_header(function)) return false;
  function.declaration = !at('{');
  if (function.declaration && function.entry && !at(';')) return unexpected("'{' or ';'");
  function.end_line = token_.line;
  std::uint32_t index = 0;
  if (!register_function(function, index)) {
    // Still read, for what else there may be to say, in a place of its own.
    if (function.declaration) return !at(';') || expect(';');
    index = static_cast<std::uint32_t>(module_.functions.size());
    module_.functions.emplace_back();
  }
  if (function.declaration) {
    if (module_.functions[index].name.empty()) module_.functions[index] = std::move(function);
    return !at(';') || expect(';');  // ptxas takes a .func that is declared without it
  }
  registers_.clear();
  labels_.clear();
  function.registers.swap(registers_);
  function.labels.swap(labels_);
  scopes_.begin_function(function);
  declare_parameters(function);
  const bool good = body(function);
  module_.functions[index] = std::move(function);
  return good;
}

}  // namespace warptime::ptx
