/* SPDX-License-Identifier: Apache-2.0 */
#define assert(condition) ((void)0)
