// RUN: recipe-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{one size per axis, got 2 names and 1 sizes}}
dist.mesh @mesh ["data", "tensor"] [2]

// -----

// expected-error @+1 {{an axis is one of data, context, tensor, pipeline, expert, got "model"}}
dist.mesh @mesh ["data", "model"] [2, 2]

// -----

// expected-error @+1 {{an axis is one of data, context, tensor, pipeline, expert, got 3 : i64}}
dist.mesh @mesh [3 : i64] [2]

// -----

// expected-error @+1 {{axis names are distinct, got "data" twice}}
dist.mesh @mesh ["data", "data"] [2, 2]

// -----

// expected-error @+1 {{an axis has at least 1 rank, got 0 for "tensor"}}
dist.mesh @mesh ["data", "tensor"] [2, 0]

// -----

// expected-error @+1 {{an axis has at least 1 rank, got -2 for "data"}}
dist.mesh @mesh ["data"] [-2]

// -----

// expected-note @+1 {{see existing symbol definition here}}
dist.mesh @mesh ["data"] [2]
// expected-error @below {{redefinition of symbol named 'mesh'}}
dist.mesh @mesh ["data"] [2]
