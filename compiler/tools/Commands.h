// The subcommands of recipec. Each returns the exit code: 0, 1 for what the user can mend, 70 for our bugs.
#ifndef COMPILER_TOOLS_COMMANDS_H
#define COMPILER_TOOLS_COMMANDS_H

#include <cstdint>
#include <string>
#include <vector>

namespace recipe {

inline constexpr int kUserError = 1, kOurBug = 70;

struct CompileRequest {
  std::string recipe;
  std::vector<std::string> sets;        // key=value
  std::vector<std::string> fusionRules; // files; those of the recipe when empty
  std::string output;                   // empty: the recipe's name with .bin
  std::string stopAfter;                // a phase
  std::string dumpFolder;               // takes the IR after each phase
  std::vector<std::string> dumpAfter;   // only after these phases
  bool timing = false;
  unsigned threads = 0; // 0: all cores
};
int compileCommand(const CompileRequest &request);

struct CheckRequest {
  std::string recipe;
  std::vector<std::string> sets;
};
// What a recipe comes to: every value and its origin, parameters, FLOPs, memory.
int checkCommand(const CheckRequest &request);

struct InterpretRequest {
  std::string step;
  std::vector<std::string> sets; // run-time keys
  int64_t steps = 1;
  bool exact = false;     // in f32, bit for bit as native code; else in fp64
  std::string dumpFolder; // takes initial.safetensors, gradients.safetensors of the first step, final.safetensors
};
int interpretCommand(const InterpretRequest &request);

struct InspectRequest {
  std::string step;
  bool instructions = false; // list them all
};
int inspectCommand(const InspectRequest &request);

} // namespace recipe
#endif
