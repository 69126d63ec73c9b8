# Sourced by programs that start a cluster: builds what they are made of. Needs $root, and $program, which is the name of the program and of its module.

# what a cluster is made of; the others follow
modules=$program,engine-extension,plugin-cachedhive,cache-worker-daemon
stamp="$root/$program/target/$program.built"

fail() {
    echo "$program: $1" >&2
    exit 3
}

# Whether everything is there and nothing has changed since it was built.
is_built() {
    local part jar classpath
    [ -f "$stamp" ] || return 1
    for part in $program/target/classes $program/target/classpath testing-cluster/target/launcher/bin/launcher testing-cluster/target/plugin/tpch \
            engine-extension/target/trino-server/lib plugin-cachedhive/target/plugin/cachedhive; do
        [ -e "$root/$part" ] || return 1
    done
    compgen -G "$root/cache-worker-daemon/target/cache-worker-*/bin/launcher" > /dev/null || return 1
    classpath=$(cat "$root/$program/target/classpath")
    IFS=: read -r -a jars <<< "$classpath"
    for jar in "${jars[@]}"; do
        [ -e "$jar" ] || return 1
    done
    [ -z "$(find "$root"/pom.xml "$root"/*/pom.xml "$root"/*/src/main "$root/etc" -newer "$stamp" -print -quit)" ]
}

build() {
    command -v java > /dev/null || fail "no java on the PATH, which Maven runs on: install a JDK 17 or newer."
    command -v mvn > /dev/null || fail "no mvn on the PATH: install Maven 3.8 or newer."
    local log begin now last
    log=$(mktemp "${TMPDIR:-/tmp}/$program-build.XXXXXX")
    begin=$SECONDS
    now=$(mktemp "${TMPDIR:-/tmp}/$program-stamp.XXXXXX")
    echo "[build] mvn package, without tests; the first time it also downloads about 1 GB; log: $log" >&2
    mvn -B -q -DskipTests -Dcheckstyle.skip -f "$root/pom.xml" -pl "$modules" -am package > "$log" 2>&1 &
    local maven=$!
    trap 'kill "$maven" 2>/dev/null; rm -f "$now"; exit 130' INT TERM
    while kill -0 "$maven" 2>/dev/null; do
        sleep 1
        if [ -t 2 ]; then
            printf '\r[build] %s s ' $((SECONDS - begin)) >&2
        elif [ $(((SECONDS - begin) % 30)) = 0 ]; then
            echo "[build] $((SECONDS - begin)) s" >&2
        fi
    done
    [ -t 2 ] && printf '\r' >&2
    trap - INT TERM
    if ! wait "$maven"; then
        tail -n 40 "$log" >&2
        rm -f "$now"
        fail "the build failed: $log"
    fi
    # the time at which it began: what changed meanwhile is not in it
    mv "$now" "$stamp"
    rm -f "$log"
    echo "[build] done in $((SECONDS - begin)) s" >&2
}
