#include "runtime/comm/Endpoint.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include <cstring>
#include <fstream>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace recipe::rt;

/// One kernel, one network namespace.
static std::string networkIdentity() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat space = {};
  stat("/proc/self/ns/net", &space);
  return absl::StrCat(boot, "/", space.st_ino);
}

Endpoint recipe::rt::ownEndpoint(uint16_t port) {
  Endpoint endpoint;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  endpoint.host = host;
  endpoint.network = networkIdentity();
  endpoint.process = getpid();
  endpoint.port = port;
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0)
    return endpoint;
  for (const ifaddrs *one = all; one; one = one->ifa_next) {
    bool useful = one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) &&
                  !(one->ifa_flags & IFF_LOOPBACK);
    if (useful && endpoint.addresses.size() < 8)
      endpoint.addresses.push_back(reinterpret_cast<const sockaddr_in *>(one->ifa_addr)->sin_addr.s_addr);
  }
  freeifaddrs(all);
  return endpoint;
}

std::vector<sockaddr_in> recipe::rt::addressesOf(const Endpoint &endpoint, const Endpoint &own) {
  std::vector<uint32_t> hosts = endpoint.addresses;
  if (endpoint.network == own.network)
    hosts.insert(hosts.begin(), htonl(INADDR_LOOPBACK));
  std::vector<sockaddr_in> addresses;
  for (uint32_t host : hosts) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(endpoint.port);
    address.sin_addr.s_addr = host;
    addresses.push_back(address);
  }
  return addresses;
}

std::string recipe::rt::encode(const Endpoint &endpoint) {
  std::string token(reinterpret_cast<const char *>(endpoint.token.data()), endpoint.token.size());
  return absl::StrCat(absl::BytesToHexString(token), "\n", endpoint.host, "\n", endpoint.network, "\n",
                      endpoint.process, "\n", endpoint.port, "\n", absl::StrJoin(endpoint.addresses, " "));
}

absl::StatusOr<Endpoint> recipe::rt::decodeEndpoint(const std::string &bytes) {
  std::vector<std::string> lines = absl::StrSplit(bytes, '\n');
  Endpoint endpoint;
  int port = 0;
  if (lines.size() != 6 || lines[0].size() != 2 * endpoint.token.size() ||
      !absl::SimpleAtoi(lines[3], &endpoint.process) || !absl::SimpleAtoi(lines[4], &port))
    return absl::InternalError("the endpoint of a rank is malformed");
  std::string token = absl::HexStringToBytes(lines[0]);
  std::memcpy(endpoint.token.data(), token.data(), token.size());
  endpoint.host = lines[1];
  endpoint.network = lines[2];
  endpoint.port = uint16_t(port);
  for (absl::string_view text : absl::StrSplit(lines[5], ' ', absl::SkipEmpty())) {
    uint32_t address = 0;
    if (!absl::SimpleAtoi(text, &address))
      return absl::InternalError("the endpoint of a rank is malformed");
    endpoint.addresses.push_back(address);
  }
  return endpoint;
}
