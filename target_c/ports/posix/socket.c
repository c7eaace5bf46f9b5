/* SPDX-License-Identifier: Apache-2.0 */
#include "socket.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port.h"

#define SEND_BUFFER (4 << 20)
#define LARGEST 2048

static int handle = -1;

static struct sockaddr_in address_of(uint32_t address, uint16_t port)
{
    struct sockaddr_in to;
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(address);
    to.sin_port = htons(port);
    return to;
}

uint16_t vxm_posix_socket_open(uint16_t port)
{
    struct sockaddr_in local = address_of(INADDR_LOOPBACK, port);
    socklen_t size = sizeof local;
    int buffer = SEND_BUFFER;

    handle = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (handle < 0) {
        return 0;
    }
    (void)setsockopt(handle, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    (void)setsockopt(handle, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    if (bind(handle, (const struct sockaddr *)&local, sizeof local) != 0 ||
        getsockname(handle, (struct sockaddr *)&local, &size) != 0) {
        return 0;
    }
    return ntohs(local.sin_port);
}

void vxm_posix_socket_wait(int ms)
{
    struct pollfd poller = {.fd = handle, .events = POLLIN};
    (void)poll(&poller, 1, ms);
}

size_t vxm_posix_network_receive(struct vxm_peer *from, const uint8_t **data)
{
    static uint8_t bytes[LARGEST];
    struct sockaddr_in sender;
    socklen_t size = sizeof sender;
    ssize_t length = recvfrom(handle, bytes, sizeof bytes, 0, (struct sockaddr *)&sender, &size);

    if (length <= 0) {
        return 0;
    }
    from->address = ntohl(sender.sin_addr.s_addr);
    from->port = ntohs(sender.sin_port);
    *data = bytes;
    return (size_t)length;
}

bool vxm_posix_network_send(const struct vxm_peer *to, uint8_t *data, size_t length)
{
    struct sockaddr_in receiver = address_of(to->address, to->port);
    return sendto(handle, data, length, 0, (const struct sockaddr *)&receiver, sizeof receiver) == (ssize_t)length;
}
