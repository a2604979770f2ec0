# cmake -DOUTPUT=header.h -DNAMES="a;b" -DFOLDER=dir -P EmbedRules.cmake: PDL modules <dir>/<name>.mlir as C++ text.
set(table "")
foreach(name IN LISTS NAMES)
  file(READ ${FOLDER}/${name}.mlir text)
  string(APPEND table "    {\"${name}.pdll\", R\"pdl(${text})pdl\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from passes/fusion/rules by cmake/EmbedRules.cmake.
#ifndef PASSES_FUSION_RULES_DEFAULTRULES_H
#define PASSES_FUSION_RULES_DEFAULTRULES_H

namespace recipe::fusion {

struct DefaultRules {
  const char *name, *text;
};
inline constexpr DefaultRules kDefaultRules[] = {
${table}};

} // namespace recipe::fusion
#endif
")
