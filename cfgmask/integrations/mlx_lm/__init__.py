"""mlx-lm: a logits processor."""
