// The container around a Step message; the layout is described in step.proto. Depends on protobuf and OpenSSL only,
// because the compiler writes with it and the runtime reads with it.
#ifndef RUNTIME_ABI_CONTAINER_H
#define RUNTIME_ABI_CONTAINER_H
#include "runtime/abi/step.pb.h"
#include <cstdint>
#include <string>

namespace recipe::abi {

inline constexpr uint32_t kStepFormatVersion = 2;

/// The bytes of a step.bin; the same step gives the same bytes. False with the reason in `error` if the message is
/// too large for protobuf (2 GiB).
bool serializeStep(const Step &step, std::string &bytes, std::string &error);

/// Reads what serializeStep() wrote. False with the reason in `error`: not a step.bin, another format version,
/// truncated, bytes after the end, checksum mismatch, not a Step message. Checks the container only, not the meaning of
/// the message (runtime/loader does).
bool parseStep(const void *data, size_t size, Step &step, std::string &error);

} // namespace recipe::abi
#endif
