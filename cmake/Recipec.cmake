# Three functions: a library over MLIR/LLVM headers, a library without them, and a tool.

separate_arguments(RECIPEC_LLVM_DEFINITIONS UNIX_COMMAND "${LLVM_DEFINITIONS}")
set(RECIPEC_WARNINGS -Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc warns of members with a constructor, too: {recipe, options} may leave the rest of an aggregate to theirs.
  list(APPEND RECIPEC_WARNINGS -Wno-missing-field-initializers)
endif()

# recipec_add_compiler_library(name sources... [DEPENDS tablegen-targets...] [LINK libraries...])
# Exceptions off, as LLVM itself; uses the precompiled MLIR headers.
function(recipec_add_compiler_library name)
  cmake_parse_arguments(X "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${X_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${X_LINK})
  target_compile_options(${name} PRIVATE -fno-exceptions ${RECIPEC_WARNINGS} ${RECIPEC_LLVM_DEFINITIONS})
  if(X_DEPENDS)
    add_dependencies(${name} ${X_DEPENDS})
  endif()
  if(RECIPEC_PCH)
    if(NOT TARGET recipec_pch)
      file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/recipec_pch.cpp CONTENT "")
      add_library(recipec_pch STATIC ${CMAKE_BINARY_DIR}/recipec_pch.cpp)
      target_compile_options(recipec_pch PRIVATE -fno-exceptions ${RECIPEC_WARNINGS} ${RECIPEC_LLVM_DEFINITIONS})
      target_precompile_headers(recipec_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Pch.h)
    endif()
    target_precompile_headers(${name} REUSE_FROM recipec_pch)
  endif()
endfunction()

# recipec_add_runtime_library(name sources... [LINK libraries...]): no LLVM, no MLIR.
function(recipec_add_runtime_library name)
  cmake_parse_arguments(X "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${X_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${X_LINK})
  target_compile_options(${name} PRIVATE ${RECIPEC_WARNINGS})
endfunction()

# recipec_add_compiler_tool(name sources... [LINK libraries...]): links the MLIR and LLVM dylibs after ours.
# No PCH: executables are PIE and the PCH was made for libraries.
function(recipec_add_compiler_tool name)
  cmake_parse_arguments(X "" "" "LINK" ${ARGN})
  add_executable(${name} ${X_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${X_LINK} MLIR LLVM ${CMAKE_DL_LIBS})
  target_compile_options(${name} PRIVATE -fno-exceptions ${RECIPEC_WARNINGS} ${RECIPEC_LLVM_DEFINITIONS})
endfunction()

# recipec_add_protobuf(name file.proto): a static library of the generated code, headers at <build>/<folder>/<file>.pb.h
# so that they are included as "runtime/abi/step.pb.h".
function(recipec_add_protobuf name proto)
  file(RELATIVE_PATH rel ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
  string(REGEX REPLACE "\\.proto$" "" stem ${rel})
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/${stem}.pb.cc ${CMAKE_BINARY_DIR}/${stem}.pb.h
    COMMAND protobuf::protoc --cpp_out=${CMAKE_BINARY_DIR} -I ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${rel}
    DEPENDS ${CMAKE_SOURCE_DIR}/${rel})
  add_library(${name} STATIC ${CMAKE_BINARY_DIR}/${stem}.pb.cc ${CMAKE_BINARY_DIR}/${stem}.pb.h)
  target_include_directories(${name} SYSTEM PUBLIC ${Protobuf_INCLUDE_DIRS})
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf)
endfunction()
