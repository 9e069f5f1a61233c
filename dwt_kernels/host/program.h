// What the programs of this folder share: their options, and times.
#pragma once

#include <cxxopts.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warptime::host {

// 1024 or 2^10; nothing for other text, and for numbers beyond 2^30.
std::optional<int> size_of(const std::string& text);
// The same of a list with commas; nothing where one of them is no size.
std::optional<std::vector<int>> sizes_of(const std::string& text);
std::vector<std::string> words_of(const std::string& text);  // separated by commas

// Milliseconds of a steady clock.
double now_ms();

// Parses, answers --help, and calls the program. Exit status: the program's; 2 where the command line is wrong.
int run_program(cxxopts::Options options, int argc, char** argv, int (*program)(const cxxopts::ParseResult&));

// A message on stderr. Returns 2.
int usage_error(const std::string& message);

}  // namespace warptime::host
