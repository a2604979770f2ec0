//===- KeyReference.h - the reference of recipe keys, from the comments and options of recipe.proto ---------------===//
#ifndef RECIPE_FRONTEND_KEYREFERENCE_H
#define RECIPE_FRONTEND_KEYREFERENCE_H

#include <string>
#include <variant>

namespace recipe::frontend {

struct ReferenceError {
  std::string message;
};

// Markdown with one table per section. descriptorSet: what protoc --include_source_info --descriptor_set_out makes of
// the recipe.proto that this program was built from. A key, section or enumeration value without a comment is an error.
std::variant<std::string, ReferenceError> keyReference(const std::string &descriptorSet);

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_KEYREFERENCE_H
