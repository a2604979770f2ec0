// model-docs FILE: writes docs/models.md.
#include "models/Models.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: model-docs FILE\n";
    return 1;
  }
  std::error_code error;
  llvm::raw_fd_ostream file(argv[1], error);
  if (!error) {
    file << recipe::models::modelsDocument();
    file.close();
    error = file.error();
  }
  if (error)
    llvm::errs() << argv[1] << ": " << error.message() << "\n";
  return error ? 1 : 0;
}
