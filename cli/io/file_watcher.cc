#include "cli/io/file_watcher.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>
#include <utility>

namespace warptime::cli {
namespace {

namespace fs = std::filesystem;

// Where nothing tells of changes.
constexpr auto kLook = std::chrono::milliseconds(250);
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                  IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF;

std::string folder_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  return folder.empty() ? "." : folder.string();
}

// The file itself, and those that it is by symbolic links.
std::vector<fs::path> places_of(const std::string& file) {
  constexpr int kMostLinks = 20;
  std::vector<fs::path> places{file};
  std::error_code failed;
  for (int i = 0; i < kMostLinks && fs::is_symlink(places.back(), failed); ++i) {
    const fs::path target = fs::read_symlink(places.back(), failed);
    if (failed) break;
    places.push_back(target.is_absolute() ? target : places.back().parent_path() / target);
  }
  return places;
}

}  // namespace

FileWatcher::FileWatcher() : descriptor_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

FileWatcher::~FileWatcher() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileWatcher::Stamp FileWatcher::stamp_of(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {true, status.st_size, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
          static_cast<std::int64_t>(status.st_ino)};
}

void FileWatcher::watch(const std::vector<std::string>& files) {
  read_events();
  compare();
  std::map<std::string, Stamp> now;
  for (const std::string& file : files) {
    const auto known = files_.find(file);
    now[file] = known == files_.end() ? stamp_of(file) : known->second;
  }
  files_ = std::move(now);
  std::erase_if(dirty_, [&](const std::string& file) { return files_.count(file) == 0; });
  watch_folders();
}

void FileWatcher::watch_folders() {
  by_place_.clear();
  std::set<std::string> folders;
  for (const auto& [file, stamp] : files_)
    for (const fs::path& place : places_of(file)) {
      const std::string folder = folder_of(place);
      folders.insert(folder);
      by_place_.emplace(folder + "/" + place.filename().string(), file);
    }
  if (descriptor_ < 0) return;
  for (const auto& [watch, names] : folders_)
    if (std::none_of(names.begin(), names.end(), [&](const auto& one) { return folders.count(one) > 0; }))
      ::inotify_rm_watch(descriptor_, watch);
  std::map<int, std::set<std::string>> watched;
  for (const std::string& folder : folders) {
    const int watch = ::inotify_add_watch(descriptor_, folder.c_str(), kEvents | IN_ONLYDIR);
    if (watch >= 0) watched[watch].insert(folder);
  }
  folders_ = std::move(watched);
}

void FileWatcher::read_events() {
  if (descriptor_ < 0) return;
  alignas(inotify_event) std::array<char, 1 << 14> buffer;
  bool lost_folder = false;
  while (true) {
    const auto count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count <= 0) break;
    for (std::ptrdiff_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<std::ptrdiff_t>(sizeof(inotify_event) + event->len);
      if ((event->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF)) != 0) lost_folder = true;
      if ((event->mask & IN_Q_OVERFLOW) != 0)
        for (const auto& [file, stamp] : files_) dirty_.insert(file);
      const auto folder = folders_.find(event->wd);
      if (event->len == 0 || folder == folders_.end()) continue;
      for (const std::string& name : folder->second) {
        const auto [first, last] = by_place_.equal_range(name + "/" + event->name);
        for (auto one = first; one != last; ++one) dirty_.insert(one->second);
      }
    }
  }
  if (lost_folder) folders_.clear();
}

void FileWatcher::compare() {
  for (auto& [file, stamp] : files_) {
    const Stamp now = stamp_of(file);
    if (now == stamp) continue;
    // Another file may be a link to another place.
    if (now.inode != stamp.inode) folders_.clear();
    stamp = now;
    dirty_.insert(file);
  }
  if (folders_.empty()) watch_folders();
}

bool FileWatcher::changed() {
  read_events();
  compare();
  return !dirty_.empty();
}

std::vector<std::string> FileWatcher::wait(std::chrono::milliseconds longest,
                                           std::chrono::milliseconds quiet) {
  using Clock = std::chrono::steady_clock;
  const auto sleep = [&](std::chrono::milliseconds time) {
    pollfd ready{descriptor_, POLLIN, 0};
    if (descriptor_ >= 0)
      ::poll(&ready, 1, static_cast<int>(time.count()));
    else
      std::this_thread::sleep_for(time);
  };
  const auto end = Clock::now() + longest;
  while (!changed()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return {};
    sleep(std::min(left, kLook));
  }
  std::set<std::string> all;
  while (true) {
    all.merge(std::exchange(dirty_, {}));
    sleep(quiet);
    if (!changed()) break;
  }
  return {all.begin(), all.end()};
}

}  // namespace warptime::cli
