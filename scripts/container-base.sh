#!/usr/bin/env bash
# Makes the folder base, a stand-in for the image node:VERSION-SUITE-slim: its Debian, Node, npm and user, from the machine's
# package sources and npm. If the machine has no sources of the suite, its own suite is used.
set -euo pipefail
version=$1 suite=$2
[ -n "$(apt-get indextargets 'Created-By: Packages')" ] || apt-get update -qq
# shellcheck disable=SC2016
sources() { apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | grep -E " $1(-updates|-security)? "; }
sources "$suite" > sources || {
  # shellcheck source=/dev/null
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  echo "The machine has no package sources of the image's suite; $suite is used"
  sources "$suite" > sources
}
mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io "$suite" base - < sources

# The package of the binary has no npm.
binary=node-linux-$(node -p process.arch) local=base/usr/local
echo '{}' > package.json
npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$binary@$version" npm@11
cp "node_modules/$binary/bin/node" $local/bin/
mkdir -p $local/lib/node_modules $local/etc
cp -r node_modules/npm $local/lib/node_modules/
for tool in npm npx; do ln -s ../lib/node_modules/npm/bin/$tool-cli.js $local/bin/$tool; done
# Its settings for the registry, without secrets.
for name in registry https-proxy noproxy; do
  value=$(npm config get $name)
  case $value in '' | null | undefined) ;; *) echo "$name=$value" >> $local/etc/npmrc ;; esac
done
certificates=$(npm config get cafile)
[ -e "$certificates" ] || certificates=${NODE_EXTRA_CA_CERTS:-}
if [ -n "$certificates" ]; then
  cp "$certificates" base/etc/certificates.crt
  echo cafile=/etc/certificates.crt >> $local/etc/npmrc
fi
chroot base useradd --uid 1000 --create-home node
