/* SPDX-License-Identifier: Apache-2.0 */
/* For third-party code of the agent: cross compilers often take limits.h from a C library that is not there. */
#ifndef VXM_AGENT_FREESTANDING_LIMITS_H
#define VXM_AGENT_FREESTANDING_LIMITS_H

#define CHAR_BIT 8

#endif
