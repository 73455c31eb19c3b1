"""Masks inside other libraries' loops, one library a module. None is imported before it is asked for."""
