#include "runtime/comm/Heartbeat.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/Clock.h"
#include "runtime/comm/Endpoint.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace recipe::rt;

/// One datagram. Both ends are the same program on the same kind of machine.
struct Heartbeat::Packet {
  std::array<uint8_t, 16> token;
  int32_t rank;
  int32_t failure; // absl::StatusCode; 0: none
  int32_t reported;
  int32_t fileWorks; // pieces of work on files that are going on
  int64_t step;
  uint64_t collective;
  char reason[1024]; // of the failure, ends with 0
};

static double intervalFor(double timeoutSeconds) { return std::clamp(timeoutSeconds / 10, 0.05, 1.0); }

static absl::Status systemError(const char *what) {
  return absl::UnavailableError(absl::StrCat("signs of life between ranks: ", what, ": ", std::strerror(errno)));
}

Heartbeat::Heartbeat(int socket, int rank, double timeoutSeconds)
    : socket(socket), rank(rank), interval(intervalFor(timeoutSeconds)),
      silence(std::min(std::max(6 * interval, 1.0), 0.8 * timeoutSeconds)), clock(int64_t((interval + 0.5) * 1e9)),
      wake{-1, -1} {}

absl::StatusOr<std::unique_ptr<Heartbeat>> Heartbeat::create(Communicator &comm, double timeoutSeconds) {
  int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0)
    return systemError("socket");
  std::unique_ptr<Heartbeat> heartbeat(new Heartbeat(socket, comm.rank(), timeoutSeconds));
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  if (bind(socket, reinterpret_cast<sockaddr *>(&any), sizeof any) != 0)
    return systemError("bind");
  if (pipe2(heartbeat->wake, O_CLOEXEC | O_NONBLOCK) != 0)
    return systemError("pipe");
  RCP_RETURN_IF_ERROR(heartbeat->meet(comm));
  heartbeat->thread = std::thread([heartbeat = heartbeat.get()] { heartbeat->work(); });
  return heartbeat;
}

Heartbeat::~Heartbeat() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  if (thread.joinable()) {
    (void)!write(wake[1], "", 1);
    thread.join();
  }
  for (int fd : {socket, wake[0], wake[1]})
    if (fd >= 0)
      close(fd);
}

absl::Status Heartbeat::meet(Communicator &comm) {
  sockaddr_in bound = {};
  socklen_t length = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr *>(&bound), &length) != 0)
    return systemError("getsockname");
  Endpoint own = ownEndpoint(ntohs(bound.sin_port));
  if (comm.rank() == 0 && getrandom(own.token.data(), own.token.size(), 0) != ssize_t(own.token.size()))
    return systemError("getrandom");
  // Long: the ranks may be far from equally fast at starting.
  RCP_ASSIGN_OR_RETURN(std::vector<std::string> all, allGather(comm, encode(own), 60));
  peers.resize(all.size());
  for (size_t other = 0; other < all.size(); ++other) {
    RCP_ASSIGN_OR_RETURN(Endpoint endpoint, decodeEndpoint(all[other]));
    if (other == 0)
      token = endpoint.token;
    peers[other].name = absl::StrFormat("rank %d (host %s, process %d)", other, endpoint.host, endpoint.process);
    peers[other].addresses = addressesOf(endpoint, own);
    peers[other].heard = clock.now();
  }
  return absl::OkStatus();
}

void Heartbeat::work() {
  int64_t next = 0;
  while (true) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (stop)
        return;
      clock.now();
      if (nowNanoseconds() >= next) {
        send();
        next = nowNanoseconds() + int64_t(interval * 1e9);
      }
    }
    pollfd waits[] = {{socket, POLLIN, 0}, {wake[0], POLLIN, 0}};
    poll(waits, 2, int(std::max<int64_t>(0, next - nowNanoseconds()) / 1'000'000) + 1);
    char byte;
    if (read(wake[0], &byte, 1) == 1)
      next = 0;
    receive();
  }
}

void Heartbeat::send() {
  Packet packet = {};
  packet.token = token;
  packet.rank = rank;
  packet.failure = int32_t(ownFailure.code());
  packet.reported = reportedHere;
  packet.fileWorks = ownFileWorks;
  packet.step = ownStep;
  packet.collective = ownCollective;
  std::string reason(ownFailure.message().substr(0, sizeof packet.reason - 1));
  std::memcpy(packet.reason, reason.data(), reason.size());
  for (size_t other = 0; other < peers.size(); ++other)
    if (int(other) != rank)
      for (const sockaddr_in &address : peers[other].addresses)
        (void)sendto(socket, &packet, sizeof packet, 0, reinterpret_cast<const sockaddr *>(&address), sizeof address);
}

void Heartbeat::receive() {
  Packet packet;
  while (recv(socket, &packet, sizeof packet, 0) == ssize_t(sizeof packet))
    if (packet.token == token && packet.rank >= 0 && packet.rank < int(peers.size()) && packet.rank != rank)
      take(packet);
}

void Heartbeat::take(const Packet &packet) {
  std::lock_guard<std::mutex> lock(mutex);
  Peer &peer = peers[size_t(packet.rank)];
  peer.heard = clock.now();
  peer.step = packet.step;
  peer.collective = std::max(peer.collective, packet.collective);
  if (packet.fileWorks > 0)
    fileWorkSeen = peer.heard;
  if (packet.failure != 0 && failedRank < 0) {
    failedRank = packet.rank;
    std::string reason(packet.reason, strnlen(packet.reason, sizeof packet.reason));
    failure = absl::Status(absl::StatusCode(packet.failure), absl::StrCat("rank ", packet.rank, ": ", reason));
  }
  reportedElsewhere |= packet.reported != 0;
  changed.notify_all();
}

absl::Status Heartbeat::failureElsewhere() const {
  std::lock_guard<std::mutex> lock(mutex);
  return failure;
}

double Heartbeat::secondsSinceFileWork() const {
  std::lock_guard<std::mutex> lock(mutex);
  return fileWorkSeen == 0 ? std::numeric_limits<double>::infinity() : secondsSince(fileWorkSeen);
}

double Heartbeat::secondsSince(int64_t time) const { return double(clock.last() - time) * 1e-9; }

bool Heartbeat::silent(const Peer &peer) const { return secondsSince(peer.heard) > silence; }

std::string Heartbeat::describeMissing(uint64_t collective) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<std::string> gone, late;
  for (size_t other = 0; other < peers.size(); ++other) {
    const Peer &peer = peers[other];
    if (int(other) == rank)
      continue;
    if (silent(peer))
      gone.push_back(absl::StrFormat("%s: no sign of life for %.1f s", peer.name, secondsSince(peer.heard)));
    else if (peer.collective < collective)
      late.push_back(absl::StrFormat("%s: alive, in step %d, %d collectives behind", peer.name, peer.step + 1,
                                     collective - peer.collective));
  }
  if (!gone.empty())
    return absl::StrCat("missing: ", absl::StrJoin(gone, ", "));
  if (!late.empty())
    return absl::StrCat("missing: ", absl::StrJoin(late, ", "));
  return "all ranks are alive";
}

int Heartbeat::lowestAlive() const {
  for (size_t other = 0; other < peers.size(); ++other)
    if (int(other) == rank || !silent(peers[other]))
      return int(other);
  return rank;
}

bool Heartbeat::giveUp(const absl::Status &reason) {
  std::unique_lock<std::mutex> lock(mutex);
  ownFailure = reason;
  (void)!write(wake[1], "", 1);
  if (lowestAlive() == rank)
    return !reportedElsewhere;
  return !changed.wait_for(lock, std::chrono::seconds(2), [&] { return reportedElsewhere; });
}

void Heartbeat::reported() {
  std::lock_guard<std::mutex> lock(mutex);
  reportedHere = true;
  // Now, and not by the thread: this rank is about to end.
  send();
}
