# Install rules. Component cpp, of `cmake --install build --prefix P`: headers, libraries, the program, and the package for
# find_package(modewise), with one target per layer: modewise::ops, modewise::nn, modewise::tasks … Component python, of the
# wheel: the same below modewise/ in site-packages, for the program `modewise` and the Python package.
include(CMakePackageConfigHelpers)

set(MODEWISE_INSTALLED modewise_flags modewise_torch)
set_target_properties(modewise_flags PROPERTIES EXPORT_NAME flags)
set_target_properties(modewise_torch PROPERTIES EXPORT_NAME torch)
foreach(layer ${MODEWISE_LAYERS})
  set_target_properties(modewise_${layer} PROPERTIES EXPORT_NAME ${layer})
  list(APPEND MODEWISE_INSTALLED modewise_${layer})
endforeach()
string(REGEX MATCH "^[0-9]+\\.[0-9]+" MODEWISE_TORCH_MINOR "${Torch_VERSION}")

# The installed headers include fmt and nlohmann_json. They are installed too, in a folder that is searched before torch's, since
# the version of nlohmann_json is part of the symbol names in the libraries. fmt is used without its library.
set(third_party include/modewise_third_party)
target_compile_definitions(modewise_core INTERFACE $<INSTALL_INTERFACE:FMT_HEADER_ONLY=1>)
find_path(MODEWISE_FMT_HEADERS fmt/format.h REQUIRED)
find_path(MODEWISE_JSON_HEADERS nlohmann/json.hpp REQUIRED)

# modewise_install_package(COMPONENT FOLDER TORCH OPTION…): below FOLDER ("" or modewise/) of the prefix. TORCH is the folder of
# libtorch relative to the prefix.
function(modewise_install_package component folder torch)
  install(TARGETS ${MODEWISE_INSTALLED} EXPORT modewise_${component} LIBRARY DESTINATION ${folder}lib COMPONENT ${component} ${ARGN}
    INCLUDES DESTINATION ${folder}include ${folder}${third_party})
  # Internal headers are not installed: kernels, their checks, handles of other libraries.
  install(DIRECTORY modewise DESTINATION ${folder}include COMPONENT ${component} ${ARGN} FILES_MATCHING PATTERN "*.h"
    PATTERN autograd EXCLUDE PATTERN cpu EXCLUDE PATTERN cuda EXCLUDE PATTERN reference EXCLUDE
    REGEX "_(checks|handle)\\.h$" EXCLUDE REGEX "/(gzip|one_thread|toml_reader|zip_archive)\\.h$" EXCLUDE)
  install(DIRECTORY ${MODEWISE_FMT_HEADERS}/fmt ${MODEWISE_JSON_HEADERS}/nlohmann DESTINATION ${folder}${third_party}
    COMPONENT ${component} ${ARGN})
  install(FILES cmake/third_party_licenses.txt DESTINATION ${folder}${third_party} COMPONENT ${component} ${ARGN})

  set(package_folder ${folder}lib/cmake/modewise)
  set(generated ${CMAKE_BINARY_DIR}/generated/${component})
  set(MODEWISE_TORCH_PLACE ${torch})
  configure_package_config_file(cmake/modewiseConfig.cmake.in ${generated}/modewiseConfig.cmake INSTALL_DESTINATION ${package_folder})
  write_basic_package_version_file(${generated}/modewiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(EXPORT modewise_${component} NAMESPACE modewise:: FILE modewiseTargets.cmake DESTINATION ${package_folder}
    COMPONENT ${component} ${ARGN})
  install(FILES ${generated}/modewiseConfig.cmake ${generated}/modewiseConfigVersion.cmake cmake/modewise_cuda.cmake DESTINATION ${package_folder}
    COMPONENT ${component} ${ARGN})
endfunction()

modewise_install_package(cpp "" lib/modewise/torch)
install(TARGETS modewise RUNTIME DESTINATION bin COMPONENT cpp)
install(DIRECTORY experiments/papers experiments/questions DESTINATION share/modewise COMPONENT cpp)
install(TARGETS modewise_cli LIBRARY DESTINATION lib COMPONENT cpp)

# The tables of the papers (modewise reproduce) and the questions for language models (modewise evaluate --tasks), at the same place
# relative to the libraries as when installed.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/modewise)
foreach(folder papers questions)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/experiments/${folder} ${CMAKE_BINARY_DIR}/share/modewise/${folder} SYMBOLIC)
endforeach()

# One symbolic link by which all libraries find libtorch: if torch moves, only this link changes.
set(torch_link ${CMAKE_BINARY_DIR}/generated/torch)
file(CREATE_LINK ${torch_library_folder} ${torch_link} SYMBOLIC)
install(FILES ${torch_link} DESTINATION lib/modewise COMPONENT cpp)

modewise_install_package(python modewise/ torch/lib EXCLUDE_FROM_ALL)
install(TARGETS modewise RUNTIME DESTINATION modewise/bin COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY experiments/papers experiments/questions DESTINATION modewise/share/modewise COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS modewise_cli modewise_python LIBRARY DESTINATION modewise/lib COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/modewise_build.json DESTINATION modewise/lib COMPONENT python EXCLUDE_FROM_ALL)
if(SKBUILD)  # the wheel's `modewise` on the PATH
  install(PROGRAMS python/program.py DESTINATION ${SKBUILD_SCRIPTS_DIR} RENAME modewise COMPONENT python EXCLUDE_FROM_ALL)
endif()
