"""The parts that the benchmark commands share."""
