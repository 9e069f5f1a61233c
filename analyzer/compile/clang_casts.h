// Casts of pointers to types of a greater alignment, which nvcc trusts.
#pragma once

#include <clang/AST/ASTConsumer.h>

#include <memory>

namespace warptime::compiling {

// clang takes `*(float4*)&tile[i]` to be aligned as the array's elements are, where it sees the array, and accesses one float after
// the other. nvcc takes it to be aligned as a float4. This consumer stands before that which makes code: it hides from clang
// what such a cast is of.
std::unique_ptr<clang::ASTConsumer> make_cast_truster();

}  // namespace warptime::compiling
