# libtorch brings a copy of fmt that is newer than the system's, which our libraries and spdlog are built with.
# Its headers are therefore searched after the system's, so that <fmt/…> means one thing everywhere.
set(torch_include_options)
foreach(directory ${TORCH_INCLUDE_DIRS})
  list(APPEND torch_include_options "SHELL:-idirafter ${directory}")
endforeach()
foreach(library torch torch_cpu torch_cpu_library torch_library c10)
  if(TARGET ${library})
    set_target_properties(${library} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "")
  endif()
endforeach()
target_compile_options(modewise_torch INTERFACE ${torch_include_options})
