/* SPDX-License-Identifier: Apache-2.0 */
/* The system header of nanopb (PB_SYSTEM_HEADER): freestanding, memory buffers only, no error texts. */
#ifndef VXM_AGENT_PB_SYSTEM_H
#define VXM_AGENT_PB_SYSTEM_H

#include "compiler.h"

/* Of limits.h, which cross compilers often take from a C library that is not there. */
#ifndef CHAR_BIT
#define CHAR_BIT 8
#endif
#ifndef INT_MAX
#define INT_MAX ((int)(UINT_MAX / 2u))
#endif
#ifndef UINT_MAX
#define UINT_MAX (~0u)
#endif

#define PB_BUFFER_ONLY 1
#define PB_NO_ERRMSG 1

#endif
