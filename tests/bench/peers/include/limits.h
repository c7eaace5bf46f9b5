/* SPDX-License-Identifier: Apache-2.0 */
#define CHAR_BIT __CHAR_BIT__
#define INT_MAX __INT_MAX__
#define UINT_MAX (2u * __INT_MAX__ + 1u)
