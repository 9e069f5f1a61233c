// Which family executes an opcode: the one list of what `warptime run` executes, beside control flow.
#include "analyzer/execute/decode.h"

namespace warptime::execute {
namespace {

struct Entry {
  std::string_view name;
  Family family;
};
constexpr Entry families[] = {
    {"add", decode_integer},
    {"addc", decode_integer},
    {"sub", decode_integer},
    {"subc", decode_integer},
    {"mul", decode_integer},
    {"mul24", decode_integer},
    {"mad", decode_integer},
    {"mad24", decode_integer},
    {"madc", decode_integer},
    {"sad", decode_integer},
    {"div", decode_integer},
    {"rem", decode_integer},
    {"abs", decode_integer},
    {"neg", decode_integer},
    {"min", decode_integer},
    {"max", decode_integer},
    {"popc", decode_bits},
    {"clz", decode_bits},
    {"bfind", decode_bits},
    {"fns", decode_bits},
    {"brev", decode_bits},
    {"bfe", decode_bits},
    {"bfi", decode_bits},
    {"bmsk", decode_bits},
    {"szext", decode_bits},
    {"dp4a", decode_bits},
    {"dp2a", decode_bits},
    {"vabsdiff2", decode_bits},
    {"vabsdiff4", decode_bits},
    {"prmt", decode_bits},
    {"shl", decode_bits},
    {"shr", decode_bits},
    {"shf", decode_bits},
    {"fma", decode_float},
    {"rcp", decode_float},
    {"sqrt", decode_float},
    {"rsqrt", decode_float},
    {"sin", decode_float},
    {"cos", decode_float},
    {"lg2", decode_float},
    {"ex2", decode_float},
    {"tanh", decode_float},
    {"testp", decode_float},
    {"copysign", decode_float},
    {"setp", decode_compare},
    {"set", decode_compare},
    {"selp", decode_compare},
    {"slct", decode_compare},
    {"and", decode_logic},
    {"or", decode_logic},
    {"xor", decode_logic},
    {"not", decode_logic},
    {"cnot", decode_logic},
    {"lop3", decode_logic},
    {"cvt", decode_convert},
    {"mov", decode_move},
    {"cvta", decode_move},
    {"isspacep", decode_move},
    {"ld", decode_memory},
    {"ldu", decode_memory},
    {"st", decode_memory},
    {"cp", decode_memory},
    {"atom", decode_atomic},
    {"red", decode_atomic},
    {"shfl", decode_warp},
    {"vote", decode_warp},
    {"match", decode_warp},
    {"redux", decode_warp},
    {"activemask", decode_warp},
    {"elect", decode_warp},
    {"bar", decode_warp},
    {"membar", decode_nothing},
    {"fence", decode_nothing},
    {"prefetch", decode_nothing},
    {"prefetchu", decode_nothing},
    {"applypriority", decode_nothing},
    {"discard", decode_nothing},
    {"nanosleep", decode_nothing},
    {"pmevent", decode_nothing},
    {"setmaxnreg", decode_nothing},
    {"griddepcontrol", decode_nothing},
    {"createpolicy", decode_nothing},
    {"brkpt", decode_nothing},
};

}  // namespace

Family family_of(std::string_view first_word) {
  static const auto table = [] {
    std::unordered_map<std::string_view, Family> made;
    for (const auto& entry : families) made.emplace(entry.name, entry.family);
    return made;
  }();
  const auto found = table.find(first_word);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace warptime::execute
