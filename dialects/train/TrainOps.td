//===- TrainOps.td - everything in the train dialect -------------*- tablegen -*-===//
#ifndef DIALECTS_TRAIN_TRAINOPS_TD
#define DIALECTS_TRAIN_TRAINOPS_TD
include "dialects/train/TrainStructure.td"
include "dialects/train/TrainCompute.td"
include "dialects/train/TrainUpdate.td"
#endif
