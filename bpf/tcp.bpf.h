/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read of a socket of TCP. */
#pragma once

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include "rpc.h"

static __always_inline void ends_of(struct rpc_ends *to, const struct sock *sk)
{
	*to = (struct rpc_ends){};
	to->local.family = to->remote.family = BPF_CORE_READ(sk, __sk_common.skc_family);
	to->local.port = BPF_CORE_READ(sk, __sk_common.skc_num);
	to->remote.port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (to->local.family == AF_INET) {
		bpf_core_read(to->local.bytes, 4, &sk->__sk_common.skc_rcv_saddr);
		bpf_core_read(to->remote.bytes, 4, &sk->__sk_common.skc_daddr);
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_rcv_saddr)) {
		bpf_core_read(to->local.bytes, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(to->remote.bytes, 16, &sk->__sk_common.skc_v6_daddr);
	}
}

static __always_inline void tcp_of(struct rpc_tcp *to, const struct sock *sk)
{
	const struct tcp_sock *tcp = (const void *)sk;

	to->segments = (__u64)BPF_CORE_READ(tcp, segs_in) + BPF_CORE_READ(tcp, segs_out);
	to->segments_lost = BPF_CORE_READ(tcp, total_retrans);
	if (bpf_core_field_exists(tcp->rcv_ooopack))
		to->segments_lost += BPF_CORE_READ(tcp, rcv_ooopack);
	if (!bpf_core_field_exists(tcp->bytes_received))
		return; /* a file of types from elsewhere may lack it */
	to->received_bytes = BPF_CORE_READ(tcp, bytes_received);
	to->rcv_wnd = BPF_CORE_READ(tcp, rcv_wnd);
	to->min_rtt = BPF_CORE_READ(tcp, rtt_min.s[0].v);
	to->srtt = BPF_CORE_READ(tcp, srtt_us) >> 3;
	to->unsent = BPF_CORE_READ(tcp, write_seq) - BPF_CORE_READ(tcp, snd_nxt);
}
