// Damaged steps with a valid checksum: the loader must answer each with ok or one clear refusal, never crash.
#include "runtime/loader/ElfCheck.h"
#include "runtime/loader/Loader.h"
#include "tests/abi/HandWrittenStep.h"
#include <google/protobuf/message.h>
#include <gtest/gtest.h>
#include <random>

namespace recipe::test {
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  uint64_t below(uint64_t n) { return random() % n; }

  int64_t number() {
    const int64_t edges[] = {0, 1, -1, 2, 63, 64, 65, 4096, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    return below(4) == 0 ? int64_t(random()) : edges[below(std::size(edges))];
  }

  std::string text() {
    const char *texts[] = {"", "line_init", "forward", "input:tokens", "1e999", "nan", "../../x", "optim.lr"};
    return texts[below(std::size(texts))];
  }

  /// Changes one field somewhere below `message`.
  void mutate(Message &message) {
    const auto *descriptor = message.GetDescriptor();
    const Reflection *r = message.GetReflection();
    const FieldDescriptor *field = descriptor->field(int(below(uint64_t(descriptor->field_count()))));
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      mutateMessage(message, r, field);
      return;
    }
    if (field->name() == "data")
      return; // the object's own bytes have a test of their own
    if (field->is_repeated() && (r->FieldSize(message, field) == 0 || below(4) == 0)) {
      add(message, r, field);
      return;
    }
    int index = field->is_repeated() ? int(below(uint64_t(r->FieldSize(message, field)))) : -1;
    set(message, r, field, index);
  }

private:
  void mutateMessage(Message &message, const Reflection *r, const FieldDescriptor *field) {
    if (!field->is_repeated()) {
      if (below(10) == 0)
        r->ClearField(&message, field);
      else
        mutate(*r->MutableMessage(&message, field));
      return;
    }
    int size = r->FieldSize(message, field);
    uint64_t choice = below(12);
    if (size == 0 || choice == 0)
      r->AddMessage(&message, field);
    else if (choice == 1)
      r->RemoveLast(&message, field);
    else if (choice == 2)
      r->SwapElements(&message, field, int(below(uint64_t(size))), int(below(uint64_t(size))));
    else
      mutate(*r->MutableRepeatedMessage(&message, field, int(below(uint64_t(size)))));
  }

  void add(Message &message, const Reflection *r, const FieldDescriptor *field) {
    switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      r->AddInt64(&message, field, number());
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      r->AddUInt64(&message, field, uint64_t(number()));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      r->AddUInt32(&message, field, uint32_t(number()));
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      r->AddString(&message, field, text());
      break;
    default:
      break;
    }
  }

  void set(Message &message, const Reflection *r, const FieldDescriptor *field, int i) {
    bool one = i < 0;
    switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      one ? r->SetInt64(&message, field, number()) : r->SetRepeatedInt64(&message, field, i, number());
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      one ? r->SetUInt64(&message, field, uint64_t(number()))
          : r->SetRepeatedUInt64(&message, field, i, uint64_t(number()));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      one ? r->SetUInt32(&message, field, uint32_t(number()))
          : r->SetRepeatedUInt32(&message, field, i, uint32_t(number()));
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      r->SetInt32(&message, field, int32_t(number()));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      r->SetDouble(&message, field, double(number()));
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      r->SetBool(&message, field, below(2));
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      r->SetEnumValue(&message, field, int(number()));
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      one ? r->SetString(&message, field, text()) : r->SetRepeatedString(&message, field, i, text());
      break;
    default:
      break;
    }
  }

  std::mt19937_64 random;
};

} // namespace

TEST(Fuzz, MutatedFields) {
  const abi::Step original = makeLineStep();
  Mutator mutator(1);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 6000; ++round) {
    abi::Step step = original;
    for (uint64_t changes = 1 + mutator.below(3); changes > 0; --changes)
      mutator.mutate(step);
    absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(bytesOf(step), {});
    loaded.ok() ? ++accepted : ++refused;
    if (!loaded.ok())
      ASSERT_FALSE(loaded.status().message().empty());
  }
  // Both must happen a lot, or the mutations are too wild or too tame to test anything.
  EXPECT_GT(accepted, 600);
  EXPECT_GT(refused, 600);
}

TEST(Fuzz, MutatedBytes) {
  abi::Step step = makeLineStep();
  const std::string payload = step.SerializeAsString();
  // The object makes up nearly all of the payload and comes last; aim at what lies before it.
  size_t head = payload.size() - step.objects(0).data().size();
  Mutator mutator(2);
  for (int round = 0; round < 8000; ++round) {
    std::string bad = payload;
    for (uint64_t changes = 1 + mutator.below(4); changes > 0; --changes)
      bad[mutator.below(head)] = char(mutator.below(256));
    absl::StatusOr<rt::LoadedStep> loaded = rt::loadStep(container(bad), {});
    if (!loaded.ok())
      ASSERT_FALSE(loaded.status().message().empty());
  }
}

/// What the check accepts must survive the dynamic loader in this process.
TEST(Fuzz, MutatedObject) {
  const std::string &object = kernelObject();
  Mutator mutator(3);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 15000; ++round) {
    std::string bad = object;
    // Headers, dynamic section, symbols and relocations are what the loader reads: concentrate on non-code.
    for (uint64_t changes = 1 + mutator.below(2); changes > 0; --changes) {
      size_t place = mutator.below(3) == 0 ? mutator.below(1024) : mutator.below(bad.size());
      place = std::min(place, bad.size() - 8) & ~size_t(7);
      uint64_t choice = mutator.below(3);
      if (choice == 0)
        bad[place + mutator.below(8)] = char(mutator.below(256));
      else
        for (int i = 0; i < (choice == 1 ? 4 : 8); ++i)
          bad[place + size_t(i)] = char(uint64_t(mutator.number()) >> (8 * i));
    }
    absl::StatusOr<std::unique_ptr<rt::NativeLibrary>> library = rt::NativeLibrary::load(bad);
    library.ok() ? ++accepted : ++refused;
    if (!library.ok())
      continue;
    for (const char *symbol : {"line_init", "line_residual", "nothing"})
      (void)(*library)->kernel(symbol).ok();
  }
  EXPECT_GT(accepted, 300);
  EXPECT_GT(refused, 300);
}

} // namespace recipe::test
