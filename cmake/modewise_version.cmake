# Writes generated/modewise_version.h: version, commit, compiler and flags of this build.
find_package(Git QUIET)
set(MODEWISE_COMMIT "unknown")
if(Git_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${CMAKE_SOURCE_DIR} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE MODEWISE_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/modewise_version.h.in ${CMAKE_BINARY_DIR}/generated/modewise_version.h)
