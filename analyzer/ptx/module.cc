#include "analyzer/ptx/module.h"

#include "analyzer/ptx/lexer.h"

namespace warptime::ptx {

std::uint32_t function_run_by(const Module& module, std::uint32_t function) {
  // Aliases of aliases end, unless they go round.
  for (std::size_t steps = 0;
       steps < module.functions.size() && module.functions[function].alias_of != no_index; ++steps)
    function = module.functions[function].alias_of;
  return function;
}

std::string register_name(const Module& module, const Function& function, std::uint32_t reg) {
  const Register& entry = function.registers[reg];
  std::size_t end = entry.name + 1;  // the first character may be a %
  while (end < module.text.size() && is_word_character(module.text[end])) ++end;
  std::string name(module.text.substr(entry.name, end - entry.name));
  if (entry.number != no_index) name += std::to_string(entry.number);
  return name;
}

}  // namespace warptime::ptx
