/* stub */
#include <stdbool.h>
#include <stddef.h>
enum kernel_line_kind {
	KERNEL_LINE_NONE, KERNEL_LINE_GPU_IDENTITY, KERNEL_LINE_GSP_RATE_LIMITED, KERNEL_LINE_RECOVERY,
	KERNEL_LINE_GPU_DRIVER_ERROR, KERNEL_LINE_KERNEL_EVENT };
struct kernel_line { enum kernel_line_kind kind; const char *name; char device[64]; char uuid[48]; char serial[24]; unsigned int follows_xid; };
static inline bool kernel_line_next(const char *text, size_t len, size_t *offset, struct kernel_line *out) { (void)text;(void)offset;(void)len;(void)out; return false; }
