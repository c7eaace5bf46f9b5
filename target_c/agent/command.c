/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <pb_decode.h>
#include <pb_encode.h>

#include "acquire.h"
#include "auth.h"
#include "config.h"
#include "cookie.h"
#include "fragments.h"
#include "heartbeat.h"
#include "link.h"
#include "run.h"
#include "tables.h"
#include "text.h"
#include "upload.h"
#include "vxm/generated/events.h"

/* The last reply to the controlling host, for a request that comes again. */
static struct {
    uint32_t request; /* 0: none */
    size_t size;
    uint8_t bytes[vxmon_Reply_size];
} last;

/* One message at a time is served. */
static vxmon_Command command;
static vxmon_Reply reply;
static vxmon_Ack ack;
static struct vxm_text words;

void vxm_command_init(void)
{
    memset(&last, 0, sizeof last);
}

/* ------------------------------------------------------------------ commands of the controlling host */

static vxmon_Result do_info(void)
{
    reply.which_body = vxmon_Reply_info_tag;
    vxm_tables_fill_info(&reply.body.info);
    return vxmon_Result_OK;
}

/* A start without a configuration takes the one that was configured. */
static vxmon_Result start_config(struct vxm_run_config *config, const vxmon_Start *start)
{
    if (start->has_config || !vxm_agent.configured) {
        return vxm_config_from_message(config, &start->config, &words);
    }
    *config = vxm_agent.configuration;
    return vxmon_Result_OK;
}

static vxmon_Result do_start(const vxmon_Start *start)
{
    struct vxm_run_config config;
    vxmon_Result result = start_config(&config, start);
    if (result == vxmon_Result_OK) {
        result = vxm_run_start(&config, &words);
    }
    if (result == vxmon_Result_OK) {
        reply.which_body = vxmon_Reply_started_tag;
        reply.body.started.run = vxm_agent.run;
        reply.body.started.time = vxm_agent.started_at;
        reply.body.started.has_config = true;
        vxm_config_to_message(&reply.body.started.config, &vxm_agent.start);
    }
    return result;
}

static vxmon_Result do_configure(const vxmon_Configure *configure)
{
    struct vxm_run_config config;
    vxmon_Result result = vxm_config_from_message(&config, &configure->config, &words);
    if (result == vxmon_Result_OK) {
        result = vxm_run_configure(&config, configure->check_only, &words);
    }
    if (result == vxmon_Result_OK) {
        reply.which_body = vxmon_Reply_config_tag;
        vxm_config_to_message(&reply.body.config, &config);
    }
    return result;
}

static vxmon_Result do_memory(const vxmon_MemoryRequest *request)
{
    vxmon_Result result = vxm_acquire_memory(request, &reply.body.memory, &words);
    if (result == vxmon_Result_OK) {
        reply.which_body = vxmon_Reply_memory_tag;
    }
    return result;
}

static vxmon_Result do_log(const vxmon_LogRequest *request)
{
    vxmon_Result result = vxm_acquire_log(request, &reply.body.log, &words);
    if (result == vxmon_Result_OK) {
        reply.which_body = vxmon_Reply_log_tag;
    }
    return result;
}

/* Of a run that is over already the end is told again: the host may have missed it. */
static vxmon_Result do_stop(void)
{
    vxmon_Result result = vxm_run_stop(VXM_STOP_REASON_HOST, &words);
    if (vxm_agent.run != 0) {
        reply.which_body = vxmon_Reply_end_tag;
        vxm_end_fill(&reply.body.end);
    }
    return result;
}

static vxmon_Result do_trigger(const vxmon_Trigger *trigger)
{
    if (!vxm_agent.running) {
        vxm_text_add(&words, "not recording");
        return vxmon_Result_STATE;
    }
    if (!vxm_enabled(VXM_EVENT_MARK)) {
        vxm_text_add(&words, "event MARK is switched off in this run");
        return vxmon_Result_STATE;
    }
    if (trigger->number > UINT16_MAX) {
        vxm_text_add(&words, "a mark's number is 0-65535");
        return vxmon_Result_LIMIT;
    }
    vxm_mark((uint16_t)trigger->number, trigger->text);
    return vxmon_Result_OK;
}

static vxmon_Result do_scenario(const vxmon_Scenario *scenario)
{
    char name[sizeof scenario->name];
    vxm_text_copy(name, sizeof name, scenario->name);
    if (vxm_port_scenario(name)) {
        return vxmon_Result_OK;
    }
    vxm_text_add(&words, "no scenario is called '");
    vxm_text_add(&words, name);
    vxm_text_add(&words, "'");
    return vxmon_Result_UNSUPPORTED;
}

static vxmon_Result do_command(void)
{
    switch (command.which_body) {
    case vxmon_Command_info_tag:
        return do_info();
    case vxmon_Command_tables_tag:
        vxm_tables_request();
        return vxmon_Result_OK;
    case vxmon_Command_start_tag:
        return do_start(&command.body.start);
    case vxmon_Command_stop_tag:
        return do_stop();
    case vxmon_Command_trigger_tag:
        return do_trigger(&command.body.trigger);
    case vxmon_Command_scenario_tag:
        return do_scenario(&command.body.scenario);
    case vxmon_Command_filter_tag:
        return vxm_run_filter(command.body.filter.event, command.body.filter.on, &words);
    case vxmon_Command_configure_tag:
        return do_configure(&command.body.configure);
    case vxmon_Command_memory_tag:
        return do_memory(&command.body.memory);
    case vxmon_Command_log_tag:
        return do_log(&command.body.log);
    case vxmon_Command_bye_tag:
        return vxmon_Result_OK; /* control ends when the reply is on its way */
    default:
        vxm_text_add(&words, "this target does not know the command");
        return vxmon_Result_UNKNOWN;
    }
}

/* ------------------------------------------------------------------ replies */

static void begin_reply(uint32_t request)
{
    memset(&reply, 0, sizeof reply);
    reply.request = request;
    vxm_text_begin(&words, reply.text, sizeof reply.text);
}

static void answer(const struct vxm_peer *to)
{
    pb_ostream_t stream = pb_ostream_from_buffer(last.bytes, sizeof last.bytes);
    last.size = pb_encode(&stream, vxmon_Reply_fields, &reply) ? stream.bytes_written : 0;
    last.request = reply.request;
    /* A reply that gets lost is asked for again, so the result of sending does not matter. */
    struct vxm_message message = {
        .peer = *to,
        .channel = VXM_CHANNEL_REPLY,
        .sealed = vxm_auth_seals(VXM_CHANNEL_REPLY),
        .body = last.bytes,
        .body_size = last.size,
    };
    if (vxm_message_begin(&message, vxm_datagram_bytes())) {
        vxm_fragments_keep(&message, vxm_datagram_bytes());
        vxm_fragments_repeat_reply();
    }
}

/* Never more than the stranger has sent: first without words, else not at all. */
static void answer_stranger(const struct vxm_peer *to, size_t received)
{
    static uint8_t bytes[vxmon_Reply_size];
    pb_ostream_t stream = pb_ostream_from_buffer(bytes, received < sizeof bytes ? received : sizeof bytes);
    if (!pb_encode(&stream, vxmon_Reply_fields, &reply)) {
        reply.text[0] = '\0';
        stream = pb_ostream_from_buffer(bytes, received < sizeof bytes ? received : sizeof bytes);
        if (!pb_encode(&stream, vxmon_Reply_fields, &reply)) {
            vxm_frame_refuse(VXM_MALFORMED);
            return;
        }
    }
    (void)vxm_frame_send_plain(to, VXM_CHANNEL_REPLY, bytes, stream.bytes_written, VXM_FRAME_MAX);
}

/* ------------------------------------------------------------------ who may ask */

static void answer_cookie(const struct vxm_peer *from, size_t received, uint64_t now)
{
    reply.result = vxmon_Result_COOKIE;
    reply.which_body = vxmon_Reply_cookie_tag;
    reply.body.cookie = vxm_cookie_make(from, now);
    reply.has_challenge = vxm_auth_needed();
    if (reply.has_challenge) {
        vxm_auth_challenge(&reply.challenge);
    }
    answer_stranger(from, received);
}

/* To one whose cookie was right. What was overtaken by another session is told the next one. */
static void refuse_hello(const struct vxm_peer *from, size_t received, enum vxm_refusal refusal)
{
    vxm_frame_refuse(refusal);
    if (refusal == VXM_REPLAYED) {
        answer_cookie(from, received, VXM_PORT_CLOCK64());
    } else if (vxm_auth_needed() && refusal != VXM_UNCHECKED) {
        reply.result = vxmon_Result_KEY;
        vxm_text_add(&words, refusal == VXM_NO_KEY ? "a key is needed" : "the key is not that of this target");
        answer_stranger(from, received);
    }
}

static void serve_hello(const struct vxm_peer *from, const struct vxm_frame *frame)
{
    uint64_t now = VXM_PORT_CLOCK64();
    begin_reply(command.request);
    if (!vxm_cookie_check(from, command.body.hello.cookie, now)) {
        answer_cookie(from, frame->length, now);
        return;
    }
    enum vxm_refusal refusal = vxm_auth_check_hello(frame);
    if (refusal != VXM_ACCEPTED) {
        refuse_hello(from, frame->length, refusal);
        return;
    }
    if (!vxm_link_take(from)) {
        reply.result = vxmon_Result_BUSY;
        vxm_text_add(&words, "another host controls this target");
        answer_stranger(from, frame->length);
        return;
    }
    vxm_auth_open(frame);
    answer(from);
}

/* Requests grow; one that is older than the last was overtaken on its way and is not served. */
static bool is_overtaken(uint32_t request)
{
    return last.request != 0 && (int32_t)(request - last.request) < 0;
}

static void serve_command(const struct vxm_peer *from, bool decoded)
{
    if (is_overtaken(command.request)) {
        vxm_frame_refuse(VXM_REPLAYED);
        return;
    }
    begin_reply(command.request);
    if (decoded) {
        reply.result = do_command();
    } else {
        reply.result = vxmon_Result_LIMIT;
        vxm_text_add(&words, "the command is malformed or longer than this target takes");
    }
    answer(from);
    if (decoded && command.which_body == vxmon_Command_bye_tag) {
        vxm_link_release();
        vxm_end_cancel();
    }
}

/* A first hello is plain, the next one begins the session it is in; all others must belong to one. */
static bool is_hello(const struct vxm_frame *frame, bool decoded)
{
    return decoded && command.request != 0 && command.which_body == vxmon_Command_hello_tag &&
           !vxm_auth_in_session(frame);
}

static void take_command(const struct vxm_peer *from, const struct vxm_frame *frame)
{
    pb_istream_t stream = pb_istream_from_buffer(frame->payload, frame->length);
    memset(&command, 0, sizeof command);
    bool decoded = pb_decode(&stream, vxmon_Command_fields, &command);
    bool controller = vxm_link_is_controller(from);

    if (is_hello(frame, decoded) && !(controller && command.request == last.request && !vxm_auth_needed())) {
        serve_hello(from, frame);
        return;
    }
    enum vxm_refusal refusal = vxm_auth_check(frame, controller);
    if (refusal == VXM_ACCEPTED && command.request == 0) {
        refusal = VXM_MALFORMED;
    }
    if (refusal != VXM_ACCEPTED) {
        vxm_frame_refuse(refusal);
        return;
    }
    vxm_link_heard();
    if (command.request == last.request) {
        vxm_fragments_repeat_reply();
    } else {
        serve_command(from, decoded);
    }
}

static void take_ack(const struct vxm_frame *frame)
{
    pb_istream_t stream = pb_istream_from_buffer(frame->payload, frame->length);
    memset(&ack, 0, sizeof ack);
    if (!pb_decode(&stream, vxmon_Ack_fields, &ack)) {
        vxm_frame_refuse(VXM_MALFORMED);
        return;
    }
    vxm_link_heard();
    if (vxm_agent.run == 0 || ack.run != vxm_agent.run) {
        return; /* late, of a run before */
    }
    for (pb_size_t i = 0; i < ack.streams_count; i++) {
        if (!vxm_upload_acknowledge(&ack.streams[i])) {
            vxm_frame_refuse(VXM_MALFORMED);
        }
    }
}

static void take_heartbeat(const struct vxm_frame *frame)
{
    vxmon_HostHeartbeat heartbeat = vxmon_HostHeartbeat_init_zero;
    pb_istream_t stream = pb_istream_from_buffer(frame->payload, frame->length);
    if (!pb_decode(&stream, vxmon_HostHeartbeat_fields, &heartbeat)) {
        vxm_frame_refuse(VXM_MALFORMED);
        return;
    }
    vxm_link_heard();
    vxm_heartbeat_echo(heartbeat.time);
}

static void take_fragment_request(const struct vxm_peer *from, const struct vxm_frame *frame)
{
    vxmon_FragmentRequest request = vxmon_FragmentRequest_init_zero;
    pb_istream_t stream = pb_istream_from_buffer(frame->payload, frame->length);
    if (!pb_decode(&stream, vxmon_FragmentRequest_fields, &request)) {
        vxm_frame_refuse(VXM_MALFORMED);
        return;
    }
    vxm_link_heard();
    vxm_fragments_want(from, &request);
}

static void serve(const struct vxm_peer *from, const struct vxm_frame *frame)
{
    if (frame->channel == VXM_CHANNEL_COMMAND) {
        take_command(from, frame);
        return;
    }
    enum vxm_refusal refusal = vxm_auth_check(frame, vxm_link_is_controller(from));
    if (refusal != VXM_ACCEPTED) {
        vxm_frame_refuse(refusal);
    } else if (frame->channel == VXM_CHANNEL_ACK) {
        take_ack(frame);
    } else if (frame->channel == VXM_CHANNEL_HEARTBEAT) {
        take_heartbeat(frame);
    } else if (frame->channel == VXM_CHANNEL_RESEND) {
        take_fragment_request(from, frame);
    } else {
        vxm_frame_refuse(VXM_MALFORMED);
    }
}

enum vxm_work vxm_command_step(void)
{
    struct vxm_peer from = {0, 0};
    const uint8_t *data = NULL;
    struct vxm_frame frame;
    size_t size = vxm_port_receive(&from, &data);
    if (size == 0) {
        return VXM_IDLE;
    }
    if (vxm_frame_check(data, size, &frame)) {
        serve(&from, &frame);
    }
    return VXM_WORKED;
}
