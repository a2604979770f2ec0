// A folder of its own for each test, removed at the end.
#ifndef TESTS_UNIT_TEMPFOLDER_H
#define TESTS_UNIT_TEMPFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace recipe::test {

class TempFolder {
public:
  TempFolder() {
    // In memory where possible: thousands of files that are synced one by one cost minutes on a disk.
    std::filesystem::path memory = "/dev/shm";
    bool usable = std::filesystem::is_directory(memory);
    std::string name = ((usable ? memory : std::filesystem::temp_directory_path()) / "recipec-test-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  TempFolder(const TempFolder &) = delete;
  TempFolder &operator=(const TempFolder &) = delete;
  ~TempFolder() { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const { return (folder / name).string(); }

  std::string write(const std::string &name, const std::string &contents) const {
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }

  std::string read(const std::string &name) const {
    std::ifstream file(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  size_t fileCount() const {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  }

private:
  std::filesystem::path folder;
};

} // namespace recipe::test

#endif // TESTS_UNIT_TEMPFOLDER_H
