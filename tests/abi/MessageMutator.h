// Damages protobuf messages: at random from a seed, or field by field.
#ifndef TESTS_ABI_MESSAGEMUTATOR_H
#define TESTS_ABI_MESSAGEMUTATOR_H
#include <cstdint>
#include <functional>
#include <google/protobuf/message.h>
#include <random>
#include <string>

namespace recipe::test {

class MessageMutator {
public:
  explicit MessageMutator(uint64_t seed) : random(seed) {}

  uint64_t below(uint64_t n) { return random() % n; }
  int64_t number();
  std::string text();

  /// Changes one field somewhere below `message`; none that is called `data`.
  void mutate(google::protobuf::Message &message);

private:
  using Field = google::protobuf::FieldDescriptor;

  void mutateMessage(google::protobuf::Message &message, const Field *field);
  void add(google::protobuf::Message &message, const Field *field);
  void set(google::protobuf::Message &message, const Field *field, int index);

  std::mt19937_64 random;
};

/// Sets each number and each enumeration below `message` to every one of `values` in turn, in each of its first and
/// last occurrences, calls `visit` with the dotted name and the value, and puts back what was there.
void forEachNumber(google::protobuf::Message &message, const std::vector<int64_t> &values,
                   const std::function<void(const std::string &name, int64_t value)> &visit);

} // namespace recipe::test
#endif
