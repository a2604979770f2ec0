#include "runtime/loader/NativeLibrary.h"
#include "absl/strings/str_cat.h"
#include "runtime/loader/ElfCheck.h"
#include <cerrno>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace recipe::rt;

static absl::Status writeAll(int fd, const std::string &data) {
  for (size_t done = 0; done < data.size();) {
    ssize_t n = write(fd, data.data() + done, data.size() - done);
    if (n < 0 && errno != EINTR)
      return absl::ErrnoToStatus(errno, "native object: cannot be written to memory");
    done += n > 0 ? size_t(n) : 0;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<NativeLibrary>> NativeLibrary::load(const std::string &data) {
  RCP_RETURN_IF_ERROR(checkElf({reinterpret_cast<const uint8_t *>(data.data()), data.size()}));
  int fd = memfd_create("recipe-kernels", MFD_CLOEXEC);
  if (fd < 0)
    return absl::ErrnoToStatus(errno, "native object: memfd_create");
  absl::Status written = writeAll(fd, data);
  // The descriptor stays open with the library: dlopen knows libraries by path, so its number may not be used again.
  std::string path = absl::StrCat("/proc/self/fd/", fd);
  void *handle = written.ok() ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (handle)
    return std::unique_ptr<NativeLibrary>(new NativeLibrary(fd, handle));
  close(fd);
  if (!written.ok())
    return written;
  const char *reason = dlerror();
  return absl::InvalidArgumentError(
      absl::StrCat("native object: cannot be loaded: ", reason ? reason : "unknown reason"));
}

NativeLibrary::~NativeLibrary() {
  dlclose(handle);
  close(fd);
}

absl::StatusOr<rcp_kernel_v1> NativeLibrary::kernel(const std::string &symbol) const {
  void *address = dlsym(handle, symbol.c_str());
  // dlsym also looks into what the library needs; there is nothing, but the answer must be its own and must be code.
  Dl_info info;
  void *extra = nullptr;
  if (!address || !dladdr1(address, &info, &extra, RTLD_DL_SYMENT) || !extra || !info.dli_sname ||
      ELF64_ST_TYPE(static_cast<const ElfW(Sym) *>(extra)->st_info) != STT_FUNC)
    return absl::InvalidArgumentError(absl::StrCat("native object: exports no kernel '", symbol, "'"));
  return reinterpret_cast<rcp_kernel_v1>(address);
}
