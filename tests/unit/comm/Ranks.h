// Runs a function as every rank of a run, one thread each.
#ifndef TESTS_UNIT_COMM_RANKS_H
#define TESTS_UNIT_COMM_RANKS_H
#include "runtime/comm/ThreadCommunicator.h"
#include <functional>
#include <thread>

inline void onRanks(int size, const std::function<void(recipe::rt::Communicator &)> &body) {
  auto comms = recipe::rt::makeThreadCommunicators(size);
  std::vector<std::thread> threads;
  for (auto &comm : comms)
    threads.emplace_back([&body, &comm] { body(*comm); });
  for (std::thread &thread : threads)
    thread.join();
}

#endif
