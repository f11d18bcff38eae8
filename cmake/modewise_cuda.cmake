# The files of a CUDA build of torch look for the CUDA toolkit unless this target exists. Neither the sources nor libtorch's headers
# that they include need it, and libtorch brings the runtime library, so that an installed driver is all that a GPU needs.
if(NOT TARGET torch::cudart)
  add_library(torch::cudart INTERFACE IMPORTED)
endif()
