#include "analyzer/ptx/words.h"

#include <algorithm>
#include <array>

namespace warptime::ptx {
namespace {

// All sorted, for the search.
constexpr std::array<std::string_view, 48> special_registers = {
    "%aggr_smem_size",
    "%clock",
    "%clock64",
    "%clock_hi",
    "%cluster_ctaid",
    "%cluster_ctarank",
    "%cluster_nctaid",
    "%cluster_nctarank",
    "%clusterid",
    "%ctaid",
    "%current_graph_exec",
    "%dynamic_smem_size",
    "%globaltimer",
    "%globaltimer_hi",
    "%globaltimer_lo",
    "%gridid",
    "%is_explicit_cluster",
    "%laneid",
    "%lanemask_eq",
    "%lanemask_ge",
    "%lanemask_gt",
    "%lanemask_le",
    "%lanemask_lt",
    "%nclusterid",
    "%nctaid",
    "%nsmid",
    "%ntid",
    "%nwarpid",
    "%pm0",
    "%pm0_64",
    "%pm1",
    "%pm1_64",
    "%pm2",
    "%pm2_64",
    "%pm3",
    "%pm3_64",
    "%pm4",
    "%pm4_64",
    "%pm5",
    "%pm5_64",
    "%pm6",
    "%pm6_64",
    "%pm7",
    "%pm7_64",
    "%smid",
    "%tid",
    "%total_smem_size",
    "%warpid",
};
static_assert(std::is_sorted(special_registers.begin(), special_registers.end()));

constexpr std::array<std::string_view, 28> types = {
    "b128",    "b16",    "b32", "b64",   "b8",  "e4m3",  "e4m3x2", "e5m2",    "e5m2x2", "f16",
    "f16x2",   "f32",    "f64", "pred",  "s16", "s16x2", "s32",    "s64",     "s8",     "samplerref",
    "surfref", "texref", "u16", "u16x2", "u32", "u64",   "u8",     "ue8m0x2",
};
static_assert(std::is_sorted(types.begin(), types.end()));

constexpr std::array<std::string_view, 35> directives = {
    "4byte",
    "abi_preserve",
    "abi_preserve_control",
    "address_size",
    "align",
    "attribute",
    "blocksareclusters",
    "branchtargets",
    "byte",
    "callprototype",
    "calltargets",
    "common",
    "entry",
    "explicitcluster",
    "extern",
    "file",
    "func",
    "loc",
    "local_maxnreg",
    "managed",
    "maxclusterrank",
    "maxnctapersm",
    "maxnreg",
    "maxntid",
    "minnctapersm",
    "noreturn",
    "pragma",
    "ptr",
    "reg",
    "reqnctapercluster",
    "reqntid",
    "section",
    "target",
    "unique",
    "visible",
};
static_assert(std::is_sorted(directives.begin(), directives.end()));

}  // namespace

bool is_special_register(std::string_view name) {
  if (std::binary_search(special_registers.begin(), special_registers.end(), name)) return true;
  constexpr std::string_view reserved = "%reserved_smem_offset_";
  if (name.substr(0, reserved.size()) == reserved) return true;  // _begin, _end, _cap, _0, …
  constexpr std::string_view environment = "%envreg";
  if (name.substr(0, environment.size()) != environment) return false;
  name.remove_prefix(environment.size());
  if (name.size() == 1) return name[0] >= '0' && name[0] <= '9';
  return name.size() == 2 && name[1] >= '0' && name[1] <= '9' &&
         (name[0] == '1' || name[0] == '2' || (name[0] == '3' && name[1] <= '1'));
}

bool is_type(std::string_view type) {
  return std::binary_search(types.begin(), types.end(), type);
}

bool is_directive(std::string_view word) {
  return std::binary_search(directives.begin(), directives.end(), word);
}

bool is_header_directive(std::string_view directive) {
  static constexpr std::string_view words[] = {
      ".abi_preserve",    ".abi_preserve_control",
      ".attribute",       ".blocksareclusters",
      ".explicitcluster", ".local_maxnreg",
      ".maxclusterrank",  ".maxnctapersm",
      ".maxnreg",         ".maxntid",
      ".minnctapersm",    ".noreturn",
      ".pragma",          ".reqnctapercluster",
      ".reqntid",
  };
  return std::find(std::begin(words), std::end(words), directive) != std::end(words);
}

bool is_selector(std::string_view selector) {
  constexpr std::string_view components = "xyzwrgba";
  if (selector.size() == 2) return components.find(selector[1]) != std::string_view::npos;
  if (selector.size() < 3 || (selector[1] != 'b' && selector[1] != 'h')) return false;
  const std::string_view digits = selector.substr(2);
  const bool bytes = selector[1] == 'b';
  if (digits.size() == 1) return digits[0] >= '0' && digits[0] <= '3';
  // of vadd4 and vadd2: which bytes or halves of the pair of sources
  return digits.size() == (bytes ? 4 : 2) &&
         digits.find_first_not_of(bytes ? "01234567" : "0123") == std::string_view::npos;
}

}  // namespace warptime::ptx
