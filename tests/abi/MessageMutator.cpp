#include "tests/abi/MessageMutator.h"
#include <set>

namespace recipe::test {
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

int64_t MessageMutator::number() {
  const int64_t edges[] = {0, 1, -1, 2, 63, 64, 65, 4096, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  return below(4) == 0 ? int64_t(random()) : edges[below(std::size(edges))];
}

std::string MessageMutator::text() {
  const char *texts[] = {"", "line_init", "forward", "input:tokens", "1e999", "nan", "../../x", "optim.lr"};
  return texts[below(std::size(texts))];
}

void MessageMutator::mutate(Message &message) {
  const auto *descriptor = message.GetDescriptor();
  const Reflection *r = message.GetReflection();
  const FieldDescriptor *field = descriptor->field(int(below(uint64_t(descriptor->field_count()))));
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    mutateMessage(message, field);
    return;
  }
  if (field->name() == "data")
    return; // the object's own bytes have a test of their own
  if (field->is_repeated() && (r->FieldSize(message, field) == 0 || below(4) == 0)) {
    add(message, field);
    return;
  }
  int index = field->is_repeated() ? int(below(uint64_t(r->FieldSize(message, field)))) : -1;
  set(message, field, index);
}

void MessageMutator::mutateMessage(Message &message, const FieldDescriptor *field) {
  const Reflection *r = message.GetReflection();
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

void MessageMutator::add(Message &message, const FieldDescriptor *field) {
  const Reflection *r = message.GetReflection();
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

void MessageMutator::set(Message &message, const FieldDescriptor *field, int i) {
  const Reflection *r = message.GetReflection();
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

/// The element `i` of a field of numbers, or the field itself if i < 0; false for fields of another kind.
static bool setNumber(Message &message, const FieldDescriptor *field, int i, int64_t value) {
  const Reflection *r = message.GetReflection();
  bool one = i < 0;
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    one ? r->SetInt32(&message, field, int32_t(value)) : r->SetRepeatedInt32(&message, field, i, int32_t(value));
    return true;
  case FieldDescriptor::CPPTYPE_UINT32:
    one ? r->SetUInt32(&message, field, uint32_t(value)) : r->SetRepeatedUInt32(&message, field, i, uint32_t(value));
    return true;
  case FieldDescriptor::CPPTYPE_INT64:
    one ? r->SetInt64(&message, field, value) : r->SetRepeatedInt64(&message, field, i, value);
    return true;
  case FieldDescriptor::CPPTYPE_UINT64:
    one ? r->SetUInt64(&message, field, uint64_t(value)) : r->SetRepeatedUInt64(&message, field, i, uint64_t(value));
    return true;
  case FieldDescriptor::CPPTYPE_DOUBLE:
    one ? r->SetDouble(&message, field, double(value)) : r->SetRepeatedDouble(&message, field, i, double(value));
    return true;
  case FieldDescriptor::CPPTYPE_ENUM:
    one ? r->SetEnumValue(&message, field, int(value)) : r->SetRepeatedEnumValue(&message, field, i, int(value));
    return true;
  default:
    return false;
  }
}

void forEachNumber(Message &message, const std::vector<int64_t> &values,
                   const std::function<void(const std::string &, int64_t)> &visit) {
  const Reflection *r = message.GetReflection();
  std::unique_ptr<Message> before(message.New());
  for (int f = 0; f < message.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor *field = message.GetDescriptor()->field(f);
    std::set<int> places = {-1};
    if (field->is_repeated()) {
      int size = r->FieldSize(message, field);
      places = size ? std::set<int>{0, size - 1} : std::set<int>();
    }
    for (int place : places) {
      std::string name = std::string(field->name()) + (place < 0 ? "" : "[" + std::to_string(place) + "]");
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        if (place >= 0 || r->HasField(message, field))
          forEachNumber(
              *(place < 0 ? r->MutableMessage(&message, field) : r->MutableRepeatedMessage(&message, field, place)),
              values, [&](const std::string &inner, int64_t value) { visit(name + "." + inner, value); });
        continue;
      }
      before->CopyFrom(message);
      for (int64_t value : values)
        if (setNumber(message, field, place, value))
          visit(name, value);
      message.CopyFrom(*before);
    }
  }
}

} // namespace recipe::test
