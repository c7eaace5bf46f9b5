/* SPDX-License-Identifier: Apache-2.0 */
#include "heartbeat.h"

#include <pb_encode.h>

#include "link.h"
#include "objects.h"
#include "text.h"
#include "upload.h"

#define HEARTBEAT_MS 1000u
#define END_TIMES 3u
#define END_INTERVAL_MS 20u

static uint64_t next_at;
static uint64_t echo;
static uint64_t echo_time;
static unsigned ends_left;
static uint64_t end_at;

/* One message at a time is made. */
static union {
    vxmon_TargetHeartbeat heartbeat;
    vxmon_End end;
} message;

void vxm_heartbeat_init(void)
{
    next_at = 0;
    echo = 0;
    echo_time = 0;
    ends_left = 0;
    end_at = 0;
}

void vxm_heartbeat_soon(void)
{
    next_at = 0;
}

void vxm_heartbeat_echo(uint64_t host_time)
{
    echo = host_time;
    echo_time = VXM_PORT_CLOCK64();
}

void vxm_end_begin(void)
{
    ends_left = END_TIMES;
    end_at = 0;
}

void vxm_end_cancel(void)
{
    ends_left = 0;
}

bool vxm_end_pending(void)
{
    return ends_left != 0;
}

static pb_size_t fill_streams(vxmon_StreamState *streams)
{
    for (unsigned i = 0; i < VXM_PORT_STREAMS; i++) {
        vxm_upload_state(i, &streams[i]);
    }
    return VXM_PORT_STREAMS;
}

void vxm_end_fill(vxmon_End *end)
{
    memset(end, 0, sizeof *end);
    end->run = vxm_agent.run;
    end->time = vxm_agent.stopped_at;
    end->reason = vxm_agent.stop_reason;
    end->streams_count = fill_streams(end->streams);
}

static void fill_heartbeat(vxmon_TargetHeartbeat *heartbeat)
{
    memset(heartbeat, 0, sizeof *heartbeat);
    heartbeat->clock_hz = vxm_agent.hz;
    vxm_text_copy(heartbeat->os_release, sizeof heartbeat->os_release, vxm_agent.table->os_release);
    heartbeat->table_fingerprint = vxm_agent.table->fingerprint;
    heartbeat->object_version = vxm_objects.version;
    heartbeat->run = vxm_agent.run;
    heartbeat->running = vxm_agent.running;
    if (vxm_agent.run != 0) {
        heartbeat->streams_count = fill_streams(heartbeat->streams);
    }
    heartbeat->has_link = true;
    heartbeat->link = (vxmon_LinkCounters){
        .sent = vxm_frame_counters.sent,
        .received = vxm_frame_counters.received,
        .refused = vxm_frame_counters.refused,
        .resent = vxm_frame_counters.resent,
        .send_failed = vxm_frame_counters.send_failed,
        .malformed = vxm_frame_counters.refusals[VXM_MALFORMED],
        .no_key = vxm_frame_counters.refusals[VXM_NO_KEY],
        .wrong_key = vxm_frame_counters.refusals[VXM_WRONG_KEY],
        .replayed = vxm_frame_counters.refusals[VXM_REPLAYED],
        .stranger = vxm_frame_counters.refusals[VXM_STRANGER],
        .unchecked = vxm_frame_counters.refusals[VXM_UNCHECKED],
    };
    heartbeat->echo = echo;
    heartbeat->echo_time = echo_time;
    heartbeat->time = VXM_PORT_CLOCK64();
}

/* These channels have no fragments: one datagram, whatever the size of the run's. */
static bool send(uint8_t channel, const pb_msgdesc_t *fields)
{
    static uint8_t bytes[vxmon_TargetHeartbeat_size > vxmon_End_size ? vxmon_TargetHeartbeat_size : vxmon_End_size];
    pb_ostream_t stream = pb_ostream_from_buffer(bytes, sizeof bytes);
    return pb_encode(&stream, fields, &message) &&
           vxm_frame_send(vxm_link_peer(), channel, bytes, stream.bytes_written, VXM_FRAME_MAX);
}

static bool end_is_due(uint64_t now)
{
    return ends_left != 0 && now >= end_at && !(vxm_agent.start.one_way && vxm_upload_uncut());
}

static enum vxm_work send_end(uint64_t now)
{
    vxm_end_fill(&message.end);
    if (!send(VXM_CHANNEL_END, vxmon_End_fields)) {
        return VXM_BLOCKED;
    }
    ends_left--;
    end_at = now + vxm_ticks_of_ms(END_INTERVAL_MS);
    return VXM_WORKED;
}

enum vxm_work vxm_heartbeat_step(uint64_t now)
{
    if (vxm_link_peer() == NULL) {
        return VXM_IDLE;
    }
    if (end_is_due(now)) {
        return send_end(now);
    }
    if (now < next_at) {
        return VXM_IDLE;
    }
    fill_heartbeat(&message.heartbeat);
    if (!send(VXM_CHANNEL_HEARTBEAT, vxmon_TargetHeartbeat_fields)) {
        return VXM_BLOCKED;
    }
    next_at = now + vxm_ticks_of_ms(HEARTBEAT_MS);
    return VXM_WORKED;
}
