// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module for tests that damages the kernel, by the name of NVIDIA's nvidia_uvm. /proc/xidscope-broken takes a command:
 * 	oops			uses a null pointer: the kernel kills the writer
 * 	warn			a failed WARN_ON()
 * 	refcount		a reference counter that falls below 0
 * 	spin SECONDS		runs and gives up no CPU
 * 	loop SECONDS		runs and gives up the CPU when another task wants it, which no watchdog of the kernel notices
 * After an oops it cannot be unloaded. */
#include <linux/delay.h>
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

static noinline void uvm_broken_spin(unsigned long seconds)
{
	unsigned long end = jiffies + seconds * HZ;

	preempt_disable();
	while (time_before(jiffies, end))
		cpu_relax();
	preempt_enable();
}

static noinline void uvm_broken_loop(unsigned long seconds)
{
	unsigned long end = jiffies + seconds * HZ;

	while (time_before(jiffies, end) && !fatal_signal_pending(current))
		cond_resched();
}

static ssize_t broken_write(struct file *file, const char __user *buffer, size_t count,
			    loff_t *position)
{
	unsigned long seconds;
	char line[32];

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buffer, count))
		return -EFAULT;
	line[count] = '\0';
	if (!strcmp(line, "oops\n"))
		uvm_broken_oops();
	else if (!strcmp(line, "warn\n"))
		uvm_broken_warn();
	else if (!strcmp(line, "refcount\n"))
		uvm_broken_refcount();
	else if (sscanf(line, "spin %lu", &seconds) == 1)
		uvm_broken_spin(seconds);
	else if (sscanf(line, "loop %lu", &seconds) == 1)
		uvm_broken_loop(seconds);
	else
		return -EINVAL;
	return count;
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
