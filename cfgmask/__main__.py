"""`python -m cfgmask` is the command `cfgmask`."""

from cfgmask.cli import main

main(prog_name="python -m cfgmask")
