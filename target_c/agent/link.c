/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include "auth.h"
#include "heartbeat.h"
#include "state.h"
#include "upload.h"
#include "vxm/hooks.h"

/* Three heartbeats, one a second. */
#define LOST_MS 3000u

static struct {
    struct vxm_peer peer;
    bool has_peer;
    bool controlled;
    bool lost;
    uint64_t heard_at;
} link;

void vxm_link_init(void)
{
    memset(&link, 0, sizeof link);
}

static bool same(const struct vxm_peer *a, const struct vxm_peer *b)
{
    return a->address == b->address && a->port == b->port;
}

static void record(uint16_t state)
{
    if (vxm_agent.running) {
        vxm_link(state, link.peer.address, link.peer.port);
    }
    vxm_heartbeat_soon();
}

/*
 * A host that takes over has nothing yet: all that is still held is for it, and the end of a run that was
 * over before the former host had everything.
 */
static void hand_over(void)
{
    vxm_upload_forget_acknowledgements();
    if (vxm_agent.run != 0 && !vxm_agent.running && vxm_upload_busy()) {
        vxm_end_begin();
    }
}

void vxm_link_assume(const struct vxm_peer *peer)
{
    link.peer = *peer;
    link.has_peer = true;
    link.controlled = !vxm_agent.config.start.one_way;
    link.lost = false;
    link.heard_at = VXM_PORT_CLOCK64();
}

bool vxm_link_take(const struct vxm_peer *peer)
{
    bool another = !link.has_peer || !same(&link.peer, peer);
    if (link.controlled && !link.lost && another) {
        return false;
    }
    bool was_lost = link.lost;
    link.peer = *peer;
    link.has_peer = true;
    link.controlled = true;
    link.lost = false;
    link.heard_at = VXM_PORT_CLOCK64();
    if (another) {
        record(VXM_LINK_STATE_MOVED);
        hand_over();
    } else if (was_lost) {
        record(VXM_LINK_STATE_UP);
    }
    return true;
}

void vxm_link_release(void)
{
    vxm_auth_close();
    link.controlled = false;
    link.has_peer = false;
    link.lost = false;
}

bool vxm_link_is_controller(const struct vxm_peer *peer)
{
    return link.controlled && same(&link.peer, peer);
}

void vxm_link_heard(void)
{
    link.heard_at = VXM_PORT_CLOCK64();
    if (link.lost) {
        link.lost = false;
        record(VXM_LINK_STATE_UP);
    }
}

void vxm_link_tick(uint64_t now)
{
    if (!link.controlled || link.lost || now < link.heard_at || now - link.heard_at < vxm_ticks_of_ms(LOST_MS)) {
        return;
    }
    if (vxm_agent.running) {
        link.lost = true;
        record(VXM_LINK_STATE_LOST);
    } else {
        vxm_link_release();
    }
}

const struct vxm_peer *vxm_link_peer(void)
{
    return link.has_peer ? &link.peer : NULL;
}

bool vxm_link_open(void)
{
    return link.has_peer && (vxm_agent.start.one_way || !link.lost);
}
