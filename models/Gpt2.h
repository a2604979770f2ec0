// GPT-2: see Gpt2.cpp.
#ifndef MODELS_GPT2_H
#define MODELS_GPT2_H

#include "models/Models.h"

namespace recipe::models {
ModelFamily gpt2Family();
} // namespace recipe::models
#endif
