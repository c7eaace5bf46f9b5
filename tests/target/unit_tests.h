/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of tests of the agent's parts share. */
#ifndef UNIT_TESTS_H
#define UNIT_TESTS_H

#include <stdbool.h>

#define CHECK(condition) unit_check((condition), #condition, __LINE__)

/* Counts and tells what is not right. */
void unit_check(bool right, const char *what, int line);

void blocks_hold_the_records_that_fit(void);

#endif
