set(Torch_FOUND TRUE)
