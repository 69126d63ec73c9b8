# What all scripts use. INSTALL is the install directory, everything else is under it unless the operator says otherwise.

umask 022
fact() { printf '%s=%s\n' "$1" "$2"; }
change() { printf 'change=%s\n' "$1"; }
fail() { printf 'problem=%s\n' "$1"; exit 1; }

# Runs a command that must work.
run() {
    local said
    said=$("$@" 2>&1 < /dev/null) || fail "$1 failed (${said##*$'\n'}): see that $(id -un) may write there and that the disk has room, and run the command again, it goes on where it was."
}

java_version() { sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2> /dev/null | head -n 1; }

# Sets java_home to the first JDK 25 or newer, and java_seen to all that were found.
find_java() {
    local candidate version on_path=
    java_home= java_seen=
    on_path=$(command -v java) && on_path=$(dirname "$(dirname "$(readlink -f "$on_path")")")
    local candidates=("$JAVA_HOME_WANTED")
    [ -n "$JAVA_HOME_WANTED" ] || candidates=("${JAVA_HOME:-}" "$on_path" /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk*)
    for candidate in "${candidates[@]}"; do
        [ -n "$candidate" ] && [ -x "$candidate/bin/java" ] || continue
        version=$(java_version "$candidate")
        [ -n "$version" ] || continue
        case " $java_seen " in *" $version "*) ;; *) java_seen="${java_seen:+$java_seen }$version" ;; esac
        if [ "$version" -ge 25 ]; then
            java_home=$candidate
            return 0
        fi
    done
    return 1
}

# Sets trino_user to the owner of what Trino writes to; to nothing where there is none.
find_trino_user() {
    local data place places=()
    trino_user=
    [ -n "$TRINO_HOME" ] || return
    # the home may be root's, where the data are elsewhere
    data=$(sed -n 's/^ *node\.data-dir *[=:] *//p' "$TRINO_ETC/node.properties" 2> /dev/null | tail -n 1 | sed 's/[[:space:]]*$//')
    case $data in
        '') ;;
        /*) places=("$data/var/log" "$data/var" "$data") ;;
        *) places=("$TRINO_HOME/$data/var/log" "$TRINO_HOME/$data/var" "$TRINO_HOME/$data") ;;
    esac
    for place in "${places[@]}" "$TRINO_HOME/var/log" "$TRINO_HOME/var" "$TRINO_HOME"; do
        if [ -d "$place" ]; then
            trino_user=$(stat -L -c %U "$place")
            [ "$trino_user" != UNKNOWN ] || trino_user=
            return
        fi
    done
}

# The user of the cache worker: the one that is wanted, else the one that Trino runs as, else the one of this login.
find_user() {
    run_as=$RUN_AS
    if [ -z "$run_as" ] && [ "$(id -u)" = 0 ]; then
        find_trino_user
        run_as=$trino_user
    fi
    [ -n "$run_as" ] || run_as=$(id -un)
}

uses_systemd() {
    case $SERVICE in
        SYSTEMD) return 0 ;;
        LAUNCHER) return 1 ;;
        *) [ -d /run/systemd/system ] && [ "$(id -u)" = 0 ] && command -v systemctl > /dev/null ;;
    esac
}

# service_pid: the process id of the cache worker that systemd or the launcher knows of, if it runs.
service_pid() {
    local pid
    if uses_systemd; then
        pid=$(systemctl show --property=MainPID --value cachedhive-worker.service 2> /dev/null)
    else
        pid=$(head -n 1 "$INSTALL/data/var/run/launcher.pid" 2> /dev/null)
    fi
    [ -n "$pid" ] && [ "$pid" != 0 ] && grep -qa io.cachedhive.worker.CacheWorker "/proc/$pid/cmdline" 2> /dev/null && echo "$pid"
}

# Prints the process id of the cache worker of this installation, if it runs, even if another service manager of an earlier hosts file started it,
# and of a start that was cut off there may be no launcher.pid.
worker_pid() {
    local file pid
    service_pid && return
    for file in $(grep -lsaF io.cachedhive.worker.CacheWorker /proc/[0-9]*/cmdline); do
        pid=${file#/proc/}
        pid=${pid%/cmdline}
        # not the one of a container, which may have the same paths
        if tr '\0' '\n' < "$file" 2> /dev/null | grep -qxF -e "-Dnode.data-dir=$INSTALL/data" && [ "/proc/$pid/ns/pid" -ef /proc/self/ns/pid ]; then
            echo "$pid"
            return
        fi
    done
    return 1
}

# worker_log NAME LINES: the last lines of server.log, or of launcher.log: what was said before the log began, and by the JVM. systemd has that in its journal.
worker_log() {
    if [ "$1" = launcher ] && uses_systemd; then
        journalctl --unit=cachedhive-worker.service --output=cat --no-pager --quiet --lines="$2" 2> /dev/null
    else
        tail -n "$2" "$INSTALL/data/var/log/$1.log" 2> /dev/null
    fi
}

# Where launcher.log is, for people.
launcher_log() {
    if uses_systemd; then echo "journalctl --unit=cachedhive-worker.service"; else echo "$INSTALL/data/var/log/launcher.log"; fi
}

# Why the cache worker did not start; the reason stands in both logs, unless the log could not be written.
start_problem() {
    { worker_log launcher 1000; worker_log server 1000; } | sed -n 's/.*Cache worker cannot start: //p' | tail -n 1
}

listens() { timeout 3 bash -c 'exec 3<> "/dev/tcp/$0/$1"' "$1" "$2" 2> /dev/null; }
