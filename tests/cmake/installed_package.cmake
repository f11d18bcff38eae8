# Installs BUILD to an empty prefix, builds examples/cpp against it, runs the programs and checks their output;
# compiles every installed header; and checks the errors with another torch and without torch.
set(prefix ${FOLDER}/prefix)
file(REMOVE_RECURSE ${FOLDER})
set(ENV{LD_LIBRARY_PATH} "")
set(ENV{CMAKE_PREFIX_PATH} "")

# run(COMMAND…): sets `printed` to its standard output; ends the test if it fails.
macro(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE printed ERROR_VARIABLE errors RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${code}:\n${printed}${errors}")
  endif()
endmacro()

# configure(SOURCES NAME OPTION…): sets `code` and `errors`.
macro(configure source name)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${FOLDER}/${name} -G ${GENERATOR} -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE} -DCMAKE_PREFIX_PATH=${prefix} ${ARGN}
    OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE code)
endmacro()

function(build source name)
  configure(${source} ${name})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${source} cannot be configured:\n${errors}")
  endif()
  run(${CMAKE_COMMAND} --build ${FOLDER}/${name} --parallel 2)
endfunction()

# expect(PATTERN): `printed` must match completely; sets CMAKE_MATCH_n to its groups.
macro(expect pattern)
  if(NOT printed MATCHES "^${pattern}$")
    message(FATAL_ERROR "expected\n${pattern}\ngot\n${printed}")
  endif()
endmacro()

# require(CONDITION…): the words of an if().
macro(require)
  if(NOT (${ARGN}))
    message(FATAL_ERROR "not so: ${ARGN}; printed:\n${printed}")
  endif()
endmacro()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
file(GLOB parts RELATIVE ${prefix} ${prefix}/*)
list(JOIN parts " " parts)
require("${parts}" STREQUAL "bin include lib share")  # no files of the wheel
file(GLOB internal ${prefix}/include/modewise/ops/cuda ${prefix}/include/modewise/sweep/toml_reader.h)
if(internal)
  message(FATAL_ERROR "internal headers are installed: ${internal}")
endif()

build(${SOURCES}/examples/cpp examples)
set(programs ${FOLDER}/examples)
set(number "([0-9.e+-]+)")

run(${programs}/kronecker_attention)
expect("7 x 24 = 168 tokens: factors of 49 and 576 weights a head, the full matrix has 28224
largest value ${number}, largest difference from the formula ${number}
gradient of the values: largest difference ${number}
")
set(value ${CMAKE_MATCH_1})
set(gradient ${CMAKE_MATCH_3})
require(${value} GREATER 0.1)
require(${CMAKE_MATCH_2} LESS 2e-6)
require(${gradient} LESS 2e-6)

run(${programs}/block_in_a_model)
expect("parameters: 23 tensors, of the block 19
mean squared error: ${number} at the first step, ${number} at the last
")
# The mean of 7 numbers minus that of 5 has the variance 1/7 + 1/5 - 2/35 = 0.286, the MSE of predicting 0.
set(first ${CMAKE_MATCH_1})
set(last ${CMAKE_MATCH_2})
require(${first} GREATER 0.286)
require(${last} LESS 0.143)

# The program trains on the same file with the same settings, to the same bytes.
run(${programs}/forecast_a_file ${FOLDER}/forecast)
expect("validation MSE ${number} after step ([0-9]+)
the run lies in ${FOLDER}/forecast/run
")
set(error ${CMAKE_MATCH_1})
set(step ${CMAKE_MATCH_2})
run(${prefix}/bin/modewise train forecast --quiet --data ${FOLDER}/forecast/load.csv --model hot --out ${FOLDER}/forecast/program
  --set model.width=16 --set forecast.lookback=48 --set forecast.horizon=12 --set train.max_steps=40)
foreach(file config.toml metrics.jsonl metrics.json)
  run(${CMAKE_COMMAND} -E compare_files ${FOLDER}/forecast/run/${file} ${FOLDER}/forecast/program/${file})
endforeach()
file(READ ${FOLDER}/forecast/program/metrics.json metrics)
string(JSON best_step GET "${metrics}" best_step)
string(JSON best GET "${metrics}" best val_mse)
require(${error} EQUAL ${best} AND ${step} EQUAL ${best_step})
# Forecasting a daily wave by its mean has the scaled error 1.
require(${error} LESS 0.5)

build(${CMAKE_CURRENT_LIST_DIR}/every_header every_header)

# refusal(WANTED NAME OPTION…): examples/cpp cannot be configured, for this reason.
function(refusal wanted name)
  configure(${SOURCES}/examples/cpp ${name} ${ARGN})
  string(REGEX REPLACE "[ \n]+" " " said "${errors}")
  string(FIND "${said}" " ${wanted} " place)
  if(code EQUAL 0 OR place EQUAL -1)
    message(FATAL_ERROR "expected\n${wanted}\ngot\n${errors}")
  endif()
endfunction()

file(STRINGS ${prefix}/lib/cmake/modewise/modewiseConfig.cmake title LIMIT_COUNT 1)
string(REGEX MATCH "modewise ([0-9.]+), built for torch ([0-9]+[.][0-9]+)" title "${title}")
set(built "modewise ${CMAKE_MATCH_1} was built for torch ${CMAKE_MATCH_2} and")
set(way "name the folder of torch ${CMAKE_MATCH_2} in CMAKE_PREFIX_PATH (python -c 'import torch; print(torch.utils.cmake_prefix_path)'), or build modewise against another torch")
set(other ${CMAKE_CURRENT_LIST_DIR}/other_torch)
refusal("${built} torch 1.13.1 was found in ${other}: ${way}" with_another_torch -DTorch_DIR=${other})
refusal("${built} there is no torch: ${way}" without_torch -DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON)

# The docs quote the version that was built here.
file(READ ${SOURCES}/docs/cpp.md page)
foreach(name CMakeLists.txt block_in_a_model.cpp)
  file(READ ${SOURCES}/examples/cpp/${name} text)
  string(FIND "${page}" "\n${text}```\n" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "docs/cpp.md does not quote examples/cpp/${name} as it is")
  endif()
endforeach()
