// The kernels of a source, from clang's syntax tree.
#pragma once

#include <clang/AST/ASTConsumer.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/compile/compile.h"

namespace warptime::compiling {

// A kernel template that nothing instantiates.
struct UnusedTemplate {
  std::string name;  // "ns::filter"
  // What to take it with: float for a type, a small number that fits its name for a number. Nothing: a parameter is
  // neither.
  std::optional<std::string> arguments;
};

struct SourceFacts {
  std::vector<KernelSignature> kernels;  // in the order of the source
  std::set<std::string> math_functions;  // that device code calls and our headers write in software
  // Device code calls functions of our headers that the target decides about.
  bool target_dependent = false;
  std::vector<UnusedTemplate> unused_templates;
};

// Fills `facts` (which must outlive it) when the translation unit is complete. Also tells clang to skip the
// bodies of host functions in system headers: they are most of what a source with <vector> or <iostream>
// consists of.
std::unique_ptr<clang::ASTConsumer> make_fact_finder(SourceFacts& facts);

// Device code, and nothing else. constexpr functions and explicitly two-sided ones may never run there.
bool is_device_alone(const clang::FunctionDecl& function);

// What kernels are called: in the source, as select_kernel() takes it (filter<float>), and in the PTX.
std::string kernel_name(const clang::FunctionDecl& kernel, const clang::ASTContext& context);
std::string kernel_symbol(const clang::FunctionDecl& kernel, clang::ASTContext& context);

}  // namespace warptime::compiling
