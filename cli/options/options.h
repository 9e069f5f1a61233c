// The options that mean the same in every command, and how their values are read. Errors here are of the
// command line; each diagnostic has the option as its file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compile/compile.h"
#include "cli/options/arguments.h"
#include "simulator/gpu/gpu.h"
#include "simulator/predict/prediction.h"

namespace warptime::cli {

// For CommandSyntax::groups.
OptionGroup compiler_options();
// The same with --rearrange, for commands that make kernel programs.
OptionGroup program_options();
std::vector<Option> limit_options();  // --max-time and --max-memory: among compiler_options()
Option param_option();
Option kernel_option();
Option gpu_dir_option();
Option t_m_option();
Option color_option();
// --format, -o, --color, --help. `formats`: what --format takes, the default first; `help`: of --format, if the default
// depends on more.
OptionGroup general_options(std::vector<std::string> formats, std::string help = {});

// The same with --sarif, for commands that read sources.
OptionGroup with_sarif(OptionGroup general);

// --compiler, --arch, --rolled and what followed `--`.
Result<CompileOptions> read_compile_options(const Arguments& arguments);
// --max-time and --max-memory, which hold for the process: a compilation beyond them ends it with an error.
// read_compile_options() calls this.
Diagnostics limit_compilers_by(const Arguments& arguments);
// --kernel; empty: not given. Errors: those of check_kernel_pattern.
Result<std::string> read_kernel(const Arguments& arguments);
// Every --param, in order. Errors: a value that is not a number or does not fit 64 bits, a name given twice.
Result<std::vector<NamedValues>> read_parameters(const Arguments& arguments);
// A number that is not negative: --t-m, --t-p.
Result<std::optional<double>> read_number(const Arguments& arguments, std::string_view name);
// --threads, --shared, …
Result<std::optional<Expression>> read_expression(const Arguments& arguments, std::string_view name);
// The text as an expression, or what is wrong with this value of the option.
Result<Expression> parse_expression(const std::string& text, std::string_view option);
// The option's value, or the first of its choices where it is not given. Errors: none of them.
Result<std::string> read_choice(const Arguments& arguments, std::string_view name);
// The same with only these choices.
Result<std::string> read_choice(const Arguments& arguments, std::string_view name,
                                const std::vector<std::string>& allowed);
// The bundled GPUs and those of --gpu-dir. Errors are of the folder's files: input.
Result<GpuCatalogue> read_catalogue(const Arguments& arguments);
// --gpu, repeatable and with commas; `all` is every GPU that has core packages. Each GPU once, in the order
// given.
Result<std::vector<const Gpu*>> read_gpus(const Arguments& arguments, const GpuCatalogue& catalogue);

// Whether that is the whole catalogue: with `--gpu all`, and without --gpu.
bool asks_for_all_gpus(const Arguments& arguments);
// Notes that the GPUs `names` are elided; nothing if there are none.
void say_excluded_gpus(const std::vector<std::string>& names);

// "a,b" -> a and b.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace warptime::cli
