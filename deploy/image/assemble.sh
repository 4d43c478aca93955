#!/bin/sh
# Makes the files of the image in the folder $1. Runs in a Debian that has Node in /usr/local/bin and the package of Tendon in /opt/package:
# in a stage of the Dockerfile, or in the root that `npm run image` makes.
set -eu
root=$1
# What the image has of Debian; for those who look for known flaws in it.
packages='libc6 libgcc-s1 libstdc++6 bash-static busybox-static ca-certificates mount tini util-linux'

# Names of its functions, which nobody needs to run it: 18 MB.
strip --strip-unneeded -o /usr/local/bin/node.stripped /usr/local/bin/node
mv /usr/local/bin/node.stripped /usr/local/bin/node

# A pod's container of any image gets this folder by `tendon executor --inject`; Node and the libraries of the image itself are in it too.
/usr/local/bin/node /opt/package/dist/main.js executor --inject "$root/opt/tendon/executor"

cd "$root"
mkdir -p etc/ssl/certs tmp usr/bin usr/lib usr/lib64 usr/local/bin usr/local/lib/tendon usr/share/doc var/lib/dpkg/status.d var/lib/tendon
ln -s usr/bin bin
ln -s usr/lib lib
ln -s usr/lib64 lib64
for libraries in /usr/lib/*-linux-gnu; do ln -s ../../opt/tendon/executor/lib "usr/lib/$(basename "$libraries")"; done
for loader in /usr/lib64/ld-linux-*.so.* /usr/lib/ld-linux-*.so.*; do
  if [ -e "$loader" ]; then ln -s /opt/tendon/executor/lib/ld.so ".$loader"; fi
done
cp /usr/bin/tini usr/bin/tini
ln -s /opt/tendon/executor/bin/bash usr/bin/sh
ln -s /opt/tendon/executor/bin/bash usr/bin/bash
ln -s /opt/tendon/executor/bin/busybox usr/bin/env
ln -s /opt/tendon/executor/libexec/node usr/local/bin/node

cp -R /opt/package/bin /opt/package/dist /opt/package/package.json /opt/package/LICENSE usr/local/lib/tendon/
rm -rf usr/local/lib/tendon/dist/client usr/local/lib/tendon/dist/executor
ln -s /opt/tendon/executor/executor usr/local/lib/tendon/dist/executor
printf '#!/bin/sh\nexec /usr/local/bin/node /usr/local/lib/tendon/dist/main.js "$@"\n' >usr/local/bin/tendon
chmod 755 usr/local/bin/tendon

cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/
cp /usr/lib/os-release etc/os-release
printf 'hosts: files dns\n' >etc/nsswitch.conf
printf 'root:x:0:0:root:/root:/bin/sh\ntendon:x:10001:10001:tendon:/var/lib/tendon:/bin/sh\n' >etc/passwd
printf 'root:x:0:\ntendon:x:10001:\n' >etc/group
for package in $packages; do
  dpkg-query -s "$package" >"var/lib/dpkg/status.d/$package"
  mkdir -p "usr/share/doc/$package"
  cp -L "/usr/share/doc/$package/copyright" "usr/share/doc/$package/copyright"
done
mkdir -p usr/share/doc/node
cp /usr/local/LICENSE usr/share/doc/node/LICENSE
chmod -R go=u-w "$root"
chmod 1777 tmp
chown 10001:10001 var/lib/tendon
chmod 700 var/lib/tendon
