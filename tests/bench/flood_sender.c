/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flood-sender: the sending half of a target in a run, as fast as one process can. Another process has the socket up
 * to the start of the run and from its end on (tests/bench/flood.py). Consecutive valid blocks of some streams, made
 * from one datagram that comes on standard input: sequence, first index and CRC are set in each. Acknowledgements are
 * read; what they name missing is sent again. Figures go to standard output.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#define BATCH 64
#define STREAMS 8
#define TOGETHER 32 /* 65,507 bytes at most */
#define LARGEST 2048
#define HEADER 32
#define PREFIX 256
#define CHANNEL_AT 6
#define SEQUENCE_AT 12
#define LENGTH_AT 20
#define COVERED_AT 22
#define CRC_AT 28
#define ACK 6
#define TAG_COUNT 0x28
#define PAUSE_NS 50000
#define CLOSING_S 3.0
#define RESEND_S 0.02
#define RESENT_AT_ONCE 64

struct stream {
    uint64_t sent;
    uint64_t next; /* acknowledged below */
    uint64_t seen;
    double resent_at;
};

/* What all blocks share. `run` and `tail` are the payload before and behind stream, sequence and first index. */
static struct {
    uint8_t bytes[LARGEST];
    size_t run;
    size_t tail_at;
    size_t tail;
    size_t slots_at;
    size_t slots;
} template;

static struct {
    int socket;
    double rate; /* 0: as fast as acknowledgements allow */
    double seconds;
    unsigned streams;
    uint64_t window; /* blocks of a stream beyond the highest seen, 0: no matter how many */
    uint64_t records;
    unsigned together; /* datagrams that are given to the kernel as one */
} options;

static struct stream streams[STREAMS];
static uint64_t sent, resent, acks, waits;
static bool closing;

static uint32_t crc_table[8][256];

static void make_crc_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (crc & 1u ? 0xEDB88320u : 0);
        }
        crc_table[0][byte] = crc;
    }
    for (int slice = 1; slice < 8; slice++) {
        for (int byte = 0; byte < 256; byte++) {
            uint32_t before = crc_table[slice - 1][byte];
            crc_table[slice][byte] = (before >> 8) ^ crc_table[0][before & 255u];
        }
    }
}

/* CRC-32 by slices of eight bytes; the caller complements. */
static uint32_t crc32_more(uint32_t crc, const uint8_t *bytes, size_t length)
{
    for (; length >= 8; length -= 8, bytes += 8) {
        uint32_t low, high;
        memcpy(&low, bytes, 4);
        memcpy(&high, bytes + 4, 4);
        low ^= crc;
        crc = crc_table[7][low & 255u] ^ crc_table[6][low >> 8 & 255u] ^ crc_table[5][low >> 16 & 255u] ^
              crc_table[4][low >> 24] ^ crc_table[3][high & 255u] ^ crc_table[2][high >> 8 & 255u] ^
              crc_table[1][high >> 16 & 255u] ^ crc_table[0][high >> 24];
    }
    while (length-- > 0) {
        crc = (crc >> 8) ^ crc_table[0][(crc ^ *bytes++) & 255u];
    }
    return crc;
}

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value);
}

/* A field of protobuf: tag and number; left out when 0, as every encoder does. */
static uint8_t *put_field(uint8_t *at, uint8_t tag, uint64_t value)
{
    if (value == 0) {
        return at;
    }
    *at++ = tag;
    for (; value >= 0x80; value >>= 7) {
        *at++ = (uint8_t)(value | 0x80);
    }
    *at++ = (uint8_t)value;
    return at;
}

/* All of a block before its slots; returns its length. */
static size_t make_prefix(uint8_t *prefix, unsigned stream, uint64_t sequence)
{
    uint8_t *at = prefix + HEADER;
    memcpy(prefix, template.bytes, HEADER + template.run);
    at = put_field(at + template.run, 0x10, stream);
    at = put_field(at, 0x18, sequence);
    at = put_field(at, 0x20, sequence * options.records);
    memcpy(at, template.bytes + template.tail_at, template.tail);
    size_t covered = (size_t)(at - prefix) + template.tail - HEADER;
    put32(prefix + SEQUENCE_AT, (uint32_t)sequence);
    put16(prefix + LENGTH_AT, (uint32_t)(covered + template.slots));
    put16(prefix + COVERED_AT, (uint32_t)covered);
    uint32_t crc = crc32_more(~0u, prefix, CRC_AT);
    put32(prefix + CRC_AT, ~crc32_more(crc, prefix + HEADER, covered));
    return HEADER + covered;
}

/* Datagrams that wait to be sent. Those of one size that follow each other are one message: the kernel is told to cut
 * it (UDP_SEGMENT), and does so before they reach the receiver's socket. */
static struct {
    uint8_t prefixes[BATCH][PREFIX];
    struct iovec parts[BATCH][2];
    struct mmsghdr messages[BATCH];
    size_t sizes[BATCH]; /* of each message's datagrams */
    struct {
        _Alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(uint16_t))];
    } control[BATCH];
    unsigned datagrams;
    unsigned count; /* of messages */
} batch;

static void flush(void)
{
    unsigned done = 0;
    while (done < batch.count) {
        int count = sendmmsg(options.socket, batch.messages + done, batch.count - done, 0);
        if (count < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
            perror("flood-sender: sendmmsg");
            exit(1);
        }
        done += count > 0 ? (unsigned)count : 0;
    }
    batch.count = batch.datagrams = 0;
}

static void begin_message(struct iovec *parts, size_t size)
{
    struct msghdr *message = &batch.messages[batch.count].msg_hdr;
    batch.sizes[batch.count] = size;
    message->msg_iov = parts;
    message->msg_iovlen = 0;
    message->msg_control = batch.control[batch.count].bytes;
    message->msg_controllen = sizeof batch.control[batch.count].bytes;
    struct cmsghdr *control = CMSG_FIRSTHDR(message);
    uint16_t segment = (uint16_t)size;
    control->cmsg_level = IPPROTO_UDP;
    control->cmsg_type = UDP_SEGMENT;
    control->cmsg_len = CMSG_LEN(sizeof segment);
    memcpy(CMSG_DATA(control), &segment, sizeof segment);
    batch.count++;
}

static bool fits(size_t size)
{
    unsigned last = batch.count - 1;
    return batch.count > 0 && batch.sizes[last] == size &&
           batch.messages[last].msg_hdr.msg_iovlen < 2 * (size_t)options.together;
}

static void send_block(unsigned stream, uint64_t sequence)
{
    uint8_t *prefix = batch.prefixes[batch.datagrams];
    struct iovec *parts = batch.parts[batch.datagrams];
    size_t length = make_prefix(prefix, stream, sequence);
    batch.datagrams++;
    parts[0] = (struct iovec){prefix, length};
    parts[1] = (struct iovec){template.bytes + template.slots_at, template.slots};
    if (!fits(length + template.slots)) {
        begin_message(parts, length + template.slots);
    }
    batch.messages[batch.count - 1].msg_hdr.msg_iovlen += 2;
    if (batch.datagrams == BATCH) {
        flush();
    }
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---------------------------------------------------------------- acknowledgements */

static uint64_t take_number(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            break;
        }
    }
    return value;
}

/* Not while the run lasts: what the host cannot take must not become more. */
static void send_again(unsigned stream, uint64_t first, uint64_t count)
{
    uint64_t most = closing && count > RESENT_AT_ONCE ? RESENT_AT_ONCE : closing ? count : 0;
    for (uint64_t sequence = first; sequence < first + most && sequence < streams[stream].sent; sequence++) {
        send_block(stream, sequence);
        resent++;
    }
}

/* The numbers of a StreamAck; missing ranges follow `seen` in a message of their own each. */
static void take_stream(const uint8_t *at, const uint8_t *end)
{
    uint64_t numbers[4] = {0};
    bool may_resend = false, asked = false;
    while (at < end) {
        uint8_t tag = *at++;
        if (tag == 0x22) {
            uint64_t length = take_number(&at, end);
            const uint8_t *stop = length < (uint64_t)(end - at) ? at + length : end;
            uint64_t range[3] = {0};
            while (at < stop) {
                unsigned field = *at++ >> 3;
                range[field < 3 ? field : 0] = take_number(&at, stop);
            }
            if (!asked) {
                asked = true;
                may_resend = now() - streams[numbers[1] % STREAMS].resent_at >= RESEND_S;
                streams[numbers[1] % STREAMS].resent_at = may_resend ? now() : streams[numbers[1] % STREAMS].resent_at;
            }
            if (may_resend) {
                send_again((unsigned)numbers[1] % STREAMS, range[1], range[2]);
            }
        } else {
            numbers[(tag >> 3) & 3u] = take_number(&at, end);
        }
    }
    streams[numbers[1] % STREAMS].next = numbers[2];
    streams[numbers[1] % STREAMS].seen = numbers[3];
}

static void take_acknowledgement(const uint8_t *at, const uint8_t *end)
{
    acks++;
    while (at < end) {
        uint8_t tag = *at++;
        uint64_t value = take_number(&at, end);
        if (tag == 0x12) {
            const uint8_t *stop = value < (uint64_t)(end - at) ? at + value : end;
            take_stream(at, stop);
            at = stop;
        }
    }
}

static void take_all(void)
{
    uint8_t bytes[LARGEST];
    ssize_t length;
    while ((length = recv(options.socket, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        size_t end = (size_t)bytes[LENGTH_AT] << 8 | bytes[LENGTH_AT + 1];
        if (length > HEADER && bytes[CHANNEL_AT] == ACK && HEADER + end <= (size_t)length) {
            take_acknowledgement(bytes + HEADER, bytes + HEADER + end);
        }
    }
    flush();
}

static void pause_for(long ns)
{
    struct timespec time = {0, ns};
    (void)nanosleep(&time, NULL);
}

static void wait_for_host(void)
{
    struct pollfd poller = {.fd = options.socket, .events = POLLIN};
    (void)poll(&poller, 1, 1);
    take_all();
}

/* ---------------------------------------------------------------- the run */

static bool may_send(const struct stream *stream)
{
    return options.window == 0 || stream->sent < stream->seen + options.window;
}

/* One batch, the streams in turns; false when every stream has to wait. */
static bool send_some(uint64_t most)
{
    static unsigned turn;
    uint64_t before = sent;
    for (unsigned held = 0; held < options.streams && sent - before < most && sent - before < BATCH;) {
        struct stream *stream = &streams[turn];
        held++;
        for (unsigned i = 0; i < options.together && may_send(stream) && sent - before < BATCH; i++) {
            send_block(turn, stream->sent++);
            sent++;
            held = 0;
        }
        turn = (turn + 1) % options.streams;
    }
    flush();
    return sent > before;
}

static void send_run(void)
{
    double begin = now(), at = begin, looked = begin;
    while ((at = now()) - begin < options.seconds) {
        uint64_t due = options.rate > 0 ? (uint64_t)((at - begin) * options.rate) : sent + BATCH;
        if (at - looked > 0.0005) {
            looked = at;
            take_all();
        }
        if (due <= sent) {
            pause_for(PAUSE_NS);
        } else if (!send_some(due - sent)) {
            waits++;
            wait_for_host();
        }
    }
}

static uint64_t acknowledged(void)
{
    uint64_t sum = 0;
    for (unsigned stream = 0; stream < options.streams; stream++) {
        sum += streams[stream].next;
    }
    return sum;
}

static void await_last(void)
{
    double begin = now();
    closing = true;
    while (acknowledged() < sent && now() - begin < CLOSING_S) {
        wait_for_host();
    }
}

static void read_template(void)
{
    size_t length = fread(template.bytes, 1, sizeof template.bytes, stdin);
    const uint8_t *at = template.bytes + HEADER + 1;
    size_t covered = (size_t) template.bytes[COVERED_AT] << 8 | template.bytes[COVERED_AT + 1];
    (void)take_number(&at, template.bytes + length);
    template.run = (size_t)(at - template.bytes) - HEADER;
    template.tail_at = HEADER + template.run;
    template.tail = covered - template.run;
    template.slots_at = HEADER + covered;
    template.slots = length - template.slots_at;
    if (length <= HEADER + covered || covered > PREFIX - HEADER - 32 || *at != TAG_COUNT) {
        (void)fputs("flood-sender: no block on standard input\n", stderr);
        exit(2);
    }
}

static void tell(double seconds)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("{\"seconds\": %.6f, \"resent\": %llu, \"acks\": %llu, \"waits\": %llu, \"acknowledged\": %llu, "
                 "\"user_s\": %ld.%06ld, \"system_s\": %ld.%06ld, \"sent\": [",
                 seconds, (unsigned long long)resent, (unsigned long long)acks, (unsigned long long)waits,
                 (unsigned long long)acknowledged(), usage.ru_utime.tv_sec, usage.ru_utime.tv_usec,
                 usage.ru_stime.tv_sec, usage.ru_stime.tv_usec);
    for (unsigned stream = 0; stream < options.streams; stream++) {
        (void)printf("%s%llu", stream > 0 ? ", " : "", (unsigned long long)streams[stream].sent);
    }
    (void)puts("]}");
}

int main(int count, char **arguments)
{
    if (count != 8) {
        (void)fputs("usage: flood-sender SOCKET RATE SECONDS STREAMS WINDOW RECORDS TOGETHER < BLOCK\n", stderr);
        return 2;
    }
    options.socket = atoi(arguments[1]);
    options.rate = atof(arguments[2]);
    options.seconds = atof(arguments[3]);
    options.streams = (unsigned)atoi(arguments[4]);
    options.window = (uint64_t)atoll(arguments[5]);
    options.records = (uint64_t)atoll(arguments[6]);
    options.together = (unsigned)atoi(arguments[7]);
    if (options.streams < 1 || options.streams > STREAMS || options.together < 1 || options.together > TOGETHER) {
        (void)fputs("flood-sender: 1 to 8 streams, 1 to 32 together\n", stderr);
        return 2;
    }
    make_crc_tables();
    read_template();
    double begin = now();
    send_run();
    double seconds = now() - begin;
    await_last();
    tell(seconds);
    return 0;
}
