#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Turns knfsd into a pNFS metadata server.

Usage: layout_proxy.py PORT DATA_SERVER. Listens on PORT of 127.0.0.1 and passes
NFSv4.1 on to the knfsd at port 2049, reports to its clients that there are
layouts, and answers their requests for them: each file is on DATA_SERVER (an IPv4
address of the same knfsd), and is read and written there over NFSv3.
Formats: RFC 5531 (RPC), RFC 8881 (NFSv4.1), RFC 8435 (flexible files layout).
"""
import socket
import struct
import sys
import threading

PUTFH, GETATTR, EXCHANGE_ID = 22, 9, 42
GETDEVICEINFO, LAYOUTGET, LAYOUTRETURN, SEQUENCE = 47, 50, 51, 53
NOTSUPP = 10004
FLEX_FILES = 4
NON_PNFS, PNFS_MDS = 0x10000, 0x20000
LAYOUT_TYPES = 62
# Lengths of the attributes before it that a client requests with it: lease time, the greatest file, read and
# write, the granularity of times.
LENGTHS = {10: 4, 27: 8, 30: 8, 31: 8, 51: 12}
LAYOUTGET_LENGTH = 60


def word(data, at):
    return struct.unpack_from(">I", data, at)[0]


def words(*values):
    return struct.pack(f">{len(values)}I", *values)


def opaque(data):
    return words(len(data)) + data + bytes(-len(data) % 4)


def after_opaque(data, at):
    return at + 4 + (word(data, at) + 3 & ~3)


def compound(data, at):
    """The offset of the number of operations, after a tag at @at."""
    return after_opaque(data, at)


def bits(bitmap):
    return [32 * i + bit for i, w in enumerate(bitmap) for bit in range(32) if w >> bit & 1]


def layout(handle, iomode):
    server = bytes(16) + words(1) + bytes(16) + words(1) + opaque(handle) + opaque(b"0") * 2
    # Neither LAYOUTCOMMIT nor I/O by way of the metadata server.
    body = struct.pack(">Q", 1 << 20) + words(1, 1) + server + words(3, 0)
    return words(LAYOUTGET, 0, 0) + words(1) + b"layout_proxy" + \
        words(1) + struct.pack(">QQ", 0, (1 << 64) - 1) + words(iomode, FLEX_FILES) + opaque(body)


def device(address):
    body = words(1) + opaque(b"tcp") + opaque(f"{address}.8.1".encode()) + words(1, 3, 0, 65536, 65536, 0)
    return words(GETDEVICEINFO, 0, FLEX_FILES) + opaque(body) + words(0)


def with_layout_types(reply):
    """The answer to SEQUENCE, PUTFH, GETATTR, with a layout type added."""
    at = compound(reply, after_opaque(reply, 16) + 8) + 4  # the first operation
    at += 8 + 36 + 8
    if word(reply, at) != GETATTR or word(reply, at + 4):
        return reply
    count = word(reply, at + 8)
    bitmap = list(struct.unpack_from(f">{count}I", reply, at + 12)) + [0, 0]
    values = at + 12 + 4 * count
    inside = sum(LENGTHS[bit] for bit in bits(bitmap) if bit < LAYOUT_TYPES)
    data = reply[values + 4:values + 4 + word(reply, values)]
    rest = inside + 4 if LAYOUT_TYPES in bits(bitmap) else inside  # knfsd's list is empty
    bitmap[1] |= 1 << LAYOUT_TYPES - 32
    bitmap = bitmap[:max(count, 2)]
    return reply[:at + 8] + words(len(bitmap), *bitmap) + \
        opaque(data[:inside] + words(1, FLEX_FILES) + data[rest:])


def with_flags(reply):
    at = compound(reply, after_opaque(reply, 16) + 8) + 4 + 8 + 12
    return reply[:at] + words(word(reply, at) & ~NON_PNFS | PNFS_MDS) + reply[at + 4:]


def with_answer(reply, answer):
    """One more operation answered; if all before it went well."""
    status = after_opaque(reply, 16) + 4
    number = compound(reply, status + 4)
    if word(reply, status):
        return reply
    return reply[:status] + answer[4:8] + reply[status + 4:number] + \
        words(word(reply, number) + 1) + reply[number + 4:] + answer


class Connection:
    def __init__(self, client, data_server):
        self.client, self.data_server = client, data_server
        self.server = socket.create_connection(("127.0.0.1", 2049))
        self.pending = {}
        for source, sink, change in ((self.client, self.server, self.call),
                                     (self.server, self.client, self.reply)):
            threading.Thread(target=self.pump, args=(source, sink, change), daemon=True).start()

    @staticmethod
    def pump(source, sink, change):
        stream = source.makefile("rb")
        data = b""
        while header := stream.read(4):
            data += stream.read(word(header, 0) & 0x7fffffff)
            if header[0] & 0x80:
                data = change(data)
                sink.sendall(words(len(data) | 0x80000000) + data)
                data = b""
        sink.shutdown(socket.SHUT_WR)

    def call(self, data):
        """Removes from a call what knfsd cannot answer, and records how to change the answer."""
        if word(data, 4) != 0 or word(data, 20) != 1:
            return data  # a callback's answer, or NULL
        tag = after_opaque(data, after_opaque(data, 28) + 4)
        number = compound(data, tag) + 4  # after the minor version
        xid, count, at = data[:4], word(data, number), number + 4
        if word(data, at) == EXCHANGE_ID:
            self.pending[xid] = with_flags
        if word(data, at) != SEQUENCE or count < 2:
            return data
        at += 36
        handle = b""
        if word(data, at) == PUTFH and count > 2:
            handle = data[at + 8:at + 8 + word(data, at + 4)]
            at = after_opaque(data, at + 4)
        op, answer = word(data, at), None
        if op == GETATTR and count == 3 and word(data, at + 4) > 1 and \
                word(data, at + 12) >> LAYOUT_TYPES - 32 & 1:
            self.pending[xid] = with_layout_types
        elif op == LAYOUTGET:
            answer = layout(handle, word(data, at + 12))
        elif op == LAYOUTRETURN and count == 3:
            answer = words(LAYOUTRETURN, 0, 0)
        elif op == GETDEVICEINFO:
            answer = device(self.data_server)
        elif words(LAYOUTGET) == data[-LAYOUTGET_LENGTH:4 - LAYOUTGET_LENGTH] and \
                word(data, len(data) - LAYOUTGET_LENGTH + 8) == FLEX_FILES:
            at = len(data) - LAYOUTGET_LENGTH  # along with an OPEN, whose file is unknown here
            answer = words(LAYOUTGET, NOTSUPP)
        if not answer:
            return data
        self.pending[xid] = lambda reply: with_answer(reply, answer)
        return data[:number] + words(count - 1) + data[number + 4:at]

    def reply(self, data):
        if word(data, 4) != 1:
            return data  # a callback
        change = self.pending.pop(data[:4], None)
        return change(data) if change else data


def main():
    with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listener:
        while True:
            Connection(listener.accept()[0], sys.argv[2])


main()
