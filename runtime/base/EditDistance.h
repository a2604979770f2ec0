// "Did you mean": the nearest of some names.
#ifndef RUNTIME_BASE_EDITDISTANCE_H
#define RUNTIME_BASE_EDITDISTANCE_H
#include <cstddef>
#include <string>
#include <vector>

namespace recipe::rt {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t editDistance(const std::string &a, const std::string &b);

/// The candidate that `name` most likely meant, or "" if none is near. A dotted candidate is also compared by its last
/// part: "lr" means "optim.lr".
std::string nearestName(const std::string &name, const std::vector<std::string> &candidates);

} // namespace recipe::rt
#endif
