/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cookie is SipHash-2-4 (Aumasson and Bernstein, 2012) of the address and a coarse time under a
 * key of this boot, so that strangers who only ask cannot use up anything.
 */
#include "cookie.h"

#include "state.h"

#define PERIOD_SECONDS 16u

static uint64_t key[2];

void vxm_cookie_init(uint64_t entropy)
{
    key[0] = entropy;
    key[1] = ~entropy * 0x9E3779B97F4A7C15u;
}

static inline uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64u - bits);
}

static void sip_rounds(uint64_t v[4], unsigned rounds)
{
    for (; rounds > 0; rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

/* SipHash-2-4 of two words, 16 bytes. */
static uint64_t sip_hash(uint64_t first, uint64_t second)
{
    uint64_t v[4] = {
        key[0] ^ 0x736F6D6570736575u,
        key[1] ^ 0x646F72616E646F6Du,
        key[0] ^ 0x6C7967656E657261u,
        key[1] ^ 0x7465646279746573u,
    };
    sip_word(v, first);
    sip_word(v, second);
    sip_word(v, (uint64_t)16u << 56);
    v[2] ^= 0xFFu;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t cookie_of(const struct vxm_peer *peer, uint64_t period)
{
    uint64_t cookie = sip_hash((uint64_t)peer->address << 16 | peer->port, period);
    return cookie != 0 ? cookie : 1u;
}

static uint64_t period_of(uint64_t now)
{
    return now / ((uint64_t)vxm_agent.hz * PERIOD_SECONDS);
}

uint64_t vxm_cookie_make(const struct vxm_peer *peer, uint64_t now)
{
    return cookie_of(peer, period_of(now));
}

bool vxm_cookie_check(const struct vxm_peer *peer, uint64_t cookie, uint64_t now)
{
    uint64_t period = period_of(now);
    return cookie == cookie_of(peer, period) || (period > 0 && cookie == cookie_of(peer, period - 1u));
}
