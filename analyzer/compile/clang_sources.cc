#include "analyzer/compile/clang_sources.h"

#include <fmt/format.h>
#include <llvm/Support/MemoryBuffer.h>

#include "simulator/base/embedded.h"

namespace warptime {
extern const EmbeddedFile cuda_headers[];
extern const std::size_t cuda_headers_count;
}  // namespace warptime

namespace warptime::compiling {

namespace {

// The terminating null that clang relies on is there in literals, but not in a view of the caller's text.
std::unique_ptr<llvm::MemoryBuffer> view_of_literal(std::string_view text, const std::string& name) {
  return llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(text), name, /*RequiresNullTerminator=*/true);
}

}  // namespace

SourceTree make_source_tree(const std::string& file, std::string_view text) {
  auto real = llvm::vfs::createPhysicalFileSystem();
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (const auto folder = real->getCurrentWorkingDirectory()) memory->setCurrentWorkingDirectory(*folder);
  for (std::size_t i = 0; i < cuda_headers_count; ++i) {
    const EmbeddedFile& header = cuda_headers[i];
    const std::string path = fmt::format("/warptime/{}", header.name);
    memory->addFile(path, 0, view_of_literal(header.text, path));
  }
  SourceTree tree;
  tree.main_file = file == "-" ? "<stdin>" : file;
  memory->addFile(tree.main_file, 0,
                  llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text), tree.main_file));
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(std::move(real));
  overlay->pushOverlay(std::move(memory));
  tree.files = std::move(overlay);
  return tree;
}

}  // namespace warptime::compiling
