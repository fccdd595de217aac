// The file of --output: the client refuses it before the run, or can write it. At any moment the file is the old or the
// new one, complete.
#include "src/cli/flags/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace cqbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  ~OutputFileTest() override { std::filesystem::remove_all(dir_); }

  std::string Path(const std::string& name) const { return absl::StrCat(dir_, "/", name); }

  std::set<std::string> Files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) names.insert(entry.path().filename());
    return names;
  }

  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  const std::string dir_ = absl::StrCat(testing::TempDir(), "cqbench_output_", getpid());
};

TEST_F(OutputFileTest, CommitMakesTheFileAndNothingElse) {
  OutputFile output;
  ASSERT_TRUE(output.Open(Path("result.json")).ok());
  ASSERT_TRUE(output.Commit("{}\n").ok());
  EXPECT_EQ(Read(Path("result.json")), "{}\n");
  EXPECT_THAT(Files(), ElementsAre("result.json"));
}

// A run that is killed before the end of its first point leaves no trace.
TEST_F(OutputFileTest, OpenLeavesNothingBehind) {
  OutputFile output;
  ASSERT_TRUE(output.Open(Path("result.json")).ok());
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(OutputFileTest, EveryTextReplacesTheOneBefore) {
  OutputFile output;
  ASSERT_TRUE(output.Open(Path("result.json")).ok());
  for (const char* text : {"first, and the longest of them all", "second", "third, longer"}) {
    ASSERT_TRUE(output.Replace(text).ok());
    EXPECT_EQ(Read(Path("result.json")), text);
    EXPECT_THAT(Files(), ElementsAre("result.json"));
  }
  ASSERT_TRUE(output.Commit("last").ok());
  EXPECT_EQ(Read(Path("result.json")), "last");
  EXPECT_THAT(Files(), ElementsAre("result.json"));
}

// A reader that has the file open continues to read the old contents.
TEST_F(OutputFileTest, WhoeverReadsMeanwhileSeesAWholeFile) {
  OutputFile output;
  ASSERT_TRUE(output.Open(Path("result.json")).ok());
  ASSERT_TRUE(output.Replace("one").ok());
  std::ifstream reader(Path("result.json"));
  ASSERT_TRUE(output.Replace("another").ok());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "one");
}

TEST_F(OutputFileTest, WhatWasSavedStaysWithoutCommit) {
  {
    OutputFile output;
    ASSERT_TRUE(output.Open(Path("result.json")).ok());
    ASSERT_TRUE(output.Replace("saved").ok());
  }
  EXPECT_EQ(Read(Path("result.json")), "saved");
  EXPECT_THAT(Files(), ElementsAre("result.json"));
}

TEST_F(OutputFileTest, ReplaceMayFailAndSucceedLater) {
  OutputFile output;
  ASSERT_TRUE(output.Open(Path("result.json")).ok());
  std::filesystem::create_directory(Path("result.json"));  // cannot be replaced by a file
  const absl::Status status = output.Replace("{}");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("result.json")));
  EXPECT_THAT(Files(), ElementsAre("result.json"));
  std::filesystem::remove(Path("result.json"));
  ASSERT_TRUE(output.Replace("later").ok());
  EXPECT_EQ(Read(Path("result.json")), "later");
}

TEST_F(OutputFileTest, OldFileIsKeptUntilCommit) {
  std::ofstream(Path("result.json")) << "an old result, longer than the new";
  OutputFile output;
  ASSERT_TRUE(output.Open(Path("result.json")).ok());
  EXPECT_EQ(Read(Path("result.json")), "an old result, longer than the new");
  ASSERT_TRUE(output.Commit("new").ok());
  EXPECT_EQ(Read(Path("result.json")), "new");
  EXPECT_THAT(Files(), ElementsAre("result.json"));
}

TEST_F(OutputFileTest, WithoutCommitNothingIsLeftAndTheOldFileStays) {
  std::ofstream(Path("old.json")) << "old";
  {
    OutputFile replacing;
    OutputFile making;
    ASSERT_TRUE(replacing.Open(Path("old.json")).ok());
    ASSERT_TRUE(making.Open(Path("new.json")).ok());
  }
  EXPECT_EQ(Read(Path("old.json")), "old");
  EXPECT_THAT(Files(), ElementsAre("old.json"));
}

TEST_F(OutputFileTest, TextIsWrittenWhole) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) absl::StrAppend(&text, i, "\n");
  OutputFile output;
  ASSERT_TRUE(output.Open(Path("large")).ok());
  ASSERT_TRUE(output.Commit(text).ok());
  EXPECT_EQ(Read(Path("large")), text);
}

TEST_F(OutputFileTest, DirectoryThatIsNotThereIsAnErrorThatNamesThePath) {
  OutputFile output;
  const absl::Status status = output.Open(Path("missing/result.json"));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("missing/result.json")));
  EXPECT_THAT(std::string(status.message()), HasSubstr("No such file or directory"));
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(OutputFileTest, PathBelowAFileIsAnError) {
  std::ofstream(Path("file")) << "x";
  OutputFile output;
  EXPECT_FALSE(output.Open(Path("file/result.json")).ok());
}

TEST_F(OutputFileTest, DirectoryItselfIsAnError) {
  OutputFile output;
  EXPECT_FALSE(output.Open(dir_).ok());
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(OutputFileTest, UnwritableDirectoryIsAnError) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  std::filesystem::permissions(dir_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  OutputFile output;
  const absl::Status status = output.Open(Path("result.json"));
  std::filesystem::permissions(dir_, std::filesystem::perms::owner_all);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("Permission denied"));
}

TEST_F(OutputFileTest, CommitThatFailsSaysSoAndLeavesNothing) {
  {
    OutputFile output;
    ASSERT_TRUE(output.Open(Path("result.json")).ok());
    std::filesystem::create_directory(Path("result.json"));  // cannot be replaced by a file
    const absl::Status status = output.Commit("{}");
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr(Path("result.json")));
  }
  EXPECT_THAT(Files(), ElementsAre("result.json"));
}

TEST_F(OutputFileTest, DevNullIsWrittenDirectlyAndStays) {
  {
    OutputFile output;
    ASSERT_TRUE(output.Open("/dev/null").ok());
    EXPECT_TRUE(output.Commit("gone").ok());
    OutputFile not_committed;
    ASSERT_TRUE(not_committed.Open("/dev/null").ok());
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(OutputFileTest, FullDeviceIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  OutputFile output;
  ASSERT_TRUE(output.Open("/dev/full").ok());
  const absl::Status status = output.Commit("more than fits");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("'/dev/full': No space left on device"));
}

// A pipe's readers would otherwise get one result after the other.
TEST_F(OutputFileTest, NamedPipeIsWrittenOnceAndStays) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const int reader = open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  {
    OutputFile output;
    ASSERT_TRUE(output.Open(Path("pipe")).ok());
    ASSERT_TRUE(output.Replace("not yet").ok());
    ASSERT_TRUE(output.Commit("through").ok());
  }
  char text[16] = {};
  EXPECT_EQ(read(reader, text, sizeof(text)), 7);
  EXPECT_STREQ(text, "through");
  close(reader);
  EXPECT_THAT(Files(), ElementsAre("pipe"));
}

}  // namespace
}  // namespace cqbench
