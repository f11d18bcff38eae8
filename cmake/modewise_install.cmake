# Install rules of `cmake --install build --prefix P`. Component cpp: headers, libraries, the program, and the package for
# find_package(modewise), with one target per layer: modewise::ops, modewise::nn, modewise::tasks … The wheel uses the
# component python (python/CMakeLists.txt).
include(CMakePackageConfigHelpers)

set(MODEWISE_INSTALLED modewise_flags modewise_torch)
set_target_properties(modewise_flags PROPERTIES EXPORT_NAME flags)
set_target_properties(modewise_torch PROPERTIES EXPORT_NAME torch)
foreach(layer ${MODEWISE_LAYERS})
  set_target_properties(modewise_${layer} PROPERTIES EXPORT_NAME ${layer})
  list(APPEND MODEWISE_INSTALLED modewise_${layer})
endforeach()

# Libraries that the installed headers include. libtorch has a copy of fmt, which its users find first; header-only, so that
# any version works.
target_link_libraries(modewise_core PUBLIC $<INSTALL_INTERFACE:fmt::fmt-header-only> $<INSTALL_INTERFACE:nlohmann_json::nlohmann_json>)

install(TARGETS ${MODEWISE_INSTALLED} EXPORT modewise LIBRARY DESTINATION lib COMPONENT cpp INCLUDES DESTINATION include)
install(TARGETS modewise modewise_cli RUNTIME DESTINATION bin LIBRARY DESTINATION lib COMPONENT cpp)
# Internal headers are not installed: kernels, their checks, handles of other libraries.
install(DIRECTORY modewise DESTINATION include COMPONENT cpp FILES_MATCHING PATTERN "*.h"
  PATTERN autograd EXCLUDE PATTERN cpu EXCLUDE PATTERN reference EXCLUDE
  REGEX "_(checks|handle)\\.h$" EXCLUDE REGEX "/(gzip|one_thread|zip_archive)\\.h$" EXCLUDE)

# One symbolic link by which all libraries find libtorch: if torch moves, only this link changes.
set(torch_link ${CMAKE_BINARY_DIR}/generated/torch)
file(CREATE_LINK ${torch_library_folder} ${torch_link} SYMBOLIC)
install(FILES ${torch_link} DESTINATION lib/modewise COMPONENT cpp)

set(package_folder lib/cmake/modewise)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" MODEWISE_TORCH_MINOR "${Torch_VERSION}")
configure_package_config_file(cmake/modewiseConfig.cmake.in ${CMAKE_BINARY_DIR}/generated/modewiseConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/modewiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT modewise NAMESPACE modewise:: FILE modewiseTargets.cmake DESTINATION ${package_folder} COMPONENT cpp)
install(FILES ${CMAKE_BINARY_DIR}/generated/modewiseConfig.cmake ${CMAKE_BINARY_DIR}/generated/modewiseConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT cpp)
