#include "runtime/base/EditDistance.h"
#include <algorithm>

using namespace recipe::rt;

size_t recipe::rt::editDistance(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j)
    d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string recipe::rt::nearestName(const std::string &name, const std::vector<std::string> &candidates) {
  // Longer text is no misspelt name, and the table above is quadratic.
  if (name.size() > 100)
    return "";
  std::string best;
  size_t bestDistance = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string &candidate : candidates) {
    size_t distance = editDistance(name, candidate);
    size_t dot = candidate.rfind('.');
    if (dot != std::string::npos)
      distance = std::min(distance, editDistance(name, candidate.substr(dot + 1)));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}
