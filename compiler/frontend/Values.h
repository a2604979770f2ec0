//===- Values.h - one value between YAML and a field of a section -------------------------------------------------===//
#ifndef RECIPE_FRONTEND_VALUES_H
#define RECIPE_FRONTEND_VALUES_H

#include "compiler/frontend/Schema.h"
#include "compiler/frontend/YamlTree.h"

#include <functional>
#include <string>

namespace recipe::frontend {

using Report = std::function<void(Place, std::string)>;

// Checks the type, the bounds and the length of a value and puts it into the section's field. Reports what is wrong,
// then leaves the field alone and returns false. Values of enumerations that are not built yet are refused here.
// place: where to report a value that is not there.
bool readValue(const Key &key, const YamlNode &node, Place place, google::protobuf::Message &section,
               const Report &report);

// The field's value as YAML on one line; lists in flow style.
std::string valueText(const Key &key, const google::protobuf::Message &section);

// Text as a YAML scalar, quoted where it would otherwise read as something else.
std::string scalarText(const std::string &text);

// A plain scalar that YAML reads as a number; value only when it fits.
enum class NumberKind { NotANumber, Whole, Real };
NumberKind numberKind(const std::string &text);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_VALUES_H
