//===- Diagnostics.h - problems of a recipe and where they are ---------------------------------------------------===//
//
// Reading a recipe collects every problem instead of stopping at the first one. Values only, no shared state.
//
//===-------------------------------------------------------------------------------------------------------------===//
#ifndef RECIPE_FRONTEND_DIAGNOSTICS_H
#define RECIPE_FRONTEND_DIAGNOSTICS_H

#include <string>
#include <vector>

namespace recipe::frontend {

// A place in one of the texts that make up a recipe. Lines and columns count from 1; line 0 is the text as a whole.
struct Place {
  unsigned source = 0; // 0: the recipe, k: the k-th --set
  unsigned line = 0;
  unsigned column = 0;
};

// The same for people: where an editor finds it.
struct Location {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

struct Diagnostic {
  Location at;
  std::string message;
};

// "file:line:column: error: message", without the numbers where there are none.
std::string toString(const Diagnostic &diagnostic);

class Diagnostics {
public:
  // names: how the sources are called, the recipe first.
  explicit Diagnostics(std::vector<std::string> names) : names(std::move(names)) {}

  void error(Place place, std::string message);
  void error(Location location, std::string message); // in another file; sorted last
  bool empty() const { return problems.empty() && elsewhere.empty(); }
  Location locate(Place place) const;
  std::vector<Diagnostic> sorted() const; // by source, line, column; then in the order of discovery

private:
  struct Problem {
    Place place;
    std::string message;
  };
  std::vector<std::string> names;
  std::vector<Problem> problems;
  std::vector<Diagnostic> elsewhere;
};

} // namespace recipe::frontend

#endif // RECIPE_FRONTEND_DIAGNOSTICS_H
