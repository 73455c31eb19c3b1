"""What goes wrong between a host library and its masks."""

from __future__ import annotations

from cfgmask.errors import CfgmaskError


class IntegrationError(CfgmaskError, RuntimeError):
    """A host library was used in a way that masks cannot follow. What it wrote may be outside the grammar."""
