/* SPDX-License-Identifier: Apache-2.0 */
/* For third-party code of the agent: the functions of string.h that every port has (PORTING.md). */
#ifndef VXM_AGENT_FREESTANDING_STRING_H
#define VXM_AGENT_FREESTANDING_STRING_H

#include "compiler.h"

#endif
