# Tests of the IR, written as .mlir files. CTest runs: lit -sv tests --param tools=<build>/bin --param llvm=<LLVM's bin>
import os
import lit.formats

config.name = "recipec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["tools"], "..", "lit")
config.environment["PATH"] = os.pathsep.join([lit_config.params["tools"], lit_config.params["llvm"], os.environ["PATH"]])

# A pass must leave the values alone: RUN: recipe-opt --fuse %s | %same_values %s -
config.substitutions.append(("%same_values", "recipe-same-values"))
