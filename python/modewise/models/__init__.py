"""The program's models as torch modules with the parameter names of the program's files."""
