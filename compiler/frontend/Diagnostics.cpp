#include "compiler/frontend/Diagnostics.h"

#include <algorithm>
#include <tuple>

namespace recipe::frontend {

std::string toString(const Diagnostic &diagnostic) {
  std::string text = diagnostic.at.file;
  if (diagnostic.at.line)
    text += ":" + std::to_string(diagnostic.at.line) + ":" + std::to_string(diagnostic.at.column);
  return text + ": error: " + diagnostic.message;
}

void Diagnostics::error(Place place, std::string message) { problems.push_back({place, std::move(message)}); }

void Diagnostics::error(Location location, std::string message) {
  elsewhere.push_back({std::move(location), std::move(message)});
}

Location Diagnostics::locate(Place place) const {
  if (place.source) // one value on the command line: its name says all
    return {names.at(place.source), 0, 0};
  return {names.at(0), place.line, place.column};
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  using Position = std::tuple<unsigned, unsigned, unsigned, size_t>;
  std::vector<Position> positions;
  for (size_t i = 0; i < problems.size(); ++i)
    positions.push_back({problems[i].place.source, problems[i].place.line, problems[i].place.column, i});
  std::sort(positions.begin(), positions.end());
  std::vector<Diagnostic> all;
  for (const Position &position : positions) {
    const Problem &problem = problems[std::get<3>(position)];
    all.push_back({locate(problem.place), problem.message});
  }
  all.insert(all.end(), elsewhere.begin(), elsewhere.end());
  return all;
}

} // namespace recipe::frontend
