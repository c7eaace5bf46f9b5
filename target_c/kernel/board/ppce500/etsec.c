/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The eTSEC Ethernet controller (P2020 reference manual, chapter 14), polled: a ring of received
 * frames, and one descriptor to send. The device copies a frame inside the store that starts it.
 */
#include "board.h"
#include "kernel/board.h"
#include "kernel/library.h"
#include "kernel/parameters.h"

#define ETSEC PLATFORM_BUS
#define ID 0x000u
#define EVENTS 0x010u
#define EVENT_MASK 0x014u
#define DMA_CONTROL 0x02Cu
#define TX_STATUS 0x104u
#define TX_BASE 0x204u
#define RX_STATUS 0x304u
#define RX_BYTES 0x340u
#define RX_BASE 0x404u
#define MAC_CONFIG1 0x500u
#define MAC_CONFIG2 0x504u
#define MAC_ADDRESS1 0x540u
#define MAC_ADDRESS2 0x544u

#define ID_ETSEC 0x0124u
#define EVENT_RX_FRAME 0x00000080u
#define WAIT_OR_POLL 1u
#define TX_HALT 0x80000000u
#define RX_HALT 0x00800000u
#define RX_TX_ENABLE 0x5u
#define FULL_DUPLEX_1000_PAD_CRC 0x7205u

#define TX_READY 0x8000u
#define TX_FLAGS 0xEC00u /* ready, pad, wrap, last, append the checksum */
#define RX_EMPTY 0x8000u
#define RX_WRAP 0x2000u
#define RX_INTERRUPT 0x1000u
#define RX_LAST 0x0800u
#define RX_ERRORS 0x003Fu /* too long, unaligned, short, wrong checksum, overrun, cut */

#define RX_FRAMES 256u /* QEMU 7.2 can crash when the ring is full: leave it room for a burst */
#define RX_BUFFER_BYTES 1984u
#define CRC_BYTES 4u

struct descriptor {
    volatile uint16_t flags;
    volatile uint16_t length;
    volatile uint32_t address;
};

static const uint8_t ethernet[6] = {0x02, 0x56, 0x58, 0x4D, 0x00, 0x01};

static struct descriptor rx[RX_FRAMES] __attribute__((aligned(8)));
static struct descriptor tx __attribute__((aligned(8)));
static uint8_t rx_buffer[RX_FRAMES][RX_BUFFER_BYTES] __attribute__((aligned(64)));
static unsigned rx_next;
static bool present, spanning; /* the last buffer was not its frame's last */

static void rx_offer(unsigned at)
{
    rx[at].length = 0;
    rx[at].flags = (uint16_t)(RX_EMPTY | RX_INTERRUPT | (at == RX_FRAMES - 1u ? RX_WRAP : 0u));
    __asm__ volatile("msync" ::: "memory");
}

static void begin(void)
{
    write32(ETSEC + MAC_CONFIG1, 0);
    write32(ETSEC + DMA_CONTROL, WAIT_OR_POLL);
    for (unsigned i = 0; i < RX_FRAMES; i++) {
        rx[i].address = (uint32_t)(uintptr_t)rx_buffer[i];
        rx_offer(i);
    }
    write32(ETSEC + RX_BASE, (uint32_t)(uintptr_t)rx);
    write32(ETSEC + RX_BYTES, RX_BUFFER_BYTES);
    write32(ETSEC + TX_BASE, (uint32_t)(uintptr_t)&tx);
    write32(ETSEC + MAC_ADDRESS1,
            (uint32_t)ethernet[5] << 24 | (uint32_t)ethernet[4] << 16 | (uint32_t)ethernet[3] << 8 | ethernet[2]);
    write32(ETSEC + MAC_ADDRESS2, (uint32_t)ethernet[1] << 24 | (uint32_t)ethernet[0] << 16);
    write32(ETSEC + MAC_CONFIG2, FULL_DUPLEX_1000_PAD_CRC);
    write32(ETSEC + MAC_CONFIG1, RX_TX_ENABLE);
    write32(ETSEC + RX_STATUS, RX_HALT);
}

/* An interrupt for a frame is of use only where idle time waits; polling finds it anyway. */
bool board_net_init(void)
{
    const char *idle = parameter("idle");

    present = read32(ETSEC + ID) >> 16 == ID_ETSEC;
    if (present) {
        begin();
        if (idle != NULL && text_equal(idle, "wait")) {
            write32(ETSEC + EVENT_MASK, EVENT_RX_FRAME);
            mpic_enable(IRQ_ETSEC_RX);
        }
    }
    return present;
}

void etsec_interrupt(void)
{
    write32(ETSEC + EVENTS, EVENT_RX_FRAME);
}

const uint8_t *board_net_address(void)
{
    return ethernet;
}

bool board_net_send(const uint8_t *frame, size_t bytes)
{
    if (!present || (tx.flags & TX_READY) != 0u) {
        return false;
    }
    tx.address = (uint32_t)(uintptr_t)frame;
    tx.length = (uint16_t)bytes;
    tx.flags = TX_FLAGS;
    write32(ETSEC + TX_STATUS, TX_HALT);
    return (tx.flags & TX_READY) == 0u;
}

bool board_net_pending(void)
{
    return present && (rx[rx_next].flags & RX_EMPTY) == 0u;
}

void board_net_release(void)
{
    rx_offer(rx_next);
    rx_next = (rx_next + 1u) % RX_FRAMES;
    write32(ETSEC + RX_STATUS, RX_HALT);
}

/* Does the next buffer hold a whole and good frame? The flag for a frame's first buffer is not kept by QEMU. */
static bool whole(void)
{
    const uint32_t flags = rx[rx_next].flags, length = rx[rx_next].length;
    const bool begins = !spanning;

    spanning = (flags & RX_LAST) == 0u;
    return begins && !spanning && (flags & RX_ERRORS) == 0u && length > CRC_BYTES && length <= RX_BUFFER_BYTES;
}

/* Frames that are damaged or span buffers are dropped, at most a ring of them in one call. */
size_t board_net_receive(const uint8_t **frame)
{
    for (unsigned i = 0; i < RX_FRAMES && board_net_pending(); i++) {
        if (whole()) {
            *frame = rx_buffer[rx_next];
            return rx[rx_next].length - CRC_BYTES;
        }
        board_net_release();
    }
    return 0;
}
