// Enough of <sys/stat.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <sys/types.h>
#include <time.h>

struct stat {
  dev_t st_dev;
  ino_t st_ino;
  mode_t st_mode;
  uid_t st_uid;
  gid_t st_gid;
  off_t st_size;
  time_t st_atime, st_mtime, st_ctime;
};
#define S_ISDIR(mode) (((mode) & 0170000) == 0040000)
#define S_ISREG(mode) (((mode) & 0170000) == 0100000)
#define S_IRWXU 0700
#define S_IRUSR 0400
#define S_IWUSR 0200
extern "C" {
int stat(const char* path, struct stat* result) noexcept;
int fstat(int descriptor, struct stat* result) noexcept;
int mkdir(const char* path, mode_t mode) noexcept;
int chmod(const char* path, mode_t mode) noexcept;
}
