// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module for tests that damages the kernel, by the name of NVIDIA's nvidia_uvm. /proc/xidscope-broken takes a command:
 * 	oops			uses a null pointer: the kernel kills the writer
 * 	warn			a failed WARN_ON()
 * 	refcount		a reference counter that falls below 0
 * 	corrupt			links an entry of a list twice
 * 	spin			runs until the writer is killed, for three minutes at most, and gives up no CPU
 * 	loop			the same for a quarter of an hour, and gives up the CPU when another task wants it, which no watchdog
 * 				of the kernel notices
 * 	hang			sleeps for 200 s, and nothing wakes it
 * After an oops it cannot be unloaded. */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

static noinline void uvm_broken_oops(void)
{
	int *volatile nowhere = NULL;

	WRITE_ONCE(*nowhere, 1);
}

static noinline void uvm_broken_warn(void)
{
	WARN_ON(1);
}

static noinline void uvm_broken_refcount(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	refcount_dec(&count);
}

static noinline void uvm_broken_corrupt(void)
{
	static LIST_HEAD(list);
	static struct list_head entry;

	list_add(&entry, &list);
	list_add(&entry, &list);
}

/* While a CPU spins, whoever would kill the writer may wait for that CPU. */
static __always_inline bool goes_on(unsigned long since, unsigned int seconds)
{
	cpu_relax(); /* an emulator runs another CPU meanwhile */
	return time_before(jiffies, since + seconds * HZ) && !fatal_signal_pending(current);
}

static noinline void uvm_broken_spin(void)
{
	unsigned long since = jiffies;

	preempt_disable();
	while (goes_on(since, 180))
		;
	preempt_enable();
}

static noinline void uvm_broken_loop(void)
{
	unsigned long since = jiffies;

	while (goes_on(since, 900))
		cond_resched();
}

static noinline void uvm_broken_hang(void)
{
	schedule_timeout_uninterruptible(200 * HZ);
	barrier(); /* or the function is left before */
}

static const struct {
	const char *command;
	void (*function)(void);
} commands[] = {
	{ "oops\n", uvm_broken_oops },         { "warn\n", uvm_broken_warn },
	{ "refcount\n", uvm_broken_refcount }, { "corrupt\n", uvm_broken_corrupt },
	{ "spin\n", uvm_broken_spin },         { "loop\n", uvm_broken_loop },
	{ "hang\n", uvm_broken_hang },
};

static ssize_t broken_write(struct file *file, const char __user *buffer, size_t count,
			    loff_t *position)
{
	char line[32];
	size_t i;

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buffer, count))
		return -EFAULT;
	line[count] = '\0';
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(line, commands[i].command)) {
			commands[i].function();
			return count;
		}
	return -EINVAL;
}

static const struct proc_ops broken_ops = {
	.proc_write = broken_write,
};

static int __init broken_init(void)
{
	return proc_create("xidscope-broken", 0200, NULL, &broken_ops) ? 0 : -ENOMEM;
}

static void __exit broken_exit(void)
{
	remove_proc_entry("xidscope-broken", NULL);
}

module_init(broken_init);
module_exit(broken_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("damages the kernel, for tests");
