#include "analyzer/compile/clang_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "analyzer/compile/clang_guard.h"
#include "analyzer/compile/clang_module.h"
#include "analyzer/compile/header_parts.h"
#include "analyzer/compile/target_neutral.h"

namespace warptime::compiling {

namespace {

constexpr std::size_t most_cached_modules = 8;
constexpr std::size_t largest_cached_text = std::size_t{1} << 20;

// False where no kernel can come of a source: it names no attribute of one, and neither includes nor defines a thing.
bool may_hold_kernel(const ClangRequest& request) {
  const auto has = [&](std::string_view text) { return request.text.find(text) != std::string_view::npos; };
  return !request.flags.empty() || has("global") || has("#") || has("%:") || has("?\?=");
}

// A source that does not compile with the parts of our headers that it seemed to need gets them all.
OptimisedModule compile_with_parts(const ClangRequest& request) {
  const int needed = needed_header_parts(request.text, request.flags);
  const int parts = needed == header_parts::all ? header_parts::all_and_libraries : needed;
  OptimisedModule module = make_module(request, parts);
  if (parts == header_parts::all_and_libraries || (module.errors.empty() && !module.host_errors) ||
      !may_hold_kernel(request))
    return module;
  OptimisedModule with_all = make_module(request, header_parts::all_and_libraries);
  const bool better = with_all.errors.empty() || !module.errors.empty();
  return better ? std::move(with_all) : std::move(module);
}

void add_note_of_names(OptimisedModule& module, std::string_view what, const std::set<std::string>& names) {
  if (names.empty()) return;
  Diagnostic note;
  note.severity = Severity::note;
  note.message = fmt::format("{}: {}", what, fmt::join(names, ", "));
  module.warnings.push_back(std::move(note));
}

// Some compilers take what clang refuses: device code that calls a host function with a body (old versions of glm and
// Eigen and many a helper are used so), names of dependent types without `typename`. Host functions that device code
// calls, and those that these call, are compiled for the device too. A kernel that a kernel launches is no part of it.
OptimisedModule compile_leniently(const ClangRequest& request) {
  constexpr int most_rounds = 6;
  OptimisedModule module = compile_with_parts(request);
  if (module.errors.empty() || module.helpful_insertions.empty() || request.strict) return module;
  std::set<std::string> names = module.names_called_from_device;
  std::set<std::string> launched = module.kernels_launched_from_device;
  SourceInsertions insertions = module.helpful_insertions;
  for (int round = 0; round < most_rounds; ++round) {
    OptimisedModule again = make_module(request, header_parts::all_and_libraries, insertions);
    names.merge(again.names_called_from_device);
    launched.merge(again.kernels_launched_from_device);
    if (again.errors.empty()) {
      add_note_of_names(again, "host functions that device code calls are compiled for the device too",
                        names);
      add_note_of_names(again, "kernels that device code launches are elided there", launched);
      return again;
    }
    if (again.helpful_insertions == insertions) break;
    insertions = std::move(again.helpful_insertions);
  }
  return module;
}

// The source with an instantiation of each of `kernels` behind its end. Those that are none (their arguments are
// names of a function's) are errors in host code, and no more.
OptimisedModule compile_with_uses(const ClangRequest& request, const std::vector<std::string>& kernels) {
  std::string text(request.text);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    text += fmt::format("\nstatic const void* const __warptime_use_{} = (const void*)&{};\n", i, kernels[i]);
  ClangRequest with_uses = request;
  with_uses.text = text;
  return compile_leniently(with_uses);
}

// The arguments of `name<…><<<` in a source, as they stand there.
std::vector<std::string> arguments_in_launches(std::string_view text, const std::string& name) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t open = text.find_first_not_of(" \t\n", at + name.size());
    if (open == std::string_view::npos || text[open] != '<') continue;
    std::size_t end = open + 1;
    for (int depth = 1; end < text.size() && depth > 0 && text[end] != ';'; ++end)
      depth += text[end] == '<' || text[end] == '(' ? 1 : text[end] == '>' || text[end] == ')' ? -1 : 0;
    const std::size_t launch = text.find_first_not_of(" \t\n", end);
    if (launch == std::string_view::npos || !text.substr(launch).starts_with("<<")) continue;
    std::string arguments(text.substr(open + 1, end - open - 2));
    if (std::find(found.begin(), found.end(), arguments) == found.end())
      found.push_back(std::move(arguments));
  }
  return found;
}

std::vector<std::string> uses_in_launches(std::string_view text,
                                          const std::vector<UnusedTemplate>& templates) {
  std::vector<std::string> uses;
  for (const UnusedTemplate& unused : templates) {
    const std::size_t scope = unused.name.rfind(':');
    const std::string name = scope == std::string::npos ? unused.name : unused.name.substr(scope + 1);
    for (const std::string& arguments : arguments_in_launches(text, name))
      uses.push_back(fmt::format("{}<{}>", unused.name, arguments));
  }
  return uses;
}

bool has_kernels(const OptimisedModule& module) {
  return module.errors.empty() && !module.facts.kernels.empty();
}

// Whatever of the templates compiles with the usual arguments, behind `uses`, which compile.
OptimisedModule add_usual_instantiations(const ClangRequest& request, std::vector<std::string> uses,
                                         const std::vector<UnusedTemplate>& templates, OptimisedModule best) {
  constexpr std::size_t most_alone = 4;
  std::vector<std::string> usual;
  for (const UnusedTemplate& unused : templates) {
    if (unused.arguments) usual.push_back(fmt::format("{}<{}>", unused.name, *unused.arguments));
  }
  if (usual.empty()) return best;
  std::vector<std::string> all = uses;
  all.insert(all.end(), usual.begin(), usual.end());
  if (OptimisedModule used = compile_with_uses(request, all); has_kernels(used)) return used;
  if (usual.size() == 1) return best;
  for (std::size_t i = 0; i < std::min(usual.size(), most_alone); ++i) {
    uses.push_back(usual[i]);
    if (OptimisedModule used = compile_with_uses(request, uses); has_kernels(used))
      best = std::move(used);
    else
      uses.pop_back();
  }
  return best;
}

// A file of kernel templates that other files instantiate, or host code that does not compile: they are taken as the
// file launches them, where that says it all, else with float and small numbers.
OptimisedModule compile_source(const ClangRequest& request) {
  OptimisedModule module = compile_leniently(request);
  if (!module.errors.empty() || !module.facts.kernels.empty() || module.facts.unused_templates.empty())
    return module;
  std::vector<std::string> uses = uses_in_launches(request.text, module.facts.unused_templates);
  OptimisedModule used = uses.empty() ? OptimisedModule() : compile_with_uses(request, uses);
  if (has_kernels(used)) {
    const std::vector<UnusedTemplate> rest = used.facts.unused_templates;
    used = add_usual_instantiations(request, uses, rest, std::move(used));
  } else {
    used = add_usual_instantiations(request, {}, module.facts.unused_templates, OptimisedModule());
  }
  if (!has_kernels(used)) return module;
  std::vector<std::string> names;
  for (const KernelSignature& kernel : used.facts.kernels) names.push_back(kernel.name);
  Diagnostic note;
  note.severity = Severity::note;
  note.message =
      fmt::format("kernel templates that {} does not instantiate are taken with {}: {}", request.file,
                  uses.empty() ? "float" : "what its launches say, or float", fmt::join(names, ", "));
  used.warnings.push_back(std::move(note));
  return used;
}

bool is_unchanged(const std::vector<FileStamp>& files) {
  return std::all_of(files.begin(), files.end(), [](const FileStamp& stamp) {
    const std::optional<FileStamp> now = stamp_of(stamp.path);
    return now && now->size == stamp.size && now->modified == stamp.modified;
  });
}

// What a module depends on, besides the headers and, perhaps, the target.
struct CacheKey {
  std::string file;
  std::string text;
  std::vector<std::string> flags;
  bool rolled = false;
  std::string folder;
  friend bool operator==(const CacheKey&, const CacheKey&) = default;
};

struct CacheEntry {
  CacheKey key;
  std::string target;            // that it was made for
  bool for_this_target = false;  // and that it is good for alone
  std::mutex mutex;              // held while it is made: who wants it too, waits
  std::shared_ptr<const OptimisedModule> module;
};

// The modules of the last few sources, so that a source is parsed and optimised once, for however many
// targets.
class ModuleCache {
 public:
  std::shared_ptr<const OptimisedModule> get(const ClangRequest& request) {
    std::error_code ignored;
    const CacheKey key{request.file, std::string(request.text), request.flags, request.rolled,
                       std::filesystem::current_path(ignored).string()};
    for (;;) {
      const std::shared_ptr<CacheEntry> entry = find_or_add(key, request.target);
      const std::lock_guard lock(entry->mutex);
      if (!entry->module || !is_unchanged(entry->module->files)) {
        entry->module.reset();
        auto made = std::make_shared<const OptimisedModule>(compile_source(request));
        if (!made->errors.empty()) return made;
        settle(*entry, request.target, made);
      }
      if (entry->target == request.target || !entry->module->target_dependent) return entry->module;
    }
  }

 private:
  std::shared_ptr<CacheEntry> find_or_add(const CacheKey& key, const std::string& target) {
    const std::lock_guard lock(mutex_);
    for (const auto& entry : entries_) {
      if (entry->key == key && (!entry->for_this_target || entry->target == target)) return entry;
    }
    auto entry = std::make_shared<CacheEntry>();
    entry->key = key;
    entry->target = target;
    entries_.push_front(entry);
    if (entries_.size() > most_cached_modules) entries_.pop_back();
    return entry;
  }

  void settle(CacheEntry& entry, const std::string& target, std::shared_ptr<const OptimisedModule> module) {
    const std::lock_guard lock(mutex_);
    entry.target = target;
    entry.for_this_target = module->target_dependent;
    entry.module = std::move(module);
  }

  std::mutex mutex_;
  std::list<std::shared_ptr<CacheEntry>> entries_;
};

std::shared_ptr<const OptimisedModule> module_of(const ClangRequest& request) {
  static ModuleCache cache;
  if (request.signatures_only || request.host_launches || request.strict ||
      request.text.size() > largest_cached_text) {
    return std::make_shared<const OptimisedModule>(compile_source(request));
  }
  return cache.get(request);
}

// The PTX for one target with the name of another in its `.target` line.
std::string renamed(std::string ptx, const std::string& from, const std::string& to) {
  const std::string line = "\n.target " + from;
  const std::size_t at = ptx.find(line + "\n");
  return at == std::string::npos ? std::string() : ptx.replace(at, line.size(), "\n.target " + to);
}

// The code of the last target-neutral module, which serves other targets as it is.
class NeutralPtx {
 public:
  std::string get(const std::shared_ptr<const OptimisedModule>& module, const std::string& target,
                  Diagnostics& errors) {
    if (!module->target_neutral || !is_neutral_target(target)) return make_ptx(*module, target, errors);
    {
      const std::lock_guard lock(mutex_);
      if (module == module_) return renamed(ptx_, target_, target);
    }
    std::string ptx = make_ptx(*module, target, errors);
    const std::lock_guard lock(mutex_);
    if (errors.empty()) {
      module_ = module;
      target_ = target;
      ptx_ = ptx;
    }
    return ptx;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const OptimisedModule> module_;
  std::string target_;
  std::string ptx_;
};

ClangOutcome compile(const ClangRequest& request) {
  static NeutralPtx neutral;
  const std::shared_ptr<const OptimisedModule> module = module_of(request);
  ClangOutcome outcome;
  outcome.kernels = module->facts.kernels;
  outcome.math_functions.assign(module->facts.math_functions.begin(), module->facts.math_functions.end());
  outcome.errors = module->errors;
  outcome.warnings = module->warnings;
  for (const FileStamp& stamp : module->files) outcome.files.push_back(stamp.path);
  if (outcome.errors.empty() && !request.signatures_only && !request.host_launches) {
    outcome.ptx = neutral.get(module, request.target, outcome.errors);
  }
  return outcome;
}

}  // namespace

ClangOutcome run_clang(const ClangRequest& request) {
  ClangOutcome outcome;
  const std::string crash = run_guarded(request.file, [&] { outcome = compile(request); });
  if (!crash.empty() && !request.strict) {
    // Perhaps in the analysis of a host function's flow for a warning, which clang does not do after an error in
    // that function. It does not know of the errors that are overlooked here.
    ClangRequest quiet = request;
    quiet.flags.emplace_back("-w");
    ClangOutcome again;
    if (run_guarded(request.file, [&] { again = compile(quiet); }).empty()) return again;
  }
  if (!crash.empty() && !request.strict) {
    // Perhaps for an error in host code that it was made to overlook.
    ClangRequest strict = request;
    strict.strict = true;
    ClangOutcome again;
    if (run_guarded(request.file, [&] { again = compile(strict); }).empty() && !again.errors.empty())
      return again;
  }
  if (!crash.empty()) {
    outcome = {};
    outcome.errors.push_back(
        error(fmt::format("clang failed on {}: {}", request.file, crash), "try --compiler nvcc"));
  }
  return outcome;
}

}  // namespace warptime::compiling
