// Waits for changes of files, as editors make them: written in place, in pieces, replaced by a rename, deleted and made anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace warptime::cli {

// Linux tells it of what happens in the folders of the files (inotify); where it does not (file systems of other machines),
// and for folders that are made later, it looks now and then.
class FileWatcher {
 public:
  FileWatcher();
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;
  ~FileWatcher();

  // These from now on. One that is not there may come. What changed since the last wait() of one that was watched before is
  // a change still.
  void watch(const std::vector<std::string>& files);
  // Those that changed since watch() or the last wait(), as soon as nothing more has happened to them for `quiet`. Waits at
  // most `longest` for the first one; empty: there was none.
  std::vector<std::string> wait(std::chrono::milliseconds longest, std::chrono::milliseconds quiet);
  // Whether wait() would find one at once.
  bool changed();

 private:
  struct Stamp {
    bool exists = false;
    std::int64_t size = 0, modified_ns = 0, inode = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  static Stamp stamp_of(const std::string& file);
  void watch_folders();
  void read_events();
  void compare();

  int descriptor_ = -1;  // of inotify; -1: there is none
  std::map<std::string, Stamp> files_;
  std::set<std::string> dirty_;
  std::map<int, std::set<std::string>> folders_;      // by watch: how files name them
  std::multimap<std::string, std::string> by_place_;  // "FOLDER/NAME" as watched -> the file
};

}  // namespace warptime::cli
