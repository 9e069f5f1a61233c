// The command line of one command: its options declared as data, once, for parsing and for --help alike.
// cxxopts does the work in arguments.cc and is seen nowhere else.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::cli {

// What the value of an option names, for check_outputs().
enum class Names {
  no_file,
  input,           // FILE, or FILE=MORE
  input_folder,    // whose *.yaml are read
  input_in_value,  // NAME=@FILE, NAME=raw:TYPE:FILE
  output,          // FILE
  output_folder,   // where *.svg are written
  output_in_value  // NAME=FILE
};

struct Option {
  std::string names;  // "o,output"; looked up by the long one
  std::string value;  // what --help calls its value: "FILE"; empty: a flag
  std::string help;   // when to use it
  Names file = Names::no_file;
  std::vector<std::string> choices = {};  // the values that it takes, the default first; empty: any value
};

// "output" of "o,output".
std::string long_name(const Option& option);

struct OptionGroup {
  std::string title;
  std::vector<Option> options;
};

// What the inputs of a command are, beside `-`.
enum class Inputs { files, files_or_plans, gpus, plans, models, shells };

struct CommandSyntax {
  std::string name;
  std::string summary;      // one line, for the list of commands
  std::string usage;        // what follows `warptime NAME`
  std::string description;  // a paragraph or two
  std::string examples;     // worked ones, that run as they stand
  std::vector<OptionGroup> groups;
  int least_positionals = 1;
  int most_positionals = 1;
  bool takes_compiler_flags = false;    // what follows `--` goes to the compiler
  std::string (*addition)() = nullptr;  // to the description, where it costs something to make
  Inputs inputs = Inputs::files;
};

class Arguments {
 public:
  bool has(std::string_view name) const;
  // The last one given.
  std::optional<std::string> value(std::string_view name) const;
  std::string value_or(std::string_view name, std::string_view otherwise) const;
  // Each one given, in order.
  std::vector<std::string> values(std::string_view name) const;
  // Option::choices of this option.
  std::vector<std::string> choices(std::string_view name) const;
  // The same with one more option.
  Arguments with(std::string_view name, std::string_view value) const;
  const std::vector<std::string>& positionals() const { return positionals_; }
  const std::vector<std::string>& compiler_flags() const { return compiler_flags_; }

 private:
  friend Result<Arguments> parse_arguments(const CommandSyntax&, const std::vector<std::string>&);
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> positionals_;
  std::vector<std::string> compiler_flags_;
  std::vector<std::pair<std::string, std::vector<std::string>>> choices_;
};

// `words`: what followed the command's name. With --help among them, neither missing nor surplus inputs are
// errors. Errors: an unknown option (with the nearest), a value that is missing, too few or too many inputs.
Result<Arguments> parse_arguments(const CommandSyntax& syntax, const std::vector<std::string>& words);

// Refuses an output that is an input of the command, under whatever name (a symbolic or hard link, `./`), and
// two outputs to one file. Looks at the command line alone: nothing is read or written before.
Diagnostics check_outputs(const CommandSyntax& syntax, const Arguments& arguments);

std::string help_text(const CommandSyntax& syntax);

// The option with this long or short name; null: there is none.
const Option* find_option(const CommandSyntax& syntax, std::string_view name);

}  // namespace warptime::cli
