// SHA-256 by LLVM, which is linked in anyway. The only file of the commands that sees LLVM.
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/SHA256.h>

#include "models/file.h"

namespace warptime::models {

std::string sha256(std::string_view text) {
  llvm::SHA256 hash;
  hash.update(llvm::StringRef(text.data(), text.size()));
  const auto digest = hash.final();
  return llvm::toHex(llvm::ArrayRef<std::uint8_t>(digest), true);
}

}  // namespace warptime::models
