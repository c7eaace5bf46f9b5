# SPDX-License-Identifier: Apache-2.0
"""Other recorders on the same board: built from their own packages, never part of the product."""
