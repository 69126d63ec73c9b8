# Starts and stops the cache worker of this host.

# There while an upgrade or a rollback has stopped the cache worker and has not seen it back and warm: the number of its blocks on SSD before.
restart_pending=$INSTALL/restart-pending

require_own_install

launcher() {
    local command=("$INSTALL/current/worker/bin/launcher" -etc-dir "$INSTALL/etc" -data-dir "$INSTALL/data" -jvm-dir "$java_home" "$@")
    (cd "$INSTALL" && as_worker "${command[@]}") 2>&1 < /dev/null
}

require_installed() {
    [ -x "$INSTALL/current/worker/bin/launcher" ] || fail "no cache worker is installed in $INSTALL: run cache-admin install first."
    find_java || fail "no JDK 25 or newer was found there (found: ${java_seen:-none}): install one, or name its directory as java-home in the hosts file."
}

start() {
    local said pid waited=0
    require_installed
    worker_pid > /dev/null && return
    change "started"
    [ "$DRY_RUN" = yes ] && return
    if uses_systemd; then
        # it refuses a unit that failed too often, also when that is fixed
        systemctl reset-failed cachedhive-worker.service 2> /dev/null
        run systemctl start cachedhive-worker.service
    else
        # /run is empty after a reboot
        [ -d "$(dirname "$SOCKET_PATH")" ] || create_directory "$(dirname "$SOCKET_PATH")" 0755 "$RUN_AS"
        # of a process that has ended: another one, or a zombie, may have its number
        as_worker rm -f "$INSTALL/data/var/run/launcher.pid"
        said=$(launcher start) || fail "the launcher cannot start the cache worker (${said##*$'\n'}): see $INSTALL/data/var/log."
    fi
    while ! listens "$LISTEN_ADDRESS" "$HTTP_PORT"; do
        if [ "$waited" -ge 4 ] && ! worker_pid > /dev/null; then
            said=$(start_problem)
            fail "the cache worker ended at once (${said:-no reason given}): fix the cause; its log is $INSTALL/data/var/log/server.log, and what was said before that $(launcher_log)."
        fi
        [ "$waited" -lt "$((WAIT_SECONDS * 2))" ] || fail "the cache worker runs and does not listen on $LISTEN_ADDRESS:$HTTP_PORT after $WAIT_SECONDS s: see $INSTALL/data/var/log/server.log."
        sleep 0.5
        waited=$((waited + 1))
    done
}

# By the operator, who so gives up, too, what an upgrade or a rollback had still to do with it.
stop() {
    end_process
    [ "$DRY_RUN" = yes ] || run rm -f "$restart_pending"
}

end_process() {
    local pid waited=0
    pid=$(worker_pid) || return 0
    change "stopped"
    [ "$DRY_RUN" = yes ] && return
    if uses_systemd && [ "$(service_pid)" = "$pid" ]; then
        run systemctl stop cachedhive-worker.service
    else
        run kill "$pid"
    fi
    while [ -e "/proc/$pid" ] && ! grep -qs '^State:.*Z' "/proc/$pid/status"; do
        [ "$waited" -lt "$((WAIT_SECONDS * 5))" ] || fail "the cache worker (process $pid) does not end within $WAIT_SECONDS s: see $INSTALL/data/var/log/server.log, and end it with kill -9 if nothing else helps."
        sleep 0.2
        waited=$((waited + 1))
    done
    # the launcher takes a zombie, as in containers, for a running process
    uses_systemd || as_worker rm -f "$INSTALL/data/var/run/launcher.pid"
}

# Says `damaged=...` for each finding in the SSD directories.
check_directories() {
    local path said code
    require_installed
    worker_pid > /dev/null && fail "the cache worker runs, and its directories cannot be checked: stop it first (cache-admin stop)."
    for path in "${SSD_DIRECTORIES[@]}"; do
        if [ ! -d "$path" ]; then
            printf 'damaged=%s\n' "$path does not exist: mount its disk, or run cache-admin install, which makes it."
            continue
        elif [ ! -e "$path/superblock" ] && [ -z "$(ls -d "$path"/slab-* 2> /dev/null)" ]; then
            # as it should be before the first start only
            [ -z "$(ls -A "$INSTALL/data" 2> /dev/null)" ] ||
                printf 'damaged=%s\n' "$path has nothing of a cache worker in it: see that its disk is mounted; if it is new or was emptied, the next start fills it."
            continue
        fi
        said=$(as_worker env "JAVA_HOME=$java_home" "$INSTALL/current/worker/bin/cache-worker" fsck --etc-dir "$INSTALL/etc" --data-dir "$INSTALL/data" "$path" 2>&1 < /dev/null)
        code=$?
        case $code in
            0) ;;
            1) printf '%s\n' "$said" | awk -v path="$path" '$2 == "damaged" { print "damaged=" path ": " $0 }' ;;
            *) fail "$path cannot be checked (${said##*$'\n'}): fix the cause and try again." ;;
        esac
    done
}

# Says the last lines of a log, each as `line=...`.
show_log() {
    local file=$INSTALL/data/var/log/$1.log
    # the journal of a unit that was never started is empty
    if [ "$1" = server ] || ! uses_systemd; then
        [ -f "$file" ] || fail "$file does not exist: the cache worker was never started there."
    fi
    worker_log "$1" "$2" | sed 's/^/line=/'
}

# Says the contents of files, as `content:PATH=` and base 64.
show_files() {
    local path
    for path in "$@"; do
        [ -f "$path" ] || continue
        if read_file "$path"; then printf 'content:%s=%s\n' "$path" "$file_content"; fi
    done
}

# stop_outdated BLOCKS: stops a cache worker that does not run the current release. Says `restart_pending=BLOCKS` if it is to be started and waited for:
# then, and also where an earlier call came as far as that and no restart since was waited for to its end.
stop_outdated() {
    local pid current running blocks=$1
    if pid=$(worker_pid); then
        current=$(readlink "$INSTALL/current")
        running=$(tr '\0' '\n' < "/proc/$pid/cmdline" | sed -n 's|.*/releases/\([^/]*\)/worker/.*|\1|p' | head -n 1)
        if [ "$running" != "${current##*/}" ]; then
            # before it ends: whatever fails from here on, the next run knows of it. One that had nothing yet does not tell what there was
            if [ "$DRY_RUN" != yes ] && { [ "$blocks" != 0 ] || [ ! -f "$restart_pending" ]; }; then
                run rm -f "$restart_pending.part"
                (printf '%s\n' "$blocks" > "$restart_pending.part") 2> /dev/null || fail "$restart_pending.part cannot be written: see that $(id -un) may write there and that the disk has room, and run the command again."
                run mv -f "$restart_pending.part" "$restart_pending"
            fi
            end_process
        fi
    fi
    [ ! -f "$restart_pending" ] || fact restart_pending "$(cat "$restart_pending")"
}

# The restart of stop_outdated has come to its end.
restarted() { run rm -f "$restart_pending"; }
