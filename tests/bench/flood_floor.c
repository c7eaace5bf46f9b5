/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flood-floor: takes datagrams off a socket as vxmon does, by recvmmsg with the kernel's time stamps, and throws them
 * away: what the kernel alone costs. With a file it writes them too, each by its own part of one writev. Standard
 * output has the figures when nothing came for a second.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
#define BATCH 1024
#define STRIDE 2048
#define CONTROL 64
#define BUFFER (64 << 20)
#define QUIET_MS 1000
#define DROPS 8
#define GATHER_NS 1000000
/* What a packet block has before and behind the datagram. */
#define AROUND 60u

static uint8_t slots[BATCH][STRIDE];
static uint8_t control[BATCH][CONTROL];
static struct iovec parts[BATCH];
static struct mmsghdr messages[BATCH];

static int open_socket(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int size = BUFFER, on = 1, handle = socket(AF_INET, SOCK_DGRAM, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (handle < 0 || connect(handle, (struct sockaddr *)&to, sizeof to) != 0) {
        perror("flood-floor");
        exit(1);
    }
    if (setsockopt(handle, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0) {
        (void)setsockopt(handle, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    }
    (void)setsockopt(handle, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    return handle;
}

static void prepare(void)
{
    for (int i = 0; i < BATCH; i++) {
        parts[i].iov_base = slots[i];
        parts[i].iov_len = STRIDE;
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
        messages[i].msg_hdr.msg_control = control[i];
        messages[i].msg_hdr.msg_controllen = CONTROL;
    }
}

static void store(int file, int count)
{
    size_t whole = 0;
    for (int i = 0; i < count; i++) {
        parts[i].iov_len = messages[i].msg_len + AROUND;
        whole += parts[i].iov_len;
    }
    if (writev(file, parts, count) != (ssize_t)whole) {
        perror("flood-floor: writev");
        exit(1);
    }
}

static uint32_t dropped(int handle)
{
    uint32_t figures[16] = {0};
    socklen_t size = sizeof figures;
    (void)getsockopt(handle, SOL_SOCKET, SO_MEMINFO, figures, &size);
    return figures[DROPS];
}

static unsigned long receive_all(int handle, int file)
{
    struct pollfd poller = {.fd = handle, .events = POLLIN};
    struct timespec gather = {0, GATHER_NS};
    unsigned long received = 0;
    int count = 0;
    while (count == BATCH || poll(&poller, 1, QUIET_MS) > 0) {
        if (count < BATCH) {
            (void)nanosleep(&gather, NULL);
        }
        prepare();
        count = recvmmsg(handle, messages, BATCH, MSG_DONTWAIT, NULL);
        if (count > 0) {
            received += (unsigned long)count;
            if (file >= 0) {
                store(file, count);
            }
        }
    }
    return received;
}

int main(int count, char **arguments)
{
    if (count < 2) {
        (void)fputs("usage: flood-floor PORT [FILE]\n", stderr);
        return 2;
    }
    int handle = open_socket(atoi(arguments[1]));
    int file = count > 2 ? open(arguments[2], O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    struct rusage usage;
    (void)send(handle, "go", 2, 0);
    unsigned long received = receive_all(handle, file);
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("{\"received\": %lu, \"dropped\": %u, \"user_s\": %ld.%06ld, \"system_s\": %ld.%06ld}\n", received,
                 dropped(handle), usage.ru_utime.tv_sec, usage.ru_utime.tv_usec, usage.ru_stime.tv_sec,
                 usage.ru_stime.tv_usec);
    return 0;
}
