# SPDX-License-Identifier: Apache-2.0
"""What engineers write down: module configuration files and collection tasks."""
