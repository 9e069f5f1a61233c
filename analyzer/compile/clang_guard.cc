#include "analyzer/compile/clang_guard.h"

#include <clang/Basic/Stack.h>
#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>
#include <pthread.h>
#include <signal.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>
#include <vector>

#include "analyzer/compile/limits.h"

// NVPTX alone: the headers' llvm::InitializeAllTargets would link every target of LLVM.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

// Debian builds clang with LLVM's Polly as an extension, which its code generator then names. Polly's own
// library is a package that nothing here needs: this takes its place, and registers nothing.
llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", LLVM_VERSION_STRING, [](llvm::PassBuilder&) {}};
}

#ifdef __SANITIZE_ADDRESS__
// LLVM's headers mark memory of their allocators as poisoned where they are compiled with AddressSanitizer;
// its libraries are not, and never unmark it. What a crash inside clang had allocated is lost, and no leak of
// ours.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "allow_user_poisoning=0:detect_leaks=0";
}
#endif

namespace warptime::compiling {

namespace {

// Deeply nested source (a thousand parentheses, long chains of `else if`) recurses in clang. The pages are
// only taken when they are touched.
constexpr std::size_t stack_bytes = std::size_t{48} << 20;
constexpr std::size_t signal_stack_bytes = std::size_t{128} << 10;

thread_local std::string fatal_message;

void on_fatal_error(void*, const char* reason, bool) {
  fatal_message = reason;
  if (llvm::CrashRecoveryContext* context = llvm::CrashRecoveryContext::GetCurrent()) context->HandleExit(70);
}

// LLVM installs its crash handlers without SA_ONSTACK; they could not run when it is the stack that ran out.
void move_crash_handlers_to_signal_stack() {
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    action.sa_flags |= SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

void set_up_llvm() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  llvm::install_fatal_error_handler(on_fatal_error);
  llvm::CrashRecoveryContext::Enable();
  move_crash_handlers_to_signal_stack();
}

struct Job {
  const std::function<void()>& work;
  std::string failure;
};

void run_in_this_thread(Job& job) {
  std::vector<char> signal_stack(signal_stack_bytes);
  stack_t stack{};
  stack.ss_sp = signal_stack.data();
  stack.ss_size = signal_stack.size();
  sigaltstack(&stack, nullptr);
  clang::noteBottomOfStack();
  fatal_message.clear();
  llvm::CrashRecoveryContext recovery;
  if (!recovery.RunSafely([&job] { job.work(); })) {
    job.failure = !fatal_message.empty()   ? fatal_message
                  : recovery.RetCode > 128 ? fmt::format("{} (is the source nested very deeply?)",
                                                         strsignal(recovery.RetCode - 128))
                                           : fmt::format("it gave up with status {}", recovery.RetCode);
  }
  stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

void join_within_limits(pthread_t thread, const std::string& file) {
  constexpr long check_nanoseconds = 20'000'000;
  const ClangWatch watch(file);
  timespec next{};
  clock_gettime(CLOCK_MONOTONIC, &next);
  do {
    next.tv_nsec += check_nanoseconds;
    if (next.tv_nsec >= 1'000'000'000) {
      next.tv_nsec -= 1'000'000'000;
      ++next.tv_sec;
    }
    watch.check();
  } while (pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &next) == ETIMEDOUT);
}

}  // namespace

Diagnostics apply_llvm_arguments(const std::vector<std::string>& arguments) {
  static std::mutex mutex;
  static std::vector<std::string> applied;
  const std::lock_guard lock(mutex);
  if (arguments == applied) return {};
  std::vector<const char*> pointers{"clang (LLVM option parsing)"};
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  llvm::cl::ResetAllOptionOccurrences();
  std::string message;
  llvm::raw_string_ostream stream(message);
  applied = arguments;
  if (llvm::cl::ParseCommandLineOptions(static_cast<int>(pointers.size()), pointers.data(), "", &stream))
    return {};
  Diagnostic refused;
  refused.verbatim = stream.str();
  return {refused};
}

std::string run_guarded(const std::string& file, const std::function<void()>& work) {
  static std::once_flag once;
  std::call_once(once, set_up_llvm);
  Job job{work, {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread{};
  const auto body = [](void* argument) -> void* {
    run_in_this_thread(*static_cast<Job*>(argument));
    return nullptr;
  };
  const int refused = pthread_create(&thread, &attributes, body, &job);
  pthread_attr_destroy(&attributes);
  if (refused != 0) return fmt::format("cannot start a thread for it: {}", strerror(refused));
  join_within_limits(thread, file);
  return std::move(job.failure);
}

}  // namespace warptime::compiling
