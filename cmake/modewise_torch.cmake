# libtorch has a newer copy of fmt than the system's, with which our libraries and spdlog are built. Its headers are
# therefore searched after the system's, so that <fmt/…> is the same everywhere.
set(torch_include_options)
foreach(directory ${TORCH_INCLUDE_DIRS})
  list(APPEND torch_include_options "SHELL:-idirafter ${directory}")
endforeach()
foreach(library torch torch_cpu torch_cpu_library torch_cuda torch_cuda_library torch_library c10 c10_cuda headeronly)
  if(TARGET ${library})
    set_target_properties(${library} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "")
  endif()
endforeach()
target_compile_options(modewise_torch INTERFACE "$<BUILD_INTERFACE:${torch_include_options}>")

# at::parallel_for is a header template over OpenMP: without -fopenmp it is a plain loop, and one program must not mix
# both. The OpenMP runtime must be libtorch's own, otherwise two thread pools compete for the cores. Clang's calls need another
# runtime, and fuzz targets need no threads.
if(NOT MODEWISE_FUZZ)
  target_compile_options(modewise_torch INTERFACE $<BUILD_INTERFACE:-fopenmp>)
endif()
get_filename_component(torch_library_folder ${TORCH_LIBRARY} DIRECTORY)
find_library(MODEWISE_TORCH_OPENMP NAMES libgomp.so.1 gomp HINTS ${torch_library_folder} NO_DEFAULT_PATH)
if(MODEWISE_TORCH_OPENMP)
  target_link_libraries(modewise_torch INTERFACE $<BUILD_INTERFACE:${MODEWISE_TORCH_OPENMP}>)
else()
  find_package(OpenMP REQUIRED)
  target_link_libraries(modewise_torch INTERFACE $<BUILD_INTERFACE:OpenMP::OpenMP_CXX>)
endif()
