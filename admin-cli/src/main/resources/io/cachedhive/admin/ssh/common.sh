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

# Sets trino_user to the user of the hosts file, else to the owner of what Trino writes to; to nothing where there is none.
find_trino_user() {
    local data place places=()
    trino_user=$TRINO_RUN_AS
    [ -z "$trino_user" ] && [ -n "$TRINO_HOME" ] || return
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

# Sets trino_version to that of the Trino server in TRINO_HOME; to nothing where there is none.
find_trino_version() {
    trino_version=$(ls "$TRINO_HOME"/lib/trino-spi-*.jar 2> /dev/null | sed -n 's/.*trino-spi-\(.*\)\.jar$/\1/p' | head -n 1)
    [ -n "$trino_version" ] || trino_version=$(ls "$TRINO_HOME"/lib/*trino-spi-*.jar 2> /dev/null | sed -n 's/.*trino-spi-\(.*\)\.jar$/\1/p' | head -n 1)
}

# release_trino RELEASE: the Trino version that its plugin is for; nothing of packages that do not name it
release_trino() { sed -n 's/^trino\.version=//p' "$INSTALL/releases/$1/VERSION" 2> /dev/null | head -n 1; }

is_root() { [ "$(id -u)" = 0 ]; }

# as UID GID COMMAND...: with the rights of this user and this group alone, if this login is root.
as() {
    local uid=$1 gid=$2
    shift 2
    if [ "$uid" != 0 ] && is_root; then
        env -i "PATH=$PATH" LC_ALL=C setpriv --reuid "$uid" --regid "$gid" --clear-groups -- "$@"
    else
        "$@"
    fi
}

# Runs a command as the user of the cache worker, as far as this login can: what is in directories of the cache worker is read and changed by it alone.
as_worker() {
    if is_root && [ "$RUN_AS" != root ]; then
        # before the installation has made it: with the rights of every other user
        if id -u "$RUN_AS" > /dev/null 2>&1; then runuser -u "$RUN_AS" -- "$@"; else as 65534 65534 "$@"; fi
    else
        "$@"
    fi
}

# find_controller PATH: sets controller to the id of the user who decides what the directory PATH is, or would be if it were made. All directories and links
# on the way must belong to root, or from some directory on to one other user: else one user could lead elsewhere what is written for another. Sets
# controller_problem if that is not so.
find_controller() {
    local rest=$1 place= name target links=0
    controller=$(id -u)
    [ "$controller" = 0 ] || return 0
    controller_place=
    add_controller / directory || return
    while rest=${rest#"${rest%%[!/]*}"}; [ -n "$rest" ]; do
        name=${rest%%/*}
        rest=${rest#"$name"}
        case $name in
            .) ;;
            ..) place=${place%/*} ;;
            *)
                if [ -L "$place/$name" ]; then
                    links=$((links + 1))
                    if [ "$links" -gt 40 ]; then
                        controller_problem="$1 has too many links in it: correct them, or name another path."
                        return 1
                    fi
                    add_controller "$place/$name" link || return
                    target=$(readlink "$place/$name")
                    rest=$target/$rest
                    case $target in /*) place= ;; esac
                elif [ -e "$place/$name" ]; then
                    place=$place/$name
                    add_controller "$place" directory || return
                else
                    return 0
                fi ;;
        esac
    done
}

# add_controller PATH directory|link: takes one more into account
add_controller() {
    local owner group mode
    read -r owner group mode < <(stat -c '%u %g %a' -- "$1")
    if [ "$owner" != "$controller" ]; then
        if [ "$controller" != 0 ]; then
            controller_problem="$1 belongs to $(user_name "$owner"), and $controller_place above it to $(user_name "$controller"), who could exchange it: let one user own both."
            return 1
        fi
        controller=$owner
        controller_place=$1
    elif [ "$owner" = 0 ] && [ "$2" = directory ] && [ "$((8#$mode & 8#1000))" = 0 ]; then
        # in a directory with the sticky bit no other user exchanges what is another's
        if [ "$((8#$mode & 8#2))" != 0 ] || { [ "$((8#$mode & 8#20))" != 0 ] && [ "$group" != 0 ]; }; then
            controller_problem="$1 belongs to root, and other users may write there (mode $mode): run chmod go-w $1, or let one user own it."
            return 1
        fi
    fi
}

user_name() { id -un "$1" 2> /dev/null || echo "the user $1"; }

# try_inside DIRECTORY PROGRAM ARGUMENTS...: runs a program of bash in the directory, as the user who controls it, and only if the directory is really that
# user's. The program names files without directories, and follows no links. Its output goes to inside_output; inside_group is its group.
inside_output=/dev/null
inside_group=
try_inside() {
    local directory=$1 program=$2 owner=any group=$inside_group
    shift 2
    find_controller "$directory" || fail "$controller_problem"
    if is_root; then
        owner=$controller
        [ -n "$group" ] || group=$(id -g "$controller" 2> /dev/null) || group=$(stat -c %g -- "$directory")
    fi
    inside_said=$(as "$controller" "$group" bash -c '
        set -u
        directory=$1 owner=$2
        shift 2
        cd -P -- "$directory" || exit
        if [ "$owner" != any ] && [ "$(stat -c %u .)" != "$owner" ]; then
            echo "it became the directory of another user" >&2
            exit 1
        fi
        '"$program" cache-admin "$directory" "$owner" "$@" 2>&1 > "$inside_output")
}

# As try_inside, for what must work.
inside() {
    try_inside "$@" || fail "$1 cannot be changed (${inside_said##*$'\n'}): see that $(user_name "$controller") may write there and that the disk has room, and run the command again, it goes on where it was."
}

# read_file PATH: sets file_content to what the user who controls the directory reads there, in base 64. A link of that user must not show, or copy to where
# that user reads it, a file that only root reads.
read_file() {
    local output code
    find_controller "$(dirname "$1")" || fail "$controller_problem"
    output=$(mktemp) || fail "no temporary file can be made there: see that the disk has room."
    inside_output=$output
    try_inside "$(dirname "$1")" 'base64 -w 0 < "./$1"' "$(basename "$1")" < /dev/null
    code=$?
    inside_output=/dev/null
    file_content=$(cat "$output")
    rm -f "$output"
    return "$code"
}

# create_directory PATH MODE OWNER: one, in a directory that exists; owner may be empty
create_directory() {
    local path=$1 owner=$3
    find_controller "$(dirname "$path")" || fail "$controller_problem"
    if ! is_root; then
        owner=
    elif [ -n "$owner" ] && [ "$controller" != 0 ]; then
        # what root would give away there, could be something else by then
        [ "$(id -u "$owner" 2> /dev/null)" = "$controller" ] ||
            fail "$path is to belong to $owner, and $controller_place to $(user_name "$controller"): create $path, and run chown $owner: $path."
        owner=
    fi
    inside "$(dirname "$path")" 'mkdir -m "$2" -- "./$1" && { [ -z "$3" ] || chown -h -- "$3:" "./$1"; }' "$(basename "$path")" "$2" "$owner" < /dev/null
}

# What is directly in the install directory is root's alone, if this login is root: processes of root run from there.
require_own_install() {
    find_controller "$INSTALL" || fail "$controller_problem"
    [ "$controller" = "$(id -u)" ] || fail "install-directory $INSTALL is in $controller_place, which belongs to $(user_name "$controller"): choose another install-directory, or log in as that user."
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
        pid=$(as_worker head -n 1 "$INSTALL/data/var/run/launcher.pid" 2> /dev/null)
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
        as_worker tail -n "$2" "$INSTALL/data/var/log/$1.log" 2> /dev/null
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
