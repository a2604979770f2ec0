#include "runtime/abi/Container.h"
#include <algorithm>
#include <climits>
#include <cstring>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <openssl/sha.h>

using namespace recipe::abi;

static const char magic[8] = {'R', 'C', 'P', 'S', 'T', 'E', 'P', '\n'};
static const size_t headerBytes = 24;
static const size_t digestBytes = 32;

static void putLittleEndian(std::string &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out += char(value >> (8 * i));
}

static uint64_t getLittleEndian(const unsigned char *p, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= uint64_t(p[i]) << (8 * i);
  return value;
}

bool recipe::abi::serializeStep(const Step &step, std::string &bytes, std::string &error) {
  size_t length = step.ByteSizeLong();
  if (length > INT_MAX) {
    error = "a step must be smaller than 2 GiB, got " + std::to_string(length) + " bytes";
    return false;
  }
  bytes.assign(magic, sizeof magic);
  bytes.reserve(headerBytes + length + digestBytes);
  putLittleEndian(bytes, kStepFormatVersion, 4);
  putLittleEndian(bytes, 0, 4);
  putLittleEndian(bytes, length, 8);
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!step.SerializeToCodedStream(&coded)) {
      error = "protobuf cannot serialise the step";
      return false;
    }
  }
  unsigned char digest[digestBytes];
  SHA256(reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(), digest);
  bytes.append(reinterpret_cast<const char *>(digest), digestBytes);
  return true;
}

bool recipe::abi::parseStep(const void *data, size_t size, Step &step, std::string &error) {
  const auto *bytes = static_cast<const unsigned char *>(data);
  if (std::memcmp(bytes, magic, std::min(size, sizeof magic)) != 0 || size == 0) {
    error = "not a step.bin: it must begin with the bytes 'RCPSTEP\\n'";
    return false;
  }
  if (size < headerBytes) {
    error = "truncated: the header has 24 bytes, got " + std::to_string(size);
    return false;
  }
  uint64_t version = getLittleEndian(bytes + 8, 4);
  if (version != kStepFormatVersion) {
    error = "format version must be " + std::to_string(kStepFormatVersion) + ", got " + std::to_string(version) +
            (version > kStepFormatVersion ? ": written by a newer recipec"
                                          : ": written by an older recipec; compile again");
    return false;
  }
  if (getLittleEndian(bytes + 12, 4) != 0) {
    error = "bytes 12..15 of the header must be zero";
    return false;
  }
  uint64_t length = getLittleEndian(bytes + 16, 8);
  uint64_t rest = size - headerBytes;
  if (rest < digestBytes || length > rest - digestBytes) {
    error = "truncated: the header promises a message of " + std::to_string(length) +
            " bytes and a checksum of 32, got " + std::to_string(rest) + " bytes";
    return false;
  }
  if (length < rest - digestBytes) {
    error = "bytes after the end: the file must have " + std::to_string(headerBytes + length + digestBytes) +
            " bytes, got " + std::to_string(size);
    return false;
  }
  unsigned char digest[digestBytes];
  SHA256(bytes, headerBytes + length, digest);
  if (std::memcmp(digest, bytes + headerBytes + length, digestBytes) != 0) {
    error = "checksum mismatch: the file is damaged";
    return false;
  }
  // Our message below says it; protobuf's own would go to stderr first.
  google::protobuf::LogSilencer silencer;
  if (length > INT_MAX || !step.ParseFromArray(bytes + headerBytes, int(length))) {
    error = "the checksum is right but the content is not a Step message";
    return false;
  }
  return true;
}
