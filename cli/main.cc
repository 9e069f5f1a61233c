// The warptime command: see commands.h for what it does.
#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/io/report.h"

int main(int argc, char** argv) {
  // A reader that closes the pipe shows as EPIPE where we write, and ends us quietly there.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return warptime::cli::run({argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const std::bad_alloc&) {
    std::fputs("warptime: error: out of memory\n", stderr);
    return warptime::cli::wrong_input;
  }
}
