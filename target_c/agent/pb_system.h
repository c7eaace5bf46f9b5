/* SPDX-License-Identifier: Apache-2.0 */
/* The system header of nanopb (PB_SYSTEM_HEADER): freestanding, memory buffers only, no error texts. */
#ifndef VXM_AGENT_PB_SYSTEM_H
#define VXM_AGENT_PB_SYSTEM_H

#include <limits.h>

#include "compiler.h"

#define PB_BUFFER_ONLY 1
#define PB_NO_ERRMSG 1

#endif
