#include "runtime/tools/Selftest.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/Clock.h"
#include "runtime/comm/CommThread.h"
#include "runtime/device/cpu/ThreadPool.h"
#include <cmath>
#include <cstring>
#include <ctime>

using namespace recipe::rt;

/// What a compiled combine kernel does, for floats.
static void addFloats(const rcp_launch_v1 *launch, int64_t workgroup, void *) {
  auto *accumulator = static_cast<float *>(launch->buffers[0]);
  const auto *incoming = static_cast<const float *>(launch->buffers[1]);
  int64_t begin = workgroup * recipe::abi::kCombineWorkgroupElements;
  int64_t end = std::min(begin + recipe::abi::kCombineWorkgroupElements, launch->scalars[0]);
  if (launch->scalars[1])
    for (int64_t i = begin; i < end; ++i)
      accumulator[i] = incoming[i] + accumulator[i];
  else
    for (int64_t i = begin; i < end; ++i)
      accumulator[i] = accumulator[i] + incoming[i];
}

/// Values of both signs over many powers of two, whose sum depends on the order.
static float valueOf(int rank, int64_t element) {
  uint64_t x = (uint64_t(element) * 1024 + uint64_t(rank) + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
  x ^= x >> 32;
  return std::ldexp(float(x >> 40), int(x % 30) - 40) * ((x >> 8) % 2 ? 1.0F : -1.0F);
}

static float treeSum(int firstRank, int count, int64_t element) {
  if (count == 1)
    return valueOf(firstRank, element);
  return treeSum(firstRank, count / 2, element) + treeSum(firstRank + count / 2, count / 2, element);
}

namespace {

class Selftest {
public:
  Selftest(RankProcess &ranks, double timeoutSeconds, FILE *out)
      : comm(ranks.communicator()), timeout(timeoutSeconds), out(out),
        staging(recipe::abi::kAllReduceStagingBytes + 64) {}

  absl::Status sums();
  absl::Status speed();
  absl::Status silence();

private:
  CommOptions options() {
    CommOptions options;
    options.staging = staging.data() + (64 - reinterpret_cast<uintptr_t>(staging.data()) % 64) % 64;
    options.timeoutSeconds = timeout;
    return options;
  }
  AllReduce allReduce(std::vector<float> &values) {
    return prepareAllReduce(comm, reinterpret_cast<std::byte *>(values.data()), int64_t(values.size()), sizeof(float),
                            addFloats, {0, absl::StrCat(values.size(), " test values"), ""});
  }

  Communicator &comm;
  double timeout;
  FILE *out;
  std::vector<std::byte> staging;
};

} // namespace

absl::Status Selftest::sums() {
  CommThread thread(comm, options());
  int64_t checked = 0;
  for (int64_t elements : {1, 2, 3, 15, 17, 1000, 4099, 300001, 1500007}) {
    std::vector<float> values(static_cast<size_t>(elements));
    for (int64_t i = 0; i < elements; ++i)
      values[size_t(i)] = valueOf(comm.rank(), i);
    AllReduce op = allReduce(values);
    RCP_RETURN_IF_ERROR(thread.wait(thread.issue(op)));
    for (int64_t i = 0; i < elements; ++i) {
      float expected = treeSum(0, comm.size(), i);
      if (std::memcmp(&expected, &values[size_t(i)], sizeof expected) != 0)
        return absl::InternalError(absl::StrFormat("the sum of element %d of %d must be %a, got %a", i, elements,
                                                   expected, values[size_t(i)]));
    }
    checked += elements;
  }
  absl::FPrintF(out, "sums       %d values over %d ranks have the bits of the tree\n", checked, comm.size());
  return absl::OkStatus();
}

absl::Status Selftest::speed() {
  CommThread thread(comm, options());
  for (int64_t bytes = 4; bytes <= (int64_t(64) << 20); bytes *= 64) {
    std::vector<float> values(static_cast<size_t>(bytes) / sizeof(float));
    AllReduce op = allReduce(values);
    int64_t repeats = std::clamp<int64_t>((int64_t(64) << 20) / bytes, 3, 200);
    RCP_RETURN_IF_ERROR(thread.wait(thread.issue(op)));
    RCP_RETURN_IF_ERROR(barrier(comm, timeout));
    int64_t begin = nowNanoseconds();
    for (int64_t i = 0; i < repeats; ++i)
      RCP_RETURN_IF_ERROR(thread.wait(thread.issue(op)));
    double seconds = double(nowNanoseconds() - begin) * 1e-9 / double(repeats);
    // What a rank sends, for a sum that is cut in the best way.
    double volume = 2.0 * double(bytes) * (comm.size() - 1) / comm.size();
    absl::FPrintF(out, "all-reduce %10d bytes %12.1f us %10.3f GB/s sent by a rank\n", bytes, seconds * 1e6,
                  volume / seconds * 1e-9);
  }
  return absl::OkStatus();
}

/// The last rank lets the others wait for longer than they are willing to.
absl::Status Selftest::silence() {
  const double patience = 0.5;
  RCP_RETURN_IF_ERROR(barrier(comm, timeout));
  int last = comm.size() - 1;
  char byte = 0;
  std::vector<Communicator::Request> requests;
  absl::Status noticed;
  if (comm.rank() == last) {
    timespec pause = {1, 0};
    nanosleep(&pause, nullptr);
    for (int rank = 0; rank < last; ++rank)
      requests.push_back(comm.send(rank, 0, &byte, 1));
  } else {
    requests.push_back(comm.receive(last, 0, &byte, 1));
    noticed = waitFor(comm, requests, patience);
  }
  // It comes after all, or nobody could go on.
  if (comm.rank() == last || noticed.code() == absl::StatusCode::kDeadlineExceeded)
    RCP_RETURN_IF_ERROR(waitFor(comm, requests, timeout));
  if (comm.rank() != last && noticed.code() != absl::StatusCode::kDeadlineExceeded)
    return absl::InternalError(
        absl::StrCat("a wait of ", patience, " s for a late rank must end with an error, got: ", noticed.ToString()));
  absl::FPrintF(out, "time limit %s\n", noticed.message());
  return absl::OkStatus();
}

absl::StatusOr<bool> recipe::rt::selftest(RankProcess &ranks, double timeoutSeconds, FILE *out) {
  Communicator &comm = ranks.communicator();
  if ((comm.size() & (comm.size() - 1)) != 0)
    return absl::InvalidArgumentError(absl::StrCat("--nodes must be a power of two, got ", comm.size()));
  RCP_RETURN_IF_ERROR(ranks.shareHost(1, 1).status());
  RCP_RETURN_IF_ERROR(barrier(comm, timeoutSeconds));
  Selftest test(ranks, timeoutSeconds, out);
  RCP_RETURN_IF_ERROR(test.sums());
  RCP_RETURN_IF_ERROR(test.speed());
  RCP_RETURN_IF_ERROR(test.silence());
  RCP_RETURN_IF_ERROR(barrier(comm, timeoutSeconds));
  absl::FPrintF(out, "good\n");
  return false;
}
