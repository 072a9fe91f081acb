/* SPDX-License-Identifier: GPL-3.0-or-later
 * Preloaded by every program of the host: uname(2) tells the kernel that the host's packages are for, as a container
 * has no kernel of its own. dpkg's scripts, DKMS and Python ask it, and nothing else is changed. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

int uname(struct utsname *told)
{
	long status = syscall(SYS_uname, told);

	if (status == 0)
		strncpy(told->release, KERNEL, sizeof(told->release) - 1);
	return (int)status;
}
