#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs inside a container of the node image, which then becomes the EL stand-in: dnf and rpm in
# Debian's userland, and the files by which a Rocky Linux 9.4 is known.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends dnf dnf-plugins-core python3-dnf rpm >/dev/null

rm -f /etc/os-release /etc/lsb-release /etc/debian_version
rm -rf /etc/apt /var/lib/apt /var/cache/apt
cat > /usr/lib/os-release <<'RELEASE'
NAME="Rocky Linux"
VERSION="9.4 (Blue Onyx)"
ID="rocky"
ID_LIKE="rhel centos fedora"
VERSION_ID="9.4"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Rocky Linux 9.4 (Blue Onyx)"
LOGO="fedora-logo-icon"
CPE_NAME="cpe:/o:rocky:rocky:9::baseos"
SUPPORT_END="2032-05-31"
RELEASE
ln -s ../usr/lib/os-release /etc/os-release
for name in redhat-release rocky-release system-release; do
    echo 'Rocky Linux release 9.4 (Blue Onyx)' > "/etc/$name"
done

# Nothing may find the packages of another family: they are Debian's own affair here.
away=/usr/local/lib/ibready-sandbox/debian
mkdir -p "$away"
for tool in /usr/bin/apt /usr/bin/apt-* /usr/bin/dpkg /usr/bin/dpkg-* /usr/sbin/dpkg-*; do
    if [ -e "$tool" ]; then mv "$tool" "$away/"; fi
done
mv /var/lib/dpkg "$away/database"

# Of the plugins only what EL has as well; the one for a local repository wants one to be there.
for plugin in /etc/dnf/plugins/*.conf; do
    case "$plugin" in
    */versionlock.conf) ;;
    *) printf '[main]\nenabled = 0\n' > "$plugin" ;;
    esac
done

# It complains on every call that it lacks a module of systemd's.
rm -f /usr/lib/python3/dist-packages/dnf-plugins/system_upgrade.py

mkdir -p /etc/dnf/vars /etc/rpm /etc/yum.repos.d /var/lib/rpm
echo 9 > /etc/dnf/vars/releasever
cat > /etc/dnf/dnf.conf <<'CONF'
[main]
gpgcheck=1
installonly_limit=3
clean_requirements_on_remove=True
best=True
skip_if_unavailable=False
module_platform_id=platform:el9
CONF
# Debian's rpm keeps a user's own database in the home directory, and warns whoever calls it.
echo '%_dbpath /var/lib/rpm' > /etc/rpm/macros.ibready-sandbox
rpm --initdb

# What rpms ask of the userland is there, but not in rpm's database: one package says so, and three have
# the names without which no list of rpm's is whole.
build="$(mktemp -d)"
cat > "$build/userland.spec" <<'SPEC'
Name: ibready-sandbox-userland
Version: 9.4
Release: 1
Summary: SIMULATED: says that Debian's userland has what EL's base packages provide
License: none
BuildArch: noarch
Provides: /bin/sh /usr/bin/sh /bin/bash /usr/bin/bash /usr/bin/python3
Provides: python3 = 3.9.18 systemd = 252 kmod = 28 openssl = 1:3.0.7
Provides: system-release = 9.4 rocky-release = 9.4
Provides: libc.so.6()(64bit) libgcc_s.so.1()(64bit) libstdc++.so.6()(64bit)
%description
SIMULATED
%files
SPEC
for package in bash-5.1.8 glibc-2.34 rpm-4.16.1.3; do
    cat >> "$build/userland.spec" <<SPEC
%package -n ${package%%-*}
Version: ${package#*-}
Summary: SIMULATED: the name alone, Debian's userland has what it stands for
%description -n ${package%%-*}
SIMULATED
%files -n ${package%%-*}
SPEC
done
rpmbuild -bb --quiet --define "_topdir $build" "$build/userland.spec"
rpm --install "$build"/RPMS/noarch/*.rpm
rm -rf "$build"
