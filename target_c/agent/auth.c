/* SPDX-License-Identifier: Apache-2.0 */
#include "auth.h"

#include <bearssl_hmac.h>

#include "state.h"

#define MAC_BYTES 16u
#define LABEL_BYTES 8u
#define NONCE_BYTES 8u
#define WINDOW 64u
/* So many HMACs are computed in a period; the last ones are kept for the controlling host. */
#define PERIOD_MS 20u
#define HMACS 8u
#define HMACS_HELLO 6u

static const char HOST[] = "vxm1host";
static const char TARGET[] = "vxm1targ";
static const char BOOT[] = "vxm1boot";

static struct {
    bool needed;
    br_hmac_key_context key;
    uint8_t nonce[NONCE_BYTES];
} auth;

/* The session of the controlling host. `came`: bit i, the number highest - i arrived. */
static struct {
    uint32_t session; /* the last one that began, 0: none in this boot */
    bool open;
    uint32_t highest;
    uint64_t came;
    uint32_t sent;
} state;

static struct {
    uint64_t since;
    uint32_t used;
} budget;

/* ------------------------------------------------------------------ keys */

/* The compiler must not leave this out because nobody reads it afterwards. */
static void wipe(volatile uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        at[i] = 0;
    }
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

size_t vxm_key_from_text(const char *text, size_t length, uint8_t key[VXM_KEY_MAX])
{
    while (length > 0 && is_space(text[length - 1u])) {
        length--;
    }
    while (length > 0 && is_space(*text)) {
        text++;
        length--;
    }
    if (length % 2u != 0 || length < 2u * VXM_KEY_MIN || length > 2u * VXM_KEY_MAX) {
        return 0;
    }
    for (size_t i = 0; i < length / 2u; i++) {
        int high = digit(text[2u * i]);
        int low = digit(text[2u * i + 1u]);
        if (high < 0 || low < 0) {
            return 0;
        }
        key[i] = (uint8_t)(high << 4 | low);
    }
    return length / 2u;
}

static void make_nonce(uint64_t entropy)
{
    br_hmac_context hmac;
    uint8_t bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(entropy >> (56u - 8u * i));
    }
    br_hmac_init(&hmac, &auth.key, NONCE_BYTES);
    br_hmac_update(&hmac, BOOT, LABEL_BYTES);
    br_hmac_update(&hmac, bytes, sizeof bytes);
    br_hmac_out(&hmac, auth.nonce);
}

int vxm_auth_init(uint64_t entropy)
{
    uint8_t key[VXM_KEY_MAX];
    size_t size = vxm_port_key(key);
    memset(&auth, 0, sizeof auth);
    memset(&state, 0, sizeof state);
    memset(&budget, 0, sizeof budget);
    if (size == 0) {
        return VXM_OK;
    }
    auth.needed = true;
    if (size < VXM_KEY_MIN || size > VXM_KEY_MAX) {
        return VXM_ERR_ARGUMENT;
    }
    br_hmac_key_init(&auth.key, &br_sha256_vtable, key, size);
    wipe(key, sizeof key);
    make_nonce(entropy);
    return VXM_OK;
}

bool vxm_auth_needed(void)
{
    return auth.needed;
}

/* ------------------------------------------------------------------ the HMAC */

/* Of a datagram up to and with the trailer's number. */
static void make_mac(uint8_t mac[MAC_BYTES], const char *label, const uint8_t *data, size_t size)
{
    br_hmac_context hmac;
    br_hmac_init(&hmac, &auth.key, MAC_BYTES);
    br_hmac_update(&hmac, label, LABEL_BYTES);
    br_hmac_update(&hmac, auth.nonce, NONCE_BYTES);
    br_hmac_update(&hmac, data, size);
    br_hmac_out(&hmac, mac);
}

/* Takes the same time wherever the difference is. */
static bool is_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
    uint8_t difference = 0;
    for (size_t i = 0; i < size; i++) {
        difference |= a[i] ^ b[i];
    }
    return difference == 0;
}

static bool mac_is_right(const struct vxm_frame *frame)
{
    uint8_t mac[MAC_BYTES];
    size_t covered = frame->size - MAC_BYTES;
    make_mac(mac, HOST, frame->data, covered);
    return is_equal(mac, frame->data + covered, MAC_BYTES);
}

/* May another HMAC be computed now, of `most` in this period? */
static bool afford(uint32_t most)
{
    uint64_t now = VXM_PORT_CLOCK64();
    if (now - budget.since >= vxm_ticks_of_ms(PERIOD_MS)) {
        budget.since = now;
        budget.used = 0;
    }
    if (budget.used >= most) {
        return false;
    }
    budget.used++;
    return true;
}

static enum vxm_refusal verify(const struct vxm_frame *frame, uint32_t most)
{
    if (!afford(most)) {
        return VXM_UNCHECKED;
    }
    return mac_is_right(frame) ? VXM_ACCEPTED : VXM_WRONG_KEY;
}

/* ------------------------------------------------------------------ sessions and numbers */

static bool is_new(uint32_t number)
{
    uint32_t below = state.highest - number;
    return number > state.highest || (below < WINDOW && (state.came >> below & 1u) == 0);
}

static void take_number(uint32_t number)
{
    if (number > state.highest) {
        uint32_t up = number - state.highest;
        state.came = up < WINDOW ? state.came << up : 0;
        state.highest = number;
    }
    state.came |= (uint64_t)1 << (state.highest - number);
}

void vxm_auth_challenge(vxmon_Challenge *challenge)
{
    challenge->nonce = 0;
    for (unsigned i = 0; i < NONCE_BYTES; i++) {
        challenge->nonce = challenge->nonce << 8 | auth.nonce[i];
    }
    challenge->session = state.session + 1u;
}

bool vxm_auth_in_session(const struct vxm_frame *frame)
{
    return state.open && frame->authenticated && frame->session == state.session;
}

enum vxm_refusal vxm_auth_check_hello(const struct vxm_frame *frame)
{
    if (!auth.needed) {
        return frame->authenticated ? VXM_NO_KEY : VXM_ACCEPTED;
    }
    if (!frame->authenticated) {
        return VXM_NO_KEY;
    }
    return frame->session == state.session + 1u ? verify(frame, HMACS_HELLO) : VXM_REPLAYED;
}

enum vxm_refusal vxm_auth_check(const struct vxm_frame *frame, bool from_controller)
{
    if (!auth.needed) {
        return frame->authenticated ? VXM_NO_KEY : from_controller ? VXM_ACCEPTED : VXM_STRANGER;
    }
    if (state.open && !from_controller) {
        return VXM_STRANGER;
    }
    if (!frame->authenticated) {
        return VXM_NO_KEY;
    }
    if (!vxm_auth_in_session(frame) || !is_new(frame->number)) {
        return VXM_REPLAYED;
    }
    enum vxm_refusal refusal = verify(frame, HMACS);
    if (refusal == VXM_ACCEPTED) {
        take_number(frame->number);
    }
    return refusal;
}

void vxm_auth_open(const struct vxm_frame *hello)
{
    if (auth.needed) {
        state.session++;
        state.open = true;
        state.highest = hello->number;
        state.came = 1;
        state.sent = 0;
    }
}

void vxm_auth_close(void)
{
    state.open = false;
}

/* ------------------------------------------------------------------ sending */

bool vxm_auth_seals(uint8_t channel)
{
    return state.open &&
           (channel == VXM_CHANNEL_REPLY || channel == VXM_CHANNEL_HEARTBEAT || channel == VXM_CHANNEL_END);
}

void vxm_auth_seal(uint8_t *data, size_t size)
{
    vxm_frame_put32(data + size, state.session);
    vxm_frame_put32(data + size + 4u, state.sent++);
    make_mac(data + size + 8u, TARGET, data, size + 8u);
}
