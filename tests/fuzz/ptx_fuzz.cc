// Any bytes: the lexer loses none, the parser answers with a module or diagnostics, and what is printed of a
// module parses again and prints as the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyzer/ptx/lexer.h"
#include "analyzer/ptx/module.h"
#include "analyzer/ptx/printer.h"

using namespace warptime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string joined;
  for (const ptx::Token& token : ptx::tokenize(text)) joined += token.text;
  if (joined != text) std::abort();

  const auto module = ptx::parse(text, "fuzz.ptx");
  if (!module) {
    if (module.diagnostics().empty() || module.diagnostics().size() > 20) std::abort();
    (void)to_text(module.diagnostics());
    return 0;
  }
  const std::string printed = ptx::print(*module);
  const auto again = ptx::parse(printed, "printed.ptx");
  if (!again || ptx::print(*again) != printed) std::abort();
  return 0;
}
