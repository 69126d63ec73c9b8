# Tells what there is on this host, and changes nothing.

fact time_millis "$(date +%s%3N)"
fact user "$(id -un)"
fact uid "$(id -u)"
fact kernel "$(uname -s)"
programs=(tar gzip sha256sum base64 timeout cmp)
is_root && programs+=(setpriv runuser)
if is_root && [ "$IS_WORKER" = yes ]; then
    if [ "$RUN_AS" = "$OWN_USER" ] && ! id -u "$RUN_AS" > /dev/null 2>&1; then programs+=(useradd); fi
    if [ "$SOCKET_GROUP" = "$OWN_SOCKET_GROUP" ]; then programs+=(groupadd usermod); fi
fi
for program in "${programs[@]}"; do
    command -v "$program" > /dev/null || fact missing_program "$program"
done

find_java
fact java_home "$java_home"
fact java_seen "$java_seen"
fact run_as "$RUN_AS"
id -u "$RUN_AS" > /dev/null 2>&1 && fact run_as_exists yes
fact run_as_groups "$(id -Gn "$RUN_AS" 2> /dev/null)"
uses_systemd && fact service systemd || fact service launcher

# memory of the host, and the smallest limit of the control groups around this login
memory=$(awk '/^MemTotal:/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)
limit_from=host
group=$(sed -n 's/^0:://p' /proc/self/cgroup 2> /dev/null | head -n 1)
limits=(/sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes)
while [ -n "$group" ] && [ "$group" != / ] && [ "$group" != . ]; do
    limits+=("/sys/fs/cgroup$group/memory.max")
    group=$(dirname "$group")
done
for file in "${limits[@]}"; do
    limit=$(cat "$file" 2> /dev/null) || continue
    case $limit in
        '' | *[!0-9]*) ;;
        *) if [ "${#limit}" -lt 18 ] && [ "$limit" -lt "$memory" ]; then memory=$limit limit_from=cgroup; fi ;;
    esac
done
fact memory_bytes "$memory"
fact memory_from "$limit_from"

# The nearest directory that exists: what a new one would be made in.
nearest() {
    local path=$1
    while [ ! -e "$path" ]; do path=$(dirname "$path"); done
    echo "$path"
}
free_bytes() { df -P -B1 "$1" 2> /dev/null | awk 'NR == 2 { print $4 }'; }
size_bytes() { df -P -B1 "$1" 2> /dev/null | awk 'NR == 2 { print $2 }'; }
# directory NAME PATH
directory() {
    local place
    place=$(nearest "$2")
    [ -d "$2" ] && fact "$1.exists" yes
    [ -d "$place" ] || fact "$1.blocked_by" "$place"
    [ -w "$place" ] && fact "$1.writable" yes
    fact "$1.nearest" "$place"
    fact "$1.free_bytes" "$(free_bytes "$place")"
    fact "$1.device" "$(stat -c %d "$place")"
    [ -d "$2" ] && fact "$1.used_bytes" "$(du -s -B1 "$2" 2> /dev/null | awk '{ print $1 }')"
}

# refuses_worker NAME PATH write|enter: says where the cache worker may not do that; of a directory that is to be made, whether it can be entered
refuses_worker() {
    local place
    place=$(nearest "$2")
    if [ -d "$2" ] && [ "$3" = write ]; then
        as_worker test -w "$2" -a -x "$2" || fact "$1.refuses" "$2"
    elif [ -d "$place" ]; then
        as_worker test -x "$place" || fact "$1.refuses" "$place"
    fi
}
# The mount point of a directory, if programs on it are not run.
noexec_mount() {
    local mount
    mount=$(df -P "$(nearest "$1")" 2> /dev/null | awk 'NR == 2 { print $6 }')
    # what was mounted last lies above
    awk -v mount="$mount" '$2 == mount { options = $4 } END { if (("," options ",") ~ /,noexec,/) print mount }' /proc/mounts
}

# readable_secret FILE: says so if every user of the host may read a file that has a secret by the names of its properties, or is the file of the secret
readable_secret() {
    [ "$((8#$(stat -L -c %a -- "$1") & 8#4))" != 0 ] || return 0
    case $1 in */shared-secret | */cachedhive-shared-secret) fact readable_secret "$1"; return ;; esac
    ! grep -qiE '^[^#=]*(secret|password|passphrase|token|credential|[.-]key|private|sas)[a-z0-9_.-]*[[:space:]]*[=:]' "$1" || fact readable_secret "$1"
}

# secret_digest FILE PROPERTY SECRET_FILE: of the secret in a properties file, or of SECRET_FILE if it is named there; nothing if another file is
secret_digest() {
    local content
    if grep -qs "^ *$2-file *= *$3 *\$" "$1"; then
        content=$([ -f "$3" ] && [ ! -L "$3" ] && cat -- "$3" 2> /dev/null)
    elif grep -qs "^ *$2-file *=" "$1"; then
        return
    else
        content=$(sed -n "s/^ *$2 *= *//p" "$1")
    fi
    tr -d '\n' <<< "$content" | sha256sum | cut -d ' ' -f 1
}

fact releases "$(ls "$INSTALL/releases" 2> /dev/null | grep -v '\.part$' | tr '\n' ' ')"
current=$(readlink "$INSTALL/current" 2> /dev/null)
fact current "${current##*/}"
for release in "$INSTALL"/releases/*/VERSION; do
    [ -f "$release" ] || continue
    format=$(sed -n 's/^ssd\.format\.newest=//p' "$release" | head -n 1)
    release=${release%/VERSION}
    fact "release_format:${release##*/}" "$format"
    fact "release_trino:${release##*/}" "$(release_trino "${release##*/}")"
done
previous=$(readlink "$INSTALL/previous" 2> /dev/null)
fact previous "${previous##*/}"
directory install "$INSTALL"
if ! find_controller "$INSTALL"; then
    fact install.unsafe "$controller_problem"
elif [ "$controller" != "$(id -u)" ]; then
    fact install.controller "$(user_name "$controller")"
fi
# what uninstall would take for ours
if [ ! -f "$INSTALL/kept/record" ]; then
    for name in etc data releases current previous incoming; do
        if [ -e "$INSTALL/$name" ] || [ -L "$INSTALL/$name" ]; then
            fact install.foreign "$INSTALL/$name"
            break
        fi
    done
fi
if [ -n "$TRINO_HOME" ]; then
    place=$(readlink -m "$INSTALL")
    for name in "$TRINO_HOME" "$TRINO_ETC"; do
        other=$(readlink -m "$name")
        if [ "${place#"$other"/}" != "$place" ] || [ "${other#"$place"/}" != "$other" ] || [ "$other" = "$place" ]; then
            fact install.overlaps "$name"
            break
        fi
    done
fi
[ "$RELEASE" != @current ] || RELEASE=${current##*/}
if [ -n "$RELEASE" ]; then
    if [ ! -f "$INSTALL/releases/$RELEASE/SUMS" ]; then
        fact release absent
    elif (cd "$INSTALL/releases/$RELEASE" && sha256sum --quiet -c SUMS > /dev/null 2>&1); then
        fact release intact
        fact release_parts "$(tr '\n' ' ' < "$INSTALL/releases/$RELEASE/PARTS")"
    else
        fact release damaged
    fi
fi

if [ "$IS_WORKER" = yes ]; then
    if pid=$(worker_pid); then
        fact pid "$pid"
        fact running_release "$(tr '\0' '\n' < "/proc/$pid/cmdline" | sed -n 's|.*/releases/\([^/]*\)/worker/.*|\1|p' | head -n 1)"
    fi
    directory ram "$RAM_DIRECTORY"
    fact ram.size_bytes "$(size_bytes "$(nearest "$RAM_DIRECTORY")")"
    index=0
    for path in "${SSD_DIRECTORIES[@]}"; do
        directory "ssd.$index" "$path"
        fact "ssd.$index.size_bytes" "$(size_bytes "$(nearest "$path")")"
        refuses_worker "ssd.$index" "$path" write
        # the higher one of the two pages of its superblock
        fact "ssd.$index.format" "$(for page in 8 4104; do od -A n -t d4 --endian=little -j "$page" -N 4 "$path/superblock" 2> /dev/null; done | sort -n | tail -n 1 | tr -d ' ')"
        index=$((index + 1))
    done
    directory socket "$(dirname "$SOCKET_PATH")"
    directory data "$INSTALL/data"
    refuses_worker data "$INSTALL/data" write
    refuses_worker ram "$RAM_DIRECTORY" write
    refuses_worker install "$INSTALL" enter
    fact install.noexec "$(noexec_mount "$INSTALL")"
    fact start_problem "$(start_problem)"
    for port in "$WORKER_PORT" "$HTTP_PORT"; do
        listens "$LISTEN_ADDRESS" "$port" && fact "port.$port" busy || fact "port.$port" free
    done
fi

if [ -n "$TRINO_HOME" ]; then
    [ -d "$TRINO_HOME" ] && fact trino.exists yes
    find_trino_version
    fact trino.version "$trino_version"
    fact trino.heap "$(sed -n 's/^-Xmx//p' "$TRINO_ETC/jvm.config" 2> /dev/null | tail -n 1)"
    fact trino.heap_percent "$(sed -n 's/^-XX:MaxRAMPercentage=//p' "$TRINO_ETC/jvm.config" 2> /dev/null | tail -n 1)"
    [ ! -r "$TRINO_ETC/jvm.config" ] || fact trino.jvm yes
    grep -E '^-XX:CompileCommand=' "$TRINO_ETC/jvm.config" 2> /dev/null | while read -r line; do fact trino.jvm_option "$line"; done
    fact trino.main_class "$(sed -n 's/^main-class=//p' "$TRINO_HOME/bin/launcher.properties" 2> /dev/null)"
    [ -d "$TRINO_ETC" ] && fact trino.etc yes
    find_trino_user
    fact trino.user "$trino_user"
    for place in "$TRINO_ETC/catalog" "$PLUGIN_DIRECTORY" "$TRINO_HOME/bin" "$TRINO_HOME/lib"; do
        if ! find_controller "$place"; then
            fact trino.unsafe "$controller_problem"
            break
        fi
    done
    directory plugins "$PLUGIN_DIRECTORY"
    if [ -e "$PLUGIN_DIRECTORY/cachedhive" ]; then
        fact plugin.target "$(readlink -f "$PLUGIN_DIRECTORY/cachedhive")"
        ls "$PLUGIN_DIRECTORY"/cachedhive/*.jar > /dev/null 2>&1 && fact plugin.jars yes
    fi
    [ ! -L "$TRINO_HOME/lib/cachedhive-engine-extension.jar" ] || fact engine_extension yes
    # of the home that TRINO_HOME is to replace
    if [ -n "${FORMER_TRINO_HOME:-}" ]; then
        [ ! -L "$FORMER_TRINO_HOME/lib/cachedhive-engine-extension.jar" ] || fact former_engine_extension yes
        [ ! "$TRINO_HOME" -ef "$FORMER_TRINO_HOME" ] || fact trino.is_former yes
    fi
    for file in "$TRINO_ETC"/catalog/*.properties; do
        [ -f "$file" ] && grep -q '^ *connector.name *= *\(cachedhive\|cachediceberg\) *$' "$file" || continue
        name=$(basename "$file" .properties)
        fact catalog "$name"
        readable_secret "$file"
        sed -n 's/^ *\(cachedhive\.worker\.port\|cachedhive\.worker\.socket-path\|cachedhive\.origin\|s3\.endpoint\|s3\.region\|fs\.cache\.enabled\) *= */\1=/p' "$file" |
            while read -r line; do fact "catalog.$name.${line%%=*}" "${line#*=}"; done
        fact "catalog.$name.secret" "$(secret_digest "$file" 'cachedhive\.shared-secret' "$TRINO_ETC/cachedhive-shared-secret")"
    done
fi

if [ -f "$INSTALL/etc/config.properties" ]; then
    fact worker.secret "$(secret_digest "$INSTALL/etc/config.properties" 'internal-communication\.shared-secret' "$INSTALL/etc/shared-secret")"
fi
for file in "${FILES[@]}"; do
    if [ -f "$file" ]; then
        fact "file:$file" "$(sha256sum < "$file" | cut -d ' ' -f 1)"
        readable_secret "$file"
    else
        fact "file:$file" missing
    fi
done
for target in "${TARGETS[@]}"; do
    { listens "${target%:*}" "${target##*:}" && fact "reaches:$target" yes || fact "reaches:$target" no; } &
done
wait
