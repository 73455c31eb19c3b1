"""Names of other libraries over this engine, for programs that were written for those."""
