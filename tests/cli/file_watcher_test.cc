// Changes of files, as editors make them.
#include "cli/io/file_watcher.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace warptime::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Names = std::vector<std::string>;

class FileWatcherTest : public testing::Test {
 protected:
  FileWatcherTest() : folder(fs::temp_directory_path() / ("warptime_watch_" + std::to_string(::getpid()))) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    file = (folder / "k.cu").string();
    write(file, "one");
    watcher.watch({file});
  }
  ~FileWatcherTest() override { fs::remove_all(folder); }

  static void write(const std::string& to, const std::string& text) { std::ofstream(to) << text; }
  Names changes(milliseconds longest = milliseconds(5000)) { return watcher.wait(longest, milliseconds(20)); }
  bool is_quiet() { return changes(milliseconds(150)).empty(); }

  fs::path folder;
  std::string file;
  FileWatcher watcher;
};

TEST_F(FileWatcherTest, SeesAFileThatIsWritten) {
  EXPECT_TRUE(is_quiet());
  write(file, "two");
  EXPECT_EQ(changes(), Names{file});
  EXPECT_TRUE(is_quiet());
}

TEST_F(FileWatcherTest, SeesTheSameSizeAtTheSameTime) {
  const auto time = fs::last_write_time(file);
  write(file, "eno");
  fs::last_write_time(file, time);
  EXPECT_EQ(changes(), Names{file});
}

TEST_F(FileWatcherTest, SeesAFileThatIsReplaced) {
  write(file + ".new", "two");
  EXPECT_TRUE(is_quiet());
  fs::rename(file + ".new", file);
  EXPECT_EQ(changes(), Names{file});
  write(file, "three");
  EXPECT_EQ(changes(), Names{file});
}

TEST_F(FileWatcherTest, SeesAFileThatGoesAndComes) {
  fs::remove(file);
  EXPECT_EQ(changes(), Names{file});
  write(file, "two");
  EXPECT_EQ(changes(), Names{file});
}

TEST_F(FileWatcherTest, TakesWhatIsWrittenInPiecesForOneChange) {
  std::thread writer([&] {
    std::ofstream out(file);
    for (int i = 0; i < 5; ++i) {
      out << "piece" << std::flush;
      std::this_thread::sleep_for(milliseconds(5));
    }
  });
  EXPECT_EQ(changes(), Names{file});
  writer.join();
}

TEST_F(FileWatcherTest, FollowsSymbolicLinks) {
  const std::string target = (folder / "target.cu").string(), link = (folder / "link.cu").string();
  write(target, "one");
  fs::create_symlink("target.cu", link);
  watcher.watch({link});
  write(target, "two");
  EXPECT_EQ(changes(), Names{link});
}

TEST_F(FileWatcherTest, SeesAFolderThatGoesAndComes) {
  fs::remove_all(folder);
  EXPECT_EQ(changes(), Names{file});
  fs::create_directories(folder);
  write(file, "two");
  EXPECT_EQ(changes(), Names{file});
  write(file, "three");
  EXPECT_EQ(changes(), Names{file});
}

TEST_F(FileWatcherTest, SeesOnlyWhatItWatches) {
  const std::string other = (folder / "other.cu").string();
  write(other, "one");
  EXPECT_TRUE(is_quiet());
  watcher.watch({file, other});
  write(other, "two");
  write(file, "two");
  EXPECT_EQ(changes(), (Names{file, other}));
}

TEST_F(FileWatcherTest, KeepsAChangeThatCameBeforeItWasAskedAgain) {
  write(file, "two");
  watcher.watch({file});
  EXPECT_EQ(changes(), Names{file});
}

}  // namespace
}  // namespace warptime::cli
