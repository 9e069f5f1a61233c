// Enough of <getopt.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <unistd.h>

struct option {
  const char* name;
  int has_arg;
  int* flag;
  int val;
};
#define no_argument 0
#define required_argument 1
#define optional_argument 2
extern "C" {
int getopt_long(int argc, char* const argv[], const char* options, const struct option* longer, int* index) noexcept;
int getopt_long_only(int argc, char* const argv[], const char* options, const struct option* longer, int* index) noexcept;
}
