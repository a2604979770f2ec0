// A shared object given as bytes, loaded into this process.
#ifndef TESTS_NUMERICS_LOADEDOBJECT_H
#define TESTS_NUMERICS_LOADEDOBJECT_H

#include "runtime/abi/kernel_abi.h"
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace recipe::test {

class LoadedObject {
public:
  explicit LoadedObject(const std::string &bytes) {
    int file = memfd_create("kernels", 0);
    EXPECT_EQ(write(file, bytes.data(), bytes.size()), ssize_t(bytes.size()));
    handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle, nullptr) << dlerror();
    close(file);
  }
  ~LoadedObject() {
    if (handle)
      dlclose(handle);
  }
  LoadedObject(const LoadedObject &) = delete;
  LoadedObject &operator=(const LoadedObject &) = delete;

  rcp_kernel_v1 kernel(const std::string &symbol) const {
    void *address = dlsym(handle, symbol.c_str());
    EXPECT_NE(address, nullptr) << symbol;
    return reinterpret_cast<rcp_kernel_v1>(address);
  }

private:
  void *handle = nullptr;
};

} // namespace recipe::test
#endif
