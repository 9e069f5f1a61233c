// The files that clang sees: the source, our CUDA headers, and the user's file system below them.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>

#include <map>
#include <string>
#include <string_view>

namespace warptime::compiling {

// Folders of headers that exist nowhere but in memory.
inline constexpr const char* cuda_headers_folder =
    "/warptime/cuda";  // cuda_runtime.h, …: before the system's
inline constexpr const char* fallback_headers_folder =
    "/warptime/fallback";  // stdio.h, …: where the system has none

struct SourceTree {
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files;
  std::string main_file;  // the name under which the source stands in `files`
};

// What clang needs and nvcc does not, such as __host__ __device__ before a host function that device code calls: texts
// to insert, by their offset and the name of the file. Columns behind them count them.
using FileInsertions = std::map<unsigned, std::string>;
using SourceInsertions = std::map<std::string, FileInsertions>;

// An offset in a file with insertions, as an offset in the file itself.
unsigned offset_without(unsigned offset, const FileInsertions& insertions);

// `text` must outlive the tree. `file` "-" is called <stdin>.
SourceTree make_source_tree(const std::string& file, std::string_view text,
                            const SourceInsertions& insertions = {});

}  // namespace warptime::compiling
