"""What can be asked on the command line: one module a command.

A module `commands/<name>.py` is the command `python -m analysis <name>`: the first line of its docstring is its help,
`arguments(parser)` adds its options and `run(options)` does it and returns the exit status. What the command says is
for its caller: findings and estimates go to standard output, progress and complaints to standard error.
"""
