#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that driver_formats.py names what a driver's source tree has and the program does not know, and nothing else.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
for tree in known new; do
	mkdir -p $tree/src
	printf '#define %s\n' 'ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS (79)' >$tree/nverror.h
	cat >$tree/src/gpu.c <<-'END'
		/* NV_PRINTF(LEVEL_ERROR, "a comment has halted\n"); */
		NV_PRINTF(LEVEL_INFO, "the GPU is lost in no log\n");
		NV_PRINTF(LEVEL_ERROR, "Xid of %d is fine\n", 1);
		NV_PRINTF(LEVEL_ERROR, "GSP RM heartbeat timed out at %llu "
				       "(last heartbeat %llu)\n", 1, 2);
		nv_printf(NV_DBG_ERRORS, "NVRM: GPU %04x:%02x:%02x.%x: RmInitAdapter failed! (0x%x)\n", 0, 1, 0, 0, 1);
	END
done
cat >>new/nverror.h <<-'END'
	#define A_NEW_FAULT (9176)
	// Error Levels
	#define NO_XID (9177)
END
cat >>new/src/gpu.c <<-'END'
	NV_PRINTF_COND(x, LEVEL_FATAL, LEVEL_ERROR, "the frobnicator "
		       "has halted\n");
	dev_err(dev, "the link is unusable\n");
END
formats=$top/tests/data/driver_formats.py
python3 -B "$formats" known "$program" >known.txt || fail "names in a tree that is known: $(<known.txt)"
! python3 -B "$formats" new "$program" >new.txt || fail "passes what is new"
diff - new.txt <<-'END' || fail "names something else"
	nverror.h: Xid 9176, A_NEW_FAULT
	gpu.c: the frobnicator has halted
	gpu.c: the link is unusable
END
exit $failed
