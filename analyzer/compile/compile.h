// From .cu to PTX: the embedded clang or the user's nvcc, behind one interface. Only this folder includes
// clang headers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime {

// automatic: clang, and nvcc where clang fails on device code and nvcc is there.
enum class Compiler { clang, nvcc, automatic };

struct CompileOptions {
  Compiler compiler = Compiler::clang;
  std::string arch;                // "sm_75"; empty: the default (sm_75 for both compilers)
  bool rolled = false;             // loops as written: no unrolling
  std::vector<std::string> flags;  // what followed `--`: -I, -D, -O2, …; given to the compiler after our own
  std::string build_folder;        // whose compile_commands.json has more flags of the source; empty: none
};

struct KernelArgument {
  std::string name;  // "K"; "arg2" if the source does not name it
  std::string type;  // "int", "float *"
};

// A __global__ function (or an instantiation of a template) as the source declares it: PTX keeps no argument
// names.
struct KernelSignature {
  std::string symbol;  // _Z3mtxiiPfS_S_
  std::string name;    // mtx, filter<float>
  int line = 0;        // where its definition begins
  std::vector<KernelArgument> arguments;
};

// PTX and its provenance.
struct Source {
  std::string file;  // as the user named it; "-" for standard input
  std::string text;  // the .cu text; empty if the user gave PTX
  std::string ptx;
  std::string compiler;  // "clang 19.1.7", "nvcc 13.0.88"; empty if the user gave PTX
  std::string target;    // sm_75, as compiled
  std::string flags;     // the user-visible ones, for provenance: "-O3 --rolled -DX=1"
  std::vector<KernelSignature> kernels;
  // "analysed for sm_75, the oldest target of nvcc 13.0.88; sm_21 was asked for"
  std::vector<std::string> notes;
  Diagnostics warnings;  // the compiler's own
  // The files of the user's file system that it was made from, headers of the system among them; nvcc does not say.
  std::vector<std::string> files;
};

// Compiles the device side of CUDA C++ `text` to PTX at -O3 with line information (.loc). An `arch` older
// than the compiler's oldest target is compiled for the oldest, with a note; one that is newer than the
// newest likewise; one that is no sm_XX is an error. Errors: the compiler's own diagnostics, verbatim; nvcc
// asked for and not there (hint: where it was looked for, and that clang needs none); no kernel in the file; a
// build folder without flags for the file. Where `automatic` comes to nvcc, a note says so.
// Thread-safe.
Result<Source> compile_cuda(const std::string& file, std::string_view text, const CompileOptions& options);

// "clang 19.1.7"; for nvcc "nvcc 13.0.88", or nothing where no CUDA Toolkit is found.
std::string clang_version();
std::optional<std::string> nvcc_version();

// The compiler that is asked first: nvcc's version where it is nvcc, "" where that is not there.
std::string first_compiler_version(Compiler compiler);

// The targets that a compiler has, ascending: "sm_30" … "sm_90". Asked of nvcc, not assumed; clang's where the
// choice is automatic.
Result<std::vector<std::string>> compiler_targets(Compiler compiler);

}  // namespace warptime
