#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#     build.sh OUTPUT PREPROCESSED_IDL…
#
# Makes OUTPUT/peer.jar, the JacORB side of the tests: copies JacORB's libraries from Maven Central
# to OUTPUT/lib unless they are there, compiles the IDL with JacORB's compiler and all of it with
# javac. Where Maven Central cannot be reached there is no peer.jar and no error: the test says then
# that it is skipped, or fails where CI is set.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")" && pwd)
output=$1
shift

mkdir -p "$output"
rm -f "$output/peer.jar"
if [ ! -e "$output/lib/complete" ] || [ "$source_dir/pom.xml" -nt "$output/lib/complete" ]; then
    rm -rf "$output/lib"
    if ! mvn -q -B -Dmaven.wagon.http.retryHandler.count=3 -f "$source_dir/pom.xml" \
        dependency:copy-dependencies -DoutputDirectory="$output/lib" \
        </dev/null >"$output/maven.log" 2>&1; then
        echo "interop: Maven cannot get JacORB (see $output/maven.log); its tests do not run" >&2
        exit 0
    fi
    touch "$output/lib/complete"
fi

# Machines that are done in seconds: to optimise more took longer than all they do.
quick=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC)

# Nothing of an earlier IDL may stay.
rm -rf "$output/gen" "$output/classes"
mkdir -p "$output/gen" "$output/classes"
for idl in "$@"; do
    # The compiler says everything twice, and nothing of use unless it fails.
    if ! java "${quick[@]}" -cp "$output/lib/*" org.jacorb.idl.parser -d "$output/gen" "$idl" \
        >"$output/idl.log" 2>&1; then
        cat "$output/idl.log" >&2
        exit 1
    fi
done
find "$output/gen" "$source_dir" -name '*.java' >"$output/sources.txt"
javac "${quick[@]/#/-J}" -nowarn -Xlint:none -XDignore.symbol.file -proc:none -encoding UTF-8 \
    -cp "$output/lib/*" -d "$output/classes" "@$output/sources.txt"
jar -c -f "$output/peer.jar" -C "$output/classes" .
