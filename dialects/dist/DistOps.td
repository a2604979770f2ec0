//===- DistOps.td - mesh, layouts, collectives -------------------*- tablegen -*-===//
#ifndef DIALECTS_DIST_DISTOPS_TD
#define DIALECTS_DIST_DISTOPS_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::recipe::dist";
  let summary = "Meshes, layouts over them, and the only ops that change a layout";
  let description = [{
    After the shard phase every tensor type carries its layout as encoding: the type's shape stays *global*. Constraints are numbered D1, D2, ...
    in error messages, tests and here:

    - D1: a layout has one entry per dimension of its tensor.
    - D2: a mesh axis (or the same part of it) is used at most once in a layout, dimensions and Partial together.
    - D3: a sub-axis `"axis" after pre size size` is a part of its axis: pre * size divides the axis, two parts of one axis do not overlap (pre of
      the inner one is a multiple of pre * size of the outer one), and the whole axis is written without pre and size.
    - D4: the true extent of a dimension is its global size; padding completes it to a multiple of the shards.
    - D5: every axis exists in the mesh, and an op's tensors lie on one mesh.
    - D6: a collective changes exactly what it says: all_reduce removes Partial axes; reduce_scatter turns Partial axes into shards of one dimension;
      all_gather removes the innermost axes of a dimension; slice adds axes to a dimension; all_to_all moves axes from one dimension to another.
      Padding changes only where axes do.
    - D7: Partial passes only through layout ops, power-of-two scaling and the sums that the batch tree is made of (accumulators, `train.tree_merge`).
    - D8: after the shard phase no tensor is without layout.
    - D9: only ops of train, dist and step take or give tensors with a layout, and only those of dist change it.
    - D10: reads and writes of a variable have its layout.
    - D11: a value without operands is not Partial unless it is zero.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Dist_AxisAttr : AttrDef<Dist_Dialect, "Axis"> {
  let mnemonic = "axis";
  let summary = "A mesh axis, or the part of it with `size` ranks after (inside) `pre` outer ones";
  let parameters = (ins "::mlir::StringAttr":$name, DefaultValuedParameter<"int64_t", "1">:$pre, DefaultValuedParameter<"int64_t", "0">:$size);
  let assemblyFormat = "`<` $name (`after` $pre^)? (`size` $size^)? `>`";
  let genVerifyDecl = 1;
}

def Dist_DimAttr : AttrDef<Dist_Dialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "How one dimension is split: axes outermost first, true extent, padding at the end (elements)";
  let parameters = (ins OptionalArrayRefParameter<"::recipe::dist::AxisAttr">:$axes, "int64_t":$extent,
    DefaultValuedParameter<"int64_t", "0">:$padding);
  let assemblyFormat = "`<` `[` (`]`) : ($axes^ `]`)? `,` $extent (`,` `padding` `=` $padding^)? `>`";
  let genVerifyDecl = 1;
}

def Dist_LayoutAttr : AttrDef<Dist_Dialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "Where each element of a tensor lives, and over which axes it is still a partial sum";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, OptionalArrayRefParameter<"::recipe::dist::DimAttr">:$dims,
    OptionalArrayRefParameter<"::recipe::dist::AxisAttr">:$partial);
  let assemblyFormat = "`<` $mesh `,` `[` (`]`) : ($dims^ `]`)? (`,` `partial` `=` `[` $partial^ `]`)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // Every dimension whole on every rank.
    static LayoutAttr replicated(::mlir::FlatSymbolRefAttr mesh, ::llvm::ArrayRef<int64_t> shape);
    bool isPartial() const { return !getPartial().empty(); }
  }];
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

def Dist_MeshOp : Dist_Op<"mesh", [Symbol]> {
  let summary = "Named axes and their sizes; the names are data, context, tensor, pipeline, expert";
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$axis_names, DenseI64ArrayAttr:$axis_sizes);
  let assemblyFormat = "$sym_name $axis_names $axis_sizes attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // Ranks along the axis; 0 when the mesh has no such axis.
    int64_t axisSize(::llvm::StringRef name);
  }];
}

class Dist_LayoutChange<string mnemonic, string text> : Dist_Op<mnemonic, [Pure]> {
  let summary = text;
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Dist_AllReduceOp : Dist_LayoutChange<"all_reduce", "Sums Partial values over axes, canonical tree over ranks; the result is not Partial over them">;
def Dist_ReduceScatterOp : Dist_LayoutChange<"reduce_scatter", "Sums Partial values over an axis and leaves each rank its shard of one dimension">;
def Dist_AllGatherOp : Dist_LayoutChange<"all_gather", "Makes a sharded dimension whole over its innermost axes">;
def Dist_SliceOp : Dist_LayoutChange<"slice", "Keeps this rank's shard of a replicated dimension; no communication">;
def Dist_AllToAllOp : Dist_LayoutChange<"all_to_all", "Moves axes from one dimension to another">;

#endif
