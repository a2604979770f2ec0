// Llama: see Llama.cpp.
#ifndef MODELS_LLAMA_H
#define MODELS_LLAMA_H

#include "models/Models.h"

namespace recipe::models {
ModelFamily llamaFamily();
} // namespace recipe::models
#endif
