#include "runtime/loader/ElfCheck.h"
#include "runtime/base/File.h"
#include "runtime/loader/NativeLibrary.h"
#include "tests/abi/HandWrittenStep.h"
#include <gtest/gtest.h>

namespace recipe::test {

TEST(NativeLibrary, TwoAtOnceAreTwo) {
  // dlopen knows libraries by path, and /proc/self/fd/N would be the same path if the descriptor were reused.
  auto first = rt::NativeLibrary::load(kernelObject()), second = rt::NativeLibrary::load(kernelObject());
  ASSERT_TRUE(first.ok() && second.ok());
  auto a = (*first)->kernel("line_init"), b = (*second)->kernel("line_init");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(*a, *b);
}

TEST(NativeLibrary, ImportsAreRefusedByName) {
  absl::StatusOr<std::string> object = rt::readFile(IMPORTING_KERNELS_PATH);
  ASSERT_TRUE(object.ok());
  auto library = rt::NativeLibrary::load(*object);
  ASSERT_FALSE(library.ok());
  EXPECT_NE(library.status().message().find("undefined symbol 'memset'"), absl::string_view::npos)
      << library.status().message();
}

TEST(NativeLibrary, ConstructorsAreRefused) {
  absl::StatusOr<std::string> object = rt::readFile(CONSTRUCTING_KERNELS_PATH);
  ASSERT_TRUE(object.ok());
  auto library = rt::NativeLibrary::load(*object);
  ASSERT_FALSE(library.ok());
  EXPECT_NE(library.status().message().find("may not run code when it is loaded"), absl::string_view::npos)
      << library.status().message();
}

TEST(ElfCheck, EveryTruncationIsRefusedOrHarmless) {
  const std::string &object = kernelObject();
  for (size_t length = 0; length < object.size(); length += 8)
    (void)rt::checkElf({reinterpret_cast<const uint8_t *>(object.data()), length}).ok();
  EXPECT_FALSE(rt::checkElf({reinterpret_cast<const uint8_t *>(object.data()), object.size() / 2}).ok());
}

} // namespace recipe::test
