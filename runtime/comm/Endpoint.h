// Where a rank can be reached by datagrams.
#ifndef RUNTIME_COMM_ENDPOINT_H
#define RUNTIME_COMM_ENDPOINT_H
#include "runtime/base/Status.h"
#include <array>
#include <netinet/in.h>
#include <string>
#include <vector>

namespace recipe::rt {

struct Endpoint {
  std::array<uint8_t, 16> token{}; // rank 0's is the run's
  std::string host;                // name, for people
  std::string network;             // equal for processes that share a loopback interface
  int process = 0;
  uint16_t port = 0;
  std::vector<uint32_t> addresses; // IPv4 of all interfaces that are up, network byte order
};

/// Of this process, which listens on that port.
Endpoint ownEndpoint(uint16_t port);

/// Through the loopback interface where that is shared, and through every address: whichever works.
std::vector<sockaddr_in> addressesOf(const Endpoint &endpoint, const Endpoint &own);

std::string encode(const Endpoint &endpoint);
absl::StatusOr<Endpoint> decodeEndpoint(const std::string &bytes);

} // namespace recipe::rt
#endif
