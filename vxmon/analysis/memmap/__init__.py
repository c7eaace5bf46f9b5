# SPDX-License-Identifier: Apache-2.0
"""The memory map: images (what is where), partitions (does it fit), growth (what has grown)."""
