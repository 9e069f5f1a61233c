// The files that clang sees: the source, our CUDA headers, and the user's file system below them.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>

#include <map>
#include <set>
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

// Declarations of host functions that are to be compiled for the device too: offsets of their beginnings, by the
// name of the file.
using DevicePromotions = std::map<std::string, std::set<unsigned>>;

// What is written there. It is not in the user's text: columns behind it count it.
inline constexpr std::string_view promotion = "__attribute__((host, device)) ";

// An offset in a file with promotions, as an offset in the file itself.
unsigned offset_without_promotions(unsigned offset, const std::set<unsigned>& promoted);

// `text` must outlive the tree. `file` "-" is called <stdin>.
SourceTree make_source_tree(const std::string& file, std::string_view text, const DevicePromotions& promoted = {});

}  // namespace warptime::compiling
