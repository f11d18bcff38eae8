# Warnings and include root of all targets.
add_library(modewise_flags INTERFACE)
target_include_directories(modewise_flags INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
target_compile_features(modewise_flags INTERFACE cxx_std_20)
target_compile_options(modewise_flags INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Wshadow;-Wnon-virtual-dtor;$<$<BOOL:${MODEWISE_WERROR}>:-Werror>;-fno-math-errno>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(modewise_flags INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)  # false alarms on `"text" + std::string` (GCC PR 105651)
endif()
if(MODEWISE_SANITIZE)
  target_compile_options(modewise_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
  target_link_options(modewise_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=vptr)
endif()
if(MODEWISE_COVERAGE)
  target_compile_options(modewise_flags INTERFACE --coverage -O0)
  target_link_options(modewise_flags INTERFACE --coverage)
endif()

# libtorch; its headers are system headers, without warnings.
add_library(modewise_torch INTERFACE)
target_link_libraries(modewise_torch INTERFACE torch)

# MODEWISE_UNITY: unity build of the targets that include libtorch, whose headers take most of the compile time and are
# then read once for several files. So names in anonymous namespaces must be unique within a target.
function(modewise_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${MODEWISE_UNITY} UNITY_BUILD_BATCH_SIZE 16
    UNITY_BUILD_RELOCATABLE ON)
endfunction()

# For code outside hot loops: compiles in about two thirds of the time.
function(modewise_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# modewise_library(<layer> SOURCES a.cpp ... LINK core io torch ...): one shared library per layer. Other libraries are linked
# in the build only: users of the installed library get the dependencies of its headers from modewise_install.cmake.
function(modewise_library layer)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(modewise_${layer} SHARED ${ARG_SOURCES})
  target_link_libraries(modewise_${layer} PUBLIC modewise_flags)
  foreach(dependency ${ARG_LINK})
    if(TARGET modewise_${dependency})
      target_link_libraries(modewise_${layer} PUBLIC modewise_${dependency})
    else()
      target_link_libraries(modewise_${layer} PUBLIC $<BUILD_INTERFACE:${dependency}>)
    endif()
  endforeach()
  if("torch" IN_LIST ARG_LINK)
    modewise_unite(modewise_${layer})
  endif()
endfunction()

# Compile options of all test programs; those with libtorch share precompiled headers (tests/CMakeLists.txt).
function(modewise_test_options target)
  target_link_libraries(${target} PRIVATE modewise_flags GTest::gtest GTest::gmock GTest::gtest_main)
  modewise_quick_to_compile(${target})
  target_compile_definitions(${target} PRIVATE
    MODEWISE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" MODEWISE_BINARY_DIR="${CMAKE_BINARY_DIR}")
endfunction()

# modewise_test(<folder> SOURCES a_test.cpp ... LINK ops ...): one GoogleTest program per folder. CTest runs it in shards_<folder>
# processes (default 1), each with every n-th test (tests/run_shard.py): most tests are shorter than the start of a process
# that loads libtorch. If long_<folder> is set, the tests named LONG_… run as <folder>.long, labelled long.
function(modewise_test folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${folder}_test ${ARG_SOURCES})
  modewise_test_options(${folder}_test)
  foreach(dependency ${ARG_LINK})
    target_link_libraries(${folder}_test PRIVATE modewise_${dependency})
    get_target_property(links modewise_${dependency} LINK_LIBRARIES)
    if("modewise_torch" IN_LIST links)
      target_precompile_headers(${folder}_test REUSE_FROM test_headers)
    endif()
  endforeach()
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
    set_tests_properties(${folder}.long PROPERTIES TIMEOUT 1800 COST 50 LABELS long)
  endif()
endfunction()
