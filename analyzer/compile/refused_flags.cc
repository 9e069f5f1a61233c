#include "analyzer/compile/refused_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace warptime::compiling {

namespace {

// The names stand without the one or two hyphens in front, which both compilers take alike. Where a name ends
// in `*`, whatever begins so is meant.
constexpr std::array not_compiling{
    "v",      "###",     "version", "help",     "help-hidden",   "h",          "x",      "E",
    "dryrun", "dry-run", "run",     "r",        "clean",         "preprocess", "link",   "lib",
    "cubin",  "fatbin",  "cuda",    "optix-ir", "autocomplete*", "analyze*",   "print-*"};

// What writes files beside the result (dependencies, diagnostics, intermediate files, records), loads code of
// others, or reads flags from a file.
constexpr std::array writing{"output-file*",
                             "odir*",
                             "output-directory*",
                             "M",
                             "MM",
                             "MD",
                             "MMD",
                             "MF*",
                             "MJ*",
                             "MG",
                             "MV",
                             "MP",
                             "MQ*",
                             "MT*",
                             "Wp,-M*",
                             "dependencies",
                             "user-dependencies",
                             "write-dependencies",
                             "write-user-dependencies",
                             "dependency-*",
                             "generate-dependenc*",
                             "generate-nonsystem-dependencies*",
                             "module-dependency-dir*",
                             "header-include-file*",
                             "serialize-diagnostic*",
                             "diagnostic-log-file*",
                             "diagnostic-serialized-file*",
                             "save-temps*",
                             "save-stats*",
                             "keep",
                             "keep-dir*",
                             "time",
                             "time=*",
                             "fdevice-time-trace*",
                             "stats-file*",
                             "ftime-trace*",
                             "fproc-stat-report*",
                             "fsave-optimization-record*",
                             "foptimization-record-file*",
                             "opt-record-*",
                             "fcrash-diagnostics*",
                             "gen-reproducer*",
                             "gen-cdb-fragment-path*",
                             "fprofile-generate*",
                             "fprofile-instr-generate*",
                             "fcs-profile-generate*",
                             "fprofile-arcs",
                             "ftest-coverage",
                             "coverage*",
                             "fcoverage-mapping",
                             "gsplit-dwarf*",
                             "split-dwarf-*",
                             "dumpdir*",
                             "dumpbase*",
                             "fdump*",
                             "da",
                             "stack-usage*",
                             "fstack-usage",
                             "index-store-path*",
                             "index-unit-output-path*",
                             "extract-api*",
                             "emit-*",
                             "symbol-graph-dir*",
                             "fmodule*",
                             "fprebuilt-module-path*",
                             "rewrite-*",
                             "info-output-file*",
                             "analyzer-*",
                             "dot-*",
                             "view-*",
                             "write-*",
                             "thinlto-*",
                             "fthin-link-*",
                             "record-command-line*",
                             "fplugin*",
                             "fpass-plugin*",
                             "load*",
                             "plugin*",
                             "add-plugin*",
                             "config*",
                             "optf*",
                             "options-file*",
                             "fno-integrated-cc1",
                             "no-integrated-cc1"};

// nvcc's and clang's flags that hand their values, separated by commas, to one of their tools.
constexpr std::array<std::string_view, 16> handing_on{
    "Xclang",          "Xcompiler",      "compiler-options", "Xptxas",         "ptxas-options",
    "Xcudafe",         "cudafe-options", "Xlinker",          "linker-options", "Xarchive",
    "archive-options", "Xnvlink",        "nvlink-options",   "Xcicc",          "mllvm",
    "Xpreprocessor"};

template <class Names>
bool is_among(const Names& names, std::string_view flag) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return name.ends_with('*') ? flag.starts_with(name.substr(0, name.size() - 1)) : flag == name;
  });
}

// `handed_on`: to a tool of the compiler's, whose `-v`, say, does no harm.
bool is_refused(std::string_view flag, bool handed_on) {
  if (flag.starts_with('@')) return true;  // a file with flags
  if (!flag.starts_with('-') || flag == "-") return false;
  if (flag.starts_with("-o")) return true;  // -oFILE, too
  flag.remove_prefix(flag.starts_with("--") ? 2 : 1);
  if (is_among(writing, flag) || (!handed_on && is_among(not_compiling, flag))) return true;
  for (const std::string_view tool : handing_on) {
    if (!flag.starts_with(tool)) continue;
    std::string_view rest = flag.substr(tool.size());
    if (rest.empty() || rest[0] != '=') continue;
    while (!rest.empty()) {
      rest.remove_prefix(1);
      const std::string_view one = rest.substr(0, rest.find(','));
      if (is_refused(one, true)) return true;
      rest.remove_prefix(one.size());
    }
  }
  return false;
}

bool hands_on(std::string_view flag) {
  if (!flag.starts_with('-')) return false;
  flag.remove_prefix(flag.starts_with("--") ? 2 : 1);
  return std::find(handing_on.begin(), handing_on.end(), flag) != handing_on.end() ||
         flag == "Xarch_device" || flag == "Xarch_host";
}

// The flag at `i`, and where it is the list of another tool's, each of its pieces.
bool any_refused(const std::vector<std::string>& flags, std::size_t i) {
  const bool handed_on = i > 0 && hands_on(flags[i - 1]);
  if (is_refused(flags[i], handed_on)) return true;
  if (!handed_on) return false;
  std::string_view rest = flags[i];
  for (std::size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
    rest.remove_prefix(comma + 1);
    if (is_refused(rest.substr(0, rest.find(',')), true)) return true;
  }
  return false;
}

}  // namespace

Diagnostics check_flags(const std::vector<std::string>& flags) {
  Diagnostics refused;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (!any_refused(flags, i)) continue;
    refused.push_back(
        error(fmt::format("warptime cannot pass `{}` to the compiler", flags[i]),
              "give flags after `--` that change how the source is compiled, such as -I, -D, -O2 or -std="));
  }
  return refused;
}

}  // namespace warptime::compiling
