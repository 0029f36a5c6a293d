#!/bin/sh
# run-tests.sh runs the tests; run-tests.sh books prints the books of the run's folder.
# The first run compiles into a temporary folder that depends on the sources; later runs start fast.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources="$here/PayoutRunner.java $here/PayoutRunnerTest.java"
cache=${TMPDIR:-/tmp}/payout-runner-$(id -u)-$(cat $sources | cksum | tr ' ' '-')
if [ ! -d "$cache" ]; then
  fresh=$(mktemp -d "$cache.XXXXXX")
  javac -d "$fresh" $sources
  (cd "$fresh" && jar -c -f tests.jar ./*.class)
  mv -T "$fresh" "$cache" 2>/dev/null || rm -rf "$fresh"
fi
java="java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable -cp $cache/tests.jar"
if [ -f "$cache/tests.jsa" ]; then
  exec $java -XX:SharedArchiveFile="$cache/tests.jsa" PayoutRunnerTest "$@"
fi
[ $# = 0 ] || exec $java PayoutRunnerTest "$@"
code=0
$java -XX:ArchiveClassesAtExit="$cache/tests.jsa.$$" PayoutRunnerTest || code=$?
mv -f "$cache/tests.jsa.$$" "$cache/tests.jsa" 2>/dev/null || true
exit $code
