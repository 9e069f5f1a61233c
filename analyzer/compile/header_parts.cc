#include "analyzer/compile/header_parts.h"

#include <cctype>
#include <set>

#include "simulator/base/text.h"

namespace warptime::compiling {

namespace {

using namespace header_parts;

// Headers that bring in no inline functions for which the math part would have to make way.
bool is_harmless_header(std::string_view name) {
  static const std::set<std::string_view> names{"stdio.h",
                                                "stdlib.h",
                                                "string.h",
                                                "stdint.h",
                                                "stddef.h",
                                                "assert.h",
                                                "limits.h",
                                                "float.h",
                                                "time.h",
                                                "cuda.h",
                                                "cuda_runtime.h",
                                                "cuda_runtime_api.h",
                                                "device_launch_parameters.h",
                                                "math_constants.h"};
  return names.count(name) != 0;
}

// After `#include`: the name between the quotes or brackets, or nothing (a macro).
std::string_view included_name(std::string_view rest) {
  const std::size_t begin = rest.find_first_of("<\"\n");
  if (begin == std::string_view::npos || rest[begin] == '\n') return {};
  const std::size_t end = rest.find_first_of(">\"\n", begin + 1);
  return end == std::string_view::npos ? std::string_view() : rest.substr(begin + 1, end - begin - 1);
}

int part_of_reserved_word(std::string_view word) {
  static const std::set<std::string_view> language{"__global__",
                                                   "__device__",
                                                   "__host__",
                                                   "__shared__",
                                                   "__constant__",
                                                   "__managed__",
                                                   "__restrict__",
                                                   "__restrict",
                                                   "__launch_bounds__",
                                                   "__forceinline__",
                                                   "__noinline__",
                                                   "__inline__",
                                                   "__align__",
                                                   "__syncthreads",
                                                   "__threadfence",
                                                   "__threadfence_block",
                                                   "__threadfence_system",
                                                   "__attribute__",
                                                   "__CUDA_ARCH__",
                                                   "__CUDACC__",
                                                   "__FILE__",
                                                   "__LINE__",
                                                   "__func__",
                                                   "__FUNCTION__"};
  if (language.count(word) != 0) return 0;
  for (const std::string_view prefix : {"__shfl", "__syn", "__all", "__any", "__uni", "__ballot",
                                        "__activemask", "__match", "__reduce", "__nanosleep", "__trap"}) {
    if (word.starts_with(prefix)) return synchronisation;
  }
  return intrinsics;
}

// float4, uchar2, make_int3, …
bool names_vector(std::string_view word) {
  static const std::set<std::string_view> elements{"char",     "uchar",     "short", "ushort",
                                                   "int",      "uint",      "long",  "ulong",
                                                   "longlong", "ulonglong", "float", "double"};
  if (word.starts_with("make_")) word.remove_prefix(5);
  return word.size() > 3 && word.back() >= '1' && word.back() <= '4' &&
         elements.count(word.substr(0, word.size() - 1)) != 0;
}

int part_of_math(std::string_view word) {
  static const std::set<std::string_view> basic{
      "sqrt",  "rsqrt",    "fabs",     "floor", "ceil",    "trunc", "round",  "rint",   "nearbyint", "fmin",
      "fmax",  "fdim",     "copysign", "fma",   "fdivide", "lrint", "llrint", "lround", "llround",   "isnan",
      "isinf", "isfinite", "signbit",  "nan",   "abs",     "labs",  "llabs",  "min",    "max"};
  static const std::set<std::string_view> software{
      "sin",       "cos",   "tan",       "exp",    "exp10",  "log",      "log2",   "log10",
      "pow",       "sinpi", "cospi",     "asin",   "acos",   "atan",     "sinh",   "cosh",
      "tanh",      "asinh", "acosh",     "atanh",  "exp2",   "expm1",    "log1p",  "cbrt",
      "erf",       "erfc",  "lgamma",    "tgamma", "rcbrt",  "normcdf",  "atan2",  "fmod",
      "remainder", "hypot", "nextafter", "rhypot", "sincos", "sincospi", "norm3d", "norm4d",
      "rnorm3d",   "frexp", "ldexp",     "scalbn", "modf",   "ilogb",    "logb"};
  const auto in = [&](const std::set<std::string_view>& names) {
    return names.count(word) != 0 ||
           (word.ends_with('f') && names.count(word.substr(0, word.size() - 1)) != 0);
  };
  if (in(basic)) return math_basic;
  if (!in(software)) return 0;
  return math_basic | math_float | (software.count(word) != 0 ? math_double : 0);
}

int part_of_word(std::string_view word) {
  if (word == "std") return all;
  if (word.starts_with("__")) return part_of_reserved_word(word);
  if (word.starts_with("atomic")) return atomics;
  if (word.starts_with("tex") || word.starts_with("surf") || word.starts_with("cudaTex"))
    return textures | host_runtime;
  if (word.starts_with("cuda") || word.starts_with("CU")) return host_runtime;
  if (word == "clock" || word == "clock64") return synchronisation;
  return (names_vector(word) ? vector_types : 0) | part_of_math(word);
}

int parts_of_text(std::string_view text) {
  int parts = 0;
  for (std::size_t i = 0; i < text.size() && parts != all;) {
    if (text.compare(i, 3, "<<<") == 0) parts |= host_runtime;
    if (text.compare(i, 2, "##") == 0) return all;
    if (!is_identifier(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_identifier(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    if (word == "include" || word == "include_next") {
      if (!is_harmless_header(included_name(text.substr(end)))) return all;
      end = std::min(text.find('\n', end), text.size());
    } else {
      parts |= part_of_word(word);
    }
    i = end;
  }
  return parts;
}

}  // namespace

bool may_be_reference(std::string_view text, std::string_view name) {
  bool mentioned = false;
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    std::size_t end = at + name.size();
    if ((at > 0 && is_identifier(text[at - 1])) || (end < text.size() && is_identifier(text[end]))) continue;
    while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (text.compare(end, 1, "<") == 0 && text.compare(end, 2, "<<") != 0) return true;
    mentioned = true;
  }
  return !mentioned;
}

int needed_header_parts(std::string_view text, const std::vector<std::string>& flags) {
  int parts = parts_of_text(text);
  for (const std::string& flag : flags) {
    if (flag.starts_with("-include") || flag.starts_with("-imacros") || flag.starts_with("-Xclang"))
      return all;
    if (!flag.starts_with("-I") && !flag.starts_with("-W")) parts |= parts_of_text(flag);
  }
  return parts;
}

}  // namespace warptime::compiling
