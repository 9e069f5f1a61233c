// The command line that clang's own driver makes of a request, which is the reference for how NVPTX is
// compiled.
#pragma once

#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Lex/Preprocessor.h>

#include "analyzer/compile/clang_compiler.h"
#include "analyzer/compile/clang_sources.h"

namespace warptime::compiling {

// How large a loop may become that LLVM unrolls whole, in its instructions, where UnrollLikeNvcc leaves it to LLVM (whose own limit
// is 300).
inline constexpr int kMostUnrolled = 460;

// `parts`: of our headers, see header_parts.h.
// Errors: flags that clang does not know (as clang prints it), and flags that ask for something other than
// one compilation. Warnings go to `engine`.
Diagnostics make_invocation(clang::CompilerInvocation& invocation, const ClangRequest& request, int parts,
                            const SourceTree& sources, clang::DiagnosticsEngine& engine);

// `#pragma clang __debug` crashes clang, fills its stack or prints: it is ignored. To be called before the source
// is parsed.
void ignore_debug_pragmas(clang::Preprocessor& preprocessor);

// The PTX version for a target, as one of LLVM's features: "+ptx78".
std::string ptx_feature(const std::string& target);

}  // namespace warptime::compiling
