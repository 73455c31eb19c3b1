"""What goes wrong between a host library and its masks."""

from __future__ import annotations

from cfgmask.errors import CfgmaskError


class IntegrationError(CfgmaskError, RuntimeError):
    """The host library was used in a way that masks can't follow. The text so far may not match the grammar."""
