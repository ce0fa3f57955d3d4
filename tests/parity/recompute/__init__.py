# SPDX-License-Identifier: Apache-2.0
"""What the program has to say of a capture, worked out from the capture's own files a second time.
Shares no code with the program; docs/differences.md is what it goes by."""
