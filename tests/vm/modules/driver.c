// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A driver for tests that reports faults of GPUs that do not exist, as NVIDIA's driver does: it prints the text, then
 * fires its tracepoint. Two builds, each a module named nvidia:
 * 	tracepoint	as the open modules from 575 on, with nvidia:nvidia_dev_xid
 * 	text		text alone, as all others
 *
 * /proc/xidscope-driver takes commands, a line each:
 * 	raw TEXT				prints TEXT
 * 	dev ADDRESS TEXT			prints TEXT as is for that PCI device, as other drivers do
 * 	part TEXT				prints TEXT with no newline, as another driver may: the next message continues the line
 * 	xid ADDRESS CODE MESSAGE<tab>TEXT	prints TEXT, then fires the tracepoint
 * 	xid ADDRESS CODE MESSAGE		the tracepoint alone, as when the driver's option suppresses the text
 * 	sxid ADDRESS CODE MESSAGE<tab>TEXT	prints TEXT, as for an NVSwitch, whose tracepoint nobody reads
 * 	hang SECONDS [FILE]			sleeps so that nothing can wake it, and holds the lock of FILE's inode
 * 	count N COMMAND...			N times at full speed; the first %d in TEXT and in MESSAGE is the turn, from 0
 * In TEXT and MESSAGE, \n is a newline, \t a tab, and \\ a backslash. ADDRESS is as from pci_name(): 0000:c1:00.0. It
 * is the driver of the PCI devices that are bound to it by driver_override, with which it does nothing, and of as many made-up
 * GPUs as its parameter gpus says, but for those whose slots are set in its parameter refused. Lines may be
 * spread over several writes. Any other line fails with EINVAL. */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include "driver.h"
#ifdef DRIVER_TRACEPOINT
#define CREATE_TRACE_POINTS
#include "nvidia_trace.h"
#endif

#if defined(DRIVER_TRACEPOINT)
#define VERSION "575.57.08"
#define BANNER "NVIDIA UNIX Open Kernel Module for x86_64  " VERSION "  Release Build  (test@guest)"
#elif defined(DRIVER_TEXT)
#define VERSION "390.157"
#define BANNER "NVIDIA UNIX x86_64 Kernel Module  " VERSION "  Wed Oct 12 09:19:07 UTC 2022"
#else
#error "define DRIVER_TRACEPOINT or DRIVER_TEXT"
#endif

#define LINE_MAX_LENGTH 4096

struct gpu {
	struct list_head list;
	struct pci_dev pdev; /* nothing of it is valid but its name */
};

/* One open file: the line read so far, and room for what is made of it. */
struct session {
	size_t length;
	char line[LINE_MAX_LENGTH];
	char text[LINE_MAX_LENGTH + 16];
	char message[LINE_MAX_LENGTH + 16];
};

void nv_report_error(struct pci_dev *dev, u32 code, const char *message);

static LIST_HEAD(gpus);
static DEFINE_MUTEX(gpus_lock);
static DEFINE_SPINLOCK(print_lock);

/* NVIDIA's driver, too, prints with interrupts off, mostly without a level, as if it continued a line, and always from code
 * that stays in memory: the text of an __init function is gone when the agent looks for the caller. */
static noinline void print(const char *level, const char *text)
{
	unsigned long flags;

	spin_lock_irqsave(&print_lock, flags);
	printk("%s%s\n", level, text);
	spin_unlock_irqrestore(&print_lock, flags);
}

/* Finds the device of that name, or makes it up. NULL: no memory. */
static struct pci_dev *device(const char *name)
{
	struct gpu *gpu;

	mutex_lock(&gpus_lock);
	list_for_each_entry(gpu, &gpus, list) if (!strcmp(pci_name(&gpu->pdev), name)) goto unlock;
	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (gpu && dev_set_name(&gpu->pdev.dev, "%s", name)) {
		kfree(gpu);
		gpu = NULL;
	}
	if (gpu) {
		gpu->pdev.dev.bus = &pci_bus_type;
		list_add_tail(&gpu->list, &gpus);
	}
unlock:
	mutex_unlock(&gpus_lock);
	return gpu ? &gpu->pdev : NULL;
}

#ifdef DRIVER_TRACEPOINT
/* By this name the agent observes it. */
noinline void nv_report_error(struct pci_dev *dev, u32 code, const char *message)
{
	trace_nvidia_dev_xid(dev, code, message);
}
#endif

/* Decodes the escapes in place. */
static void decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		char c = *text;

		if (c == '\\' && text[1]) {
			c = *++text;
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		*to++ = c;
	}
	*to = '\0';
}

/* Writes the template for this turn to @to, which holds LINE_MAX_LENGTH + 16 bytes. */
static void expand(char *to, const char *template, bool numbered, u32 turn)
{
	const char *place = numbered ? strstr(template, "%d") : NULL;

	if (place)
		snprintf(to, LINE_MAX_LENGTH + 16, "%.*s%u%s", (int)(place - template), template,
			 turn, place + 2);
	else
		snprintf(to, LINE_MAX_LENGTH + 16, "%s", template);
}

static int hang(u32 seconds, const char *path)
{
	struct file *file = path ? filp_open(path, O_RDONLY, 0) : NULL;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (file)
		inode_lock(file_inode(file));
	schedule_timeout_uninterruptible(seconds * HZ);
	if (file) {
		inode_unlock(file_inode(file));
		fput(file);
	}
	return 0;
}

static int execute(struct session *session)
{
	char *rest = session->line, *command = strsep(&rest, " "), *word, *text = NULL,
	     *message = NULL;
	bool counted = !strcmp(command, "count"), part, for_device;
	u32 turns = 1, turn, code = 0;
	struct pci_dev *dev = NULL;

	if (counted) {
		word = strsep(&rest, " ");
		if (!word || kstrtou32(word, 10, &turns) || !rest)
			return -EINVAL;
		command = strsep(&rest, " ");
	}
	if (!rest)
		return -EINVAL;
	if (!strcmp(command, "hang")) {
		word = strsep(&rest, " ");
		if (kstrtou32(word, 10, &turns) || turns > 600)
			return -EINVAL;
		return hang(turns, rest);
	}
	part = !strcmp(command, "part");
	for_device = !strcmp(command, "dev");
	if (for_device) {
		dev = device(strsep(&rest, " "));
		text = rest;
		if (!dev || !text)
			return dev ? -EINVAL : -ENOMEM;
	} else if (part || !strcmp(command, "raw")) {
		text = rest;
	} else if (!strcmp(command, "xid") || !strcmp(command, "sxid")) {
		char *address = strsep(&rest, " ");

		word = strsep(&rest, " ");
		if (!*address || !word || kstrtou32(word, 10, &code) || !rest)
			return -EINVAL;
		message = strsep(&rest, "\t");
		text = rest;
		dev = device(address);
		if (!dev)
			return -ENOMEM;
		decode(message);
	} else {
		return -EINVAL;
	}
	if (text)
		decode(text);

	for (turn = 0; turn < turns; turn++) {
		if (text) {
			expand(session->text, text, counted, turn);
			if (part)
				printk(KERN_INFO "%s", session->text);
			else if (for_device)
				dev_printk_emit(LOGLEVEL_INFO, &dev->dev, "%s", session->text);
			else
				print(KERN_CONT, session->text);
		}
#ifdef DRIVER_TRACEPOINT
		if (message && *command != 's') {
			expand(session->message, message, counted, turn);
			nv_report_error(dev, code, session->message);
		}
#endif
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static int driver_open(struct inode *inode, struct file *file)
{
	file->private_data = kvzalloc(sizeof(struct session), GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

static ssize_t driver_write(struct file *file, const char __user *buffer, size_t count,
			    loff_t *position)
{
	struct session *session = file->private_data;
	size_t room = LINE_MAX_LENGTH - 1 - session->length, length;
	char *end;
	int err;

	/* At most the rest of one line: the result is the number of bytes taken, and the writer continues there. */
	if (!room)
		return -EINVAL;
	count = min(count, room);
	if (copy_from_user(session->line + session->length, buffer, count))
		return -EFAULT;
	end = memchr(session->line + session->length, '\n', count);
	if (!end) {
		session->length += count;
		return count;
	}
	*end = '\0';
	length = end + 1 - session->line - session->length;
	session->length = 0;
	err = session->line[0] ? execute(session) : 0;
	return err ? err : length;
}

static int driver_release(struct inode *inode, struct file *file)
{
	struct session *session = file->private_data;

	if (session->length) {
		session->line[session->length] = '\0';
		execute(session);
	}
	kvfree(session);
	return 0;
}

static const struct proc_ops driver_ops = {
	.proc_open = driver_open,
	.proc_write = driver_write,
	.proc_release = driver_release,
};

static unsigned int gpu_number, refused;
module_param_named(gpus, gpu_number, uint, 0);
module_param(refused, uint, 0);

static int probe(struct pci_dev *dev, const struct pci_device_id *id)
{
	return id->vendor && refused >> PCI_SLOT(dev->devfn) & 1 ? -EPERM : 0;
}

static const struct pci_device_id ids[] = {
	{ .vendor = 0x10de,
	  .device = PCI_ANY_ID,
	  .subvendor = PCI_ANY_ID,
	  .subdevice = PCI_ANY_ID,
	  .class = PCI_BASE_CLASS_DISPLAY << 16,
	  .class_mask = 0xff0000 },
	{},
};
static struct pci_driver pci_driver = { .name = "nvidia", .id_table = ids, .probe = probe };

static int __init nvidia_init_module(void)
{
	int err = gpus_add(gpu_number);

	if (err)
		return err;
	err = pci_register_driver(&pci_driver);
	if (!err && !proc_create("xidscope-driver", 0200, NULL, &driver_ops)) {
		pci_unregister_driver(&pci_driver);
		err = -ENOMEM;
	}
	if (err) {
		gpus_remove();
		return err;
	}
	/* By the driver's interface to the kernel, which gives a level. */
	print(KERN_ERR, "NVRM: loading " BANNER);
	return 0;
}

static void __exit nvidia_exit_module(void)
{
	struct gpu *gpu, *next;

	remove_proc_entry("xidscope-driver", NULL); /* waits for those who are writing */
	pci_unregister_driver(&pci_driver);
	gpus_remove();
	list_for_each_entry_safe(gpu, next, &gpus, list)
	{
		kfree_const(gpu->pdev.dev.kobj.name);
		kfree(gpu);
	}
}

module_init(nvidia_init_module);
module_exit(nvidia_exit_module);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VERSION);
MODULE_DESCRIPTION("reports made-up GPU faults in the way of NVIDIA's driver, for tests");
