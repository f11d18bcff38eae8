"""The program's models as torch modules, whose state has the names of the program's files."""
