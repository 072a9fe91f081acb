// SPDX-License-Identifier: GPL-2.0-or-later
/* Stands in for a vendor's kernel module on the test machines: it is loaded, and that is all. */
#include <linux/init.h>
#include <linux/module.h>

static int __init stand_in_init(void)
{
	pr_info("ibready_vendor_stand_in: a stand-in for a vendor's module, for tests\n");
	return 0;
}

static void __exit stand_in_exit(void)
{
}

module_init(stand_in_init);
module_exit(stand_in_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION("1.0");
MODULE_DESCRIPTION("A stand-in for a vendor's module, for tests: it does nothing");
