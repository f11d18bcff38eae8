# Warnings and include root of all targets.
add_library(modewise_flags INTERFACE)
target_include_directories(modewise_flags INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
target_compile_features(modewise_flags INTERFACE cxx_std_20)
target_compile_options(modewise_flags INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Wshadow;-Wnon-virtual-dtor;$<$<BOOL:${MODEWISE_WERROR}>:-Werror>;-fno-math-errno>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(modewise_flags INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)  # false alarms on `"text" + std::string` (GCC PR 105651)
endif()
# libtorch exports parts of an older std::filesystem (the CUDA build of 2.11: a remove_all that crashes). The standard library is
# therefore linked first, so that its own definitions are found.
target_link_options(modewise_flags INTERFACE $<BUILD_INTERFACE:LINKER:--push-state,--no-as-needed,-lstdc++,--pop-state>)
if(MODEWISE_SANITIZE)
  target_compile_options(modewise_flags INTERFACE -fsanitize=${MODEWISE_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer)
  target_link_options(modewise_flags INTERFACE -fsanitize=${MODEWISE_SANITIZE} -fno-sanitize=vptr)
endif()
if(MODEWISE_FUZZ)
  target_compile_options(modewise_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(modewise_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(MODEWISE_COVERAGE)
  # Counters of several threads are added up only if updates are atomic.
  target_compile_options(modewise_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(modewise_flags INTERFACE --coverage)
endif()

# libtorch; its headers are system headers, without warnings.
add_library(modewise_torch INTERFACE)
target_link_libraries(modewise_torch INTERFACE torch)

# For code outside hot loops: compiles in about two thirds of the time.
function(modewise_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# MODEWISE_UNITY: files are compiled several at a time, `size` of them or those of a folder (size 0). So names in anonymous
# namespaces must be unique within a target, or within its folders.
function(modewise_unite target size)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${MODEWISE_UNITY} UNITY_BUILD_BATCH_SIZE ${size}
    UNITY_BUILD_RELOCATABLE ON)
  if(size EQUAL 0)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "[.]cpp$")
    foreach(source ${sources})
      string(REGEX MATCH "^[a-z_]+/" folder ${source})
      string(REPLACE "/" "" folder "${folder}_files")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
    endforeach()
  endif()
endfunction()

# Headers of libtorch and of the other libraries, precompiled once for all targets of libraries: reading them takes most of
# the compile time. Such targets have the options of this one.
function(modewise_precompile target)
  if(NOT TARGET modewise_headers)
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/headers.cpp CONTENT "")
    add_library(modewise_headers OBJECT ${CMAKE_BINARY_DIR}/generated/headers.cpp)
    target_link_libraries(modewise_headers PRIVATE modewise_flags modewise_core modewise_torch)
    modewise_quick_to_compile(modewise_headers)
    target_precompile_headers(modewise_headers PRIVATE
      <ATen/TensorOperators.h> <ATen/core/Tensor.h> <fmt/ranges.h> <nlohmann/json.hpp> <spdlog/spdlog.h>
      <torch/nn/cloneable.h> <algorithm> <filesystem> <functional> <map> <string> <vector>)
    modewise_ccache_headers(modewise_headers)
  endif()
  set_target_properties(${target} PROPERTIES DEFINE_SYMBOL "")  # the macros are those of modewise_headers
  target_precompile_headers(${target} REUSE_FROM modewise_headers)
  modewise_ccache_headers(${target})
endfunction()

# ccache reads files with precompiled headers only if GCC leaves a note about them.
function(modewise_ccache_headers target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# modewise_library(<layer> SOURCES a.cpp ... HOT b.cpp ... LINK core io torch ...): one shared library per layer. With libtorch,
# SOURCES are compiled quickly, and HOT, files with loops over numbers, for speed. UNITY_SIZE: modewise_unite. Other libraries are
# linked in the build only: users of the installed library get the dependencies of its headers from modewise_install.cmake.
function(modewise_library layer)
  cmake_parse_arguments(ARG "" "UNITY_SIZE" "SOURCES;HOT;LINK" ${ARGN})
  add_library(modewise_${layer} SHARED ${ARG_SOURCES})
  target_link_libraries(modewise_${layer} PUBLIC modewise_flags)
  foreach(dependency ${ARG_LINK})
    if(TARGET modewise_${dependency})
      target_link_libraries(modewise_${layer} PUBLIC modewise_${dependency})
    else()
      target_link_libraries(modewise_${layer} PUBLIC $<BUILD_INTERFACE:${dependency}>)
    endif()
  endforeach()
  if(NOT DEFINED ARG_UNITY_SIZE)
    set(ARG_UNITY_SIZE 16)
  endif()
  modewise_unite(modewise_${layer} ${ARG_UNITY_SIZE})
  if(NOT "torch" IN_LIST ARG_LINK)
    return()
  endif()
  modewise_quick_to_compile(modewise_${layer})
  modewise_precompile(modewise_${layer})
  if(ARG_HOT)
    add_library(modewise_${layer}_hot OBJECT ${ARG_HOT})
    get_target_property(links modewise_${layer} LINK_LIBRARIES)
    target_link_libraries(modewise_${layer}_hot PRIVATE ${links})
    modewise_unite(modewise_${layer}_hot 16)
    target_sources(modewise_${layer} PRIVATE $<TARGET_OBJECTS:modewise_${layer}_hot>)
  endif()
endfunction()

# Compile options of all programs of the tests; those with libtorch share precompiled headers (tests/CMakeLists.txt).
function(modewise_test_options target)
  target_link_libraries(${target} PRIVATE modewise_flags GTest::gtest GTest::gmock GTest::gtest_main)
  modewise_quick_to_compile(${target})
  target_compile_definitions(${target} PRIVATE
    MODEWISE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" MODEWISE_BINARY_DIR="${CMAKE_BINARY_DIR}")
endfunction()

# Links the layers of a test program, several files of which are compiled at once: reading libtorch's or the standard library's
# headers takes most of the time. With libtorch a compilation takes so much memory that there are fewer.
function(modewise_test_layers target)
  modewise_unite(${target} 10)
  foreach(layer ${ARGN})
    target_link_libraries(${target} PRIVATE modewise_${layer})
    get_target_property(links modewise_${layer} LINK_LIBRARIES)
    if("modewise_torch" IN_LIST links)
      target_precompile_headers(${target} REUSE_FROM test_headers)
      modewise_ccache_headers(${target})
      modewise_unite(${target} 6)
    endif()
  endforeach()
endfunction()

# modewise_test_program(<name> SOURCES a.cpp ... LINK ops ...): a program of the tests.
function(modewise_test_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  modewise_test_options(${name})
  modewise_test_layers(${name} ${ARG_LINK})
endfunction()

# modewise_test(<folder> SOURCES a_test.cpp ... LINK ops ...): one GoogleTest program per folder. CTest runs it in shards_<folder>
# processes (default 1), each with every n-th test (tests/run_shard.py): most tests are shorter than the start of a process
# that loads libtorch. If long_<folder> is set, the tests named LONG_… run as <folder>.long, labelled long.
function(modewise_test folder)
  modewise_test_program(${folder}_test ${ARGN})
  set(count 1)
  if(DEFINED shards_${folder})
    set(count ${shards_${folder}})
  endif()
  foreach(shard RANGE 1 ${count})
    add_test(NAME ${folder}.${shard}of${count}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/run_shard.py $<TARGET_FILE:${folder}_test> ${shard} ${count})
    set_tests_properties(${folder}.${shard}of${count} PROPERTIES TIMEOUT 1800 COST 10)  # before the fuzz targets
  endforeach()
  if(long_${folder})
    add_test(NAME ${folder}.long
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/run_shard.py $<TARGET_FILE:${folder}_test> 1 1 --long)
    set_tests_properties(${folder}.long PROPERTIES TIMEOUT 7200 COST 50 LABELS long)
  endif()
endfunction()
