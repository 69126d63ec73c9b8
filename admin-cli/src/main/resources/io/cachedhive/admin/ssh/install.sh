# Functions that change this host. What was there before is kept in kept/, and kept/record says of each change how to undo it:
#   file PATH            made by us
#   kept PATH NAME UID   replaced by us, the old one is kept/NAME, an archive that this user wrote
#   directory PATH       made by us
#   user NAME            made by us, and so on with
#   group NAME
#   member GROUP USER    added by us
# It is written before the change, so that a change that was cut off is undone, too.

kept=$INSTALL/kept
record=$kept/record

require_own_install

recorded() { grep -qsxF -e "file	$1" -e "directory	$1" "$record" || grep -qsF "kept	$1	" "$record"; }
remember() { printf '%s\n' "$1" >> "$record" || fail "$record cannot be written: see that $(id -un) may write there and that the disk has room."; }

# make_directory PATH [OWNER] [MODE]: with the directories above it, which are of the user who controls the place
make_directory() {
    local path=$1 owner=${2:-} mode=${3:-0755} missing=()
    [ -d "$path" ] && return
    change "directory $path"
    [ "$DRY_RUN" = yes ] && return
    while [ ! -e "$path" ]; do
        missing=("$path" "${missing[@]}")
        path=$(dirname "$path")
    done
    for path in "${missing[@]}"; do
        # the record is in the first of them
        [ -d "$kept" ] && { recorded "$path" || remember "directory	$path"; }
        if [ "$path" = "$1" ]; then create_directory "$path" "$mode" "$owner"; else create_directory "$path" 0755 ''; fi
    done
}

# The install directory, and the record in it.
prepare() {
    local path=$INSTALL made=()
    [ -f "$record" ] && return
    if [ "$DRY_RUN" = yes ]; then
        [ -d "$INSTALL" ] || change "directory $INSTALL"
        return
    fi
    while [ ! -e "$path" ]; do
        made=("$path" "${made[@]}")
        path=$(dirname "$path")
    done
    # replaced files may have secrets
    run mkdir -p -m 0700 "$kept"
    for path in "${made[@]}"; do remember "directory	$path"; done
    remember "directory	$kept"
    [ "${#made[@]}" = 0 ] || change "directory $INSTALL"
}

require_record() {
    [ -f "$record" ] || fail "nothing is installed in $INSTALL: run cache-admin install, which brings the configuration, too."
}

# Takes what is at PATH out of the way, if it is not ours.
keep() {
    local path=$1 name
    if recorded "$path"; then
        return
    elif [ -e "$path" ] || [ -L "$path" ]; then
        name=$(printf '%s' "$path" | sha256sum | cut -c 1-16)-${path##*/}
        # recorded when the copy is whole: by the record it is put back, and by it no other copy is made
        run rm -rf "$kept/$name.part" "$kept/$name"
        # an archive, which its owner writes and will unpack: with no other rights
        inside_output=$kept/$name.part
        inside "$(dirname "$path")" 'tar -c --format=posix -f - -- "./$1"' "$(basename "$path")" < /dev/null
        inside_output=/dev/null
        run mv -T "$kept/$name.part" "$kept/$name"
        remember "kept	$path	$name	$controller"
    else
        remember "file	$path"
    fi
}

# has_rights PATH MODE OWNER: as put takes them; only root can change owners
has_rights() {
    [ "$(stat -L -c %a "$1")" = "${2#0}" ] || return
    [ -n "$3" ] && [ "$(id -u)" = 0 ] || return 0
    case $3 in
        *:) [ "$(stat -L -c %U: "$1")" = "$3" ] ;;
        *) [ "$(stat -L -c %U:%G "$1")" = "$3" ] || [ "$(stat -L -c %u:%g "$1")" = "$3" ] ;;
    esac
}

# put PATH MODE OWNER CONTENT: a file; owner may be empty, the content is in base 64
put() {
    local path=$1 owner
    if [ -f "$path" ] && cmp -s "$path" <(base64 -d <<< "$4"); then
        has_rights "$path" "$2" "$3" && return
        change "owner and mode of $path"
    else
        change "file $path"
    fi
    [ "$DRY_RUN" = yes ] && return
    make_directory "$(dirname "$path")"
    keep "$path"
    find_controller "$(dirname "$path")" || fail "$controller_problem"
    owner=$3
    # only root can give files to others, and only where no other user can exchange them meanwhile
    if [ "$controller" != 0 ] && [ -n "$owner" ]; then owner=:${owner#*:}; fi
    [ "$owner" != : ] || owner=
    # beside it, by a new name, and renamed: no reader sees half of it, or a secret before the mode is right
    inside "$(dirname "$path")" '
        rm -f -- "./$1".cache-admin.*
        part=$(mktemp -u "./$1.cache-admin.XXXXXXXXXX") || exit
        umask "$2"
        set -C
        cat > "$part" || exit
        # of other groups a login may give those that it is in
        case $3 in
            "") ;;
            :*) chgrp -h -- "${3#:}" "$part" 2> /dev/null ;;
            *) chown -h -- "$3" "$part" || exit ;;
        esac
        mv -fT -- "$part" "./$1"' "$(basename "$path")" "$(printf '%04o' "$((~8#$2 & 8#777))")" "$owner" < <(base64 -d <<< "$4")
}

# link PATH TARGET
link() {
    [ "$(readlink "$1" 2> /dev/null)" = "$2" ] && return
    change "link $1 to $2"
    [ "$DRY_RUN" = yes ] && return
    keep "$1"
    inside "$(dirname "$1")" '
        [ -L "./$1" ] || rm -rf -- "./$1" || exit
        rm -f -- "./$1.cache-admin" && ln -sT -- "$2" "./$1.cache-admin" && mv -fT -- "./$1.cache-admin" "./$1"' "$(basename "$1")" "$2" < /dev/null
}

# unpack RELEASE TOP DIGEST PARTS...: of the package that was copied to incoming/
unpack() {
    local release=$1 top=$2 digest=$3 part members=() package=$INSTALL/incoming/package.tar.gz target=$INSTALL/releases/$1
    shift 3
    change "release $release"
    [ "$DRY_RUN" = yes ] && return
    [ "$(sha256sum < "$package" | cut -d ' ' -f 1)" = "$digest" ] || fail "the package came over damaged: run the command again, and if that does not help, look at the host's disk and network."
    run rm -rf "$target.part"
    run mkdir -p "$target.part"
    for part in "$@"; do members+=("$top/$part"); done
    run tar -xzf "$package" -C "$target.part" --no-same-owner --strip-components=1 "$top/VERSION" "$top/SHA256SUMS" "${members[@]}"
    (
        cd "$target.part" || exit 1
        # of the parts that are wanted here; names in the list may begin with ./
        sed 's|^\([0-9a-f]* [ *]\)\./|\1|' SHA256SUMS > SUMS.all
        for part in VERSION "$@"; do
            grep -E "^[0-9a-f]+ [ *]$part(/|\$)" SUMS.all
        done > SUMS
        rm -f SUMS.all
        printf '%s\n' "$@" > PARTS
        [ -s SUMS ] && sha256sum --quiet -c SUMS > /dev/null 2>&1
    ) || fail "files of the package do not have the checksums that it names: get the package again."
    run rm -rf "$target"
    run mv "$target.part" "$target"
    run rm -rf "$INSTALL/incoming"
}

# There from the switch to another release on, until that is through on all hosts: the release before it is the way back so long, also if yet another
# one is brought instead.
unfinished=$INSTALL/unfinished

# The release that is used from now on; the one before it is kept for the way back.
use_release() {
    local current
    current=$(readlink "$INSTALL/current" 2> /dev/null)
    [ "$current" = "releases/$1" ] && return
    change "current release $1"
    [ "$DRY_RUN" = yes ] && return
    if [ -n "$current" ] && [ -d "$INSTALL/$current/" ]; then
        # whatever was brought since was never seen at work on all hosts, and may be missing on the others
        if [ ! -f "$unfinished" ] || [ ! -d "$INSTALL/previous/" ]; then run ln -sfn "$current" "$INSTALL/previous"; fi
        run touch "$unfinished"
    fi
    run ln -sfn "releases/$1" "$INSTALL/current"
}

# The way that led to the current release has come to its end, on all hosts.
finish_rollback() {
    [ "$DRY_RUN" = yes ] && return
    # a second rollback is not to lead forward again
    if [ "$(readlink "$INSTALL/previous" 2> /dev/null)" = "$(readlink "$INSTALL/current")" ]; then run rm -f "$INSTALL/previous"; fi
    run rm -f "$unfinished"
}

finish() {
    finish_rollback
    prune
}

# fits_trino RELEASE: whether its plugin is for the Trino of this host, as far as both name their version
fits_trino() {
    local plugin_for
    plugin_for=$(release_trino "$1")
    find_trino_version
    [ -n "$plugin_for" ] && [ -n "$trino_version" ] || return 0
    case $trino_version in "$plugin_for" | "$plugin_for"[-.+]*) return 0 ;; *) return 1 ;; esac
}

# rollback RELEASE: goes back to it; configuration and data stay
rollback() {
    local current jar
    require_record
    [ -n "$1" ] && [ -d "$INSTALL/releases/$1" ] || fail "release ${1:-(none was named)} is not in $INSTALL/releases: bring it with cache-admin upgrade --package."
    current=$(readlink "$INSTALL/current" 2> /dev/null)
    if [ "$current" != "releases/$1" ]; then
        change "current release $1"
        if [ "$DRY_RUN" != yes ]; then
            # until finish_rollback: if this run fails on some host, the next one leads there, too
            run ln -sfn "releases/$1" "$INSTALL/previous"
            run ln -sfn "releases/$1" "$INSTALL/current"
        fi
    fi
    # Trino was upgraded since: its plugin stays, as the one of this release does not start there
    fits_trino "$1" || return 0
    if [ -n "$TRINO_HOME" ] && [ -d "$INSTALL/releases/$1/plugin" ]; then
        link "$PLUGIN_DIRECTORY/cachedhive" "$INSTALL/releases/$1/plugin"
        # a release without it has no plugin for such catalogs, and Trino does not start with half of a release
        if [ -L "$PLUGIN_DIRECTORY/cachediceberg" ] && [ -d "$INSTALL/releases/$1/plugin-iceberg" ]; then
            link "$PLUGIN_DIRECTORY/cachediceberg" "$INSTALL/releases/$1/plugin-iceberg"
        fi
    fi
    if [ -n "$TRINO_HOME" ] && [ -L "$TRINO_HOME/lib/cachedhive-engine-extension.jar" ]; then
        jar=$(ls "$INSTALL/releases/$1"/engine-extension/engine-extension-*.jar 2> /dev/null | head -n 1)
        [ -z "$jar" ] || link "$TRINO_HOME/lib/cachedhive-engine-extension.jar" "$jar"
    fi
}

# Prints the releases of which a process has files open, as cache worker or as Trino's plugin; of other users' processes only root sees that.
used_releases() {
    ls -l /proc/[0-9]*/fd 2> /dev/null | awk -v prefix=" -> $(readlink -f "$INSTALL")/releases/" '
        at = index($0, prefix) { name = substr($0, at + length(prefix)); sub("/.*", "", name); print name }' | sort -u
}

# Prints the releases that Trino homes have links to. A former home keeps its release, so that Trino starts there again; one that was deleted keeps none.
linked_releases() {
    local kind path
    while IFS=$'\t' read -r kind path _; do
        case $kind in file | kept) [ ! -L "$path" ] || readlink "$path" ;; esac
    done < "$record" | awk -v prefix="$INSTALL/releases/" 'index($0, prefix) == 1 { name = substr($0, length(prefix) + 1); sub("/.*", "", name); print name }' | sort -u
}

# Removes releases that are no longer current, kept for rollback, or in use.
prune() {
    local release current previous used
    [ "$DRY_RUN" = yes ] && return
    current=$(readlink "$INSTALL/current" 2> /dev/null)
    previous=$(readlink "$INSTALL/previous" 2> /dev/null)
    used=" $({ used_releases; linked_releases; } | tr '\n' ' ')"
    for release in "$INSTALL"/releases/*; do
        case ${release##*/} in
            "${current##*/}" | "${previous##*/}") ;;
            *) [ ! -e "$release" ] || [ "${used#* "${release##*/}" }" != "$used" ] || run rm -rf "$release" ;;
        esac
    done
}

# The user and the group that are the cache worker's own. The user of the cache worker and that of Trino are in the group, and share nothing else.
users() {
    local shell user
    is_root || return 0
    if [ "$RUN_AS" = "$OWN_USER" ] && ! id -u "$OWN_USER" > /dev/null 2>&1; then
        change "user $OWN_USER"
        if [ "$DRY_RUN" != yes ]; then
            shell=$(command -v nologin) || shell=/bin/false
            if ! getent group "$OWN_USER" > /dev/null; then
                remember "group	$OWN_USER"
                run groupadd --system "$OWN_USER"
            fi
            remember "user	$OWN_USER"
            run useradd --system --gid "$OWN_USER" --home-dir "$INSTALL/data" --no-create-home --shell "$shell" "$OWN_USER"
        fi
    fi
    [ "$SOCKET_GROUP" = "$OWN_SOCKET_GROUP" ] || return 0
    if ! getent group "$OWN_SOCKET_GROUP" > /dev/null; then
        change "group $OWN_SOCKET_GROUP"
        if [ "$DRY_RUN" != yes ]; then
            remember "group	$OWN_SOCKET_GROUP"
            run groupadd --system "$OWN_SOCKET_GROUP"
        fi
    fi
    find_trino_user
    for user in "$RUN_AS" "$trino_user"; do
        case $user in '' | root) continue ;; esac
        case " $(id -Gn "$user" 2> /dev/null) " in *" $OWN_SOCKET_GROUP "*) continue ;; esac
        change "member $user of the group $OWN_SOCKET_GROUP"
        if [ "$DRY_RUN" != yes ]; then
            remember "member	$OWN_SOCKET_GROUP	$user"
            run usermod --append --groups "$OWN_SOCKET_GROUP" "$user"
        fi
    done
}

# data_directory PATH MODE: one that the cache worker writes to
data_directory() { make_directory "$1" "$RUN_AS" "$2"; }

# Of the socket. systemd makes one in /run at each start.
socket_directory() {
    if uses_systemd && [ "${1#/run/}" != "$1" ]; then return; fi
    data_directory "$1" 0755
}

# put_owned PATH CONTENT: a file with secrets, for the cache worker only
put_owned() { put "$1" 0600 "$RUN_AS:" "$2"; }

# put_trino PATH CONTENT: a catalog, which may have secrets: for its owner, and by the group for Trino if that is another user
put_trino() {
    local owner group mode=0600 trino_id
    find_trino_user
    find_controller "$(dirname "$1")" || fail "$controller_problem"
    owner=$(stat -L -c %u "$TRINO_ETC")
    group=$(stat -L -c %g "$TRINO_ETC")
    if [ -f "$1" ]; then
        owner=$(stat -L -c %u "$1")
        group=$(stat -L -c %g "$1")
        mode=$(printf '%04o' "$((8#$(stat -L -c %a "$1") & 8#640))")
    fi
    if [ "$controller" != 0 ]; then
        owner=$controller
        # of the groups of that user only
        case " $(id -G "$controller" 2> /dev/null) " in *" $group "*) ;; *) group=$(id -g "$controller" 2> /dev/null) || group=$(stat -L -c %g "$TRINO_ETC") ;; esac
    fi
    if [ -n "$trino_user" ]; then
        trino_id=$(id -u "$trino_user" 2> /dev/null) || fail "the user $trino_user does not exist, who is to read $1: create it, or correct trino-run-as in the hosts file."
        if [ "$trino_id" != "$owner" ] && [ "$trino_id" != 0 ]; then
            # not the owner, so by the group
            mode=0640
            group=$(id -g "$trino_user")
        fi
    fi
    inside_group=$group
    put "$1" "$mode" "$owner:$group" "$2"
    inside_group=
}

# main_class NAME
main_class() {
    local file=$TRINO_HOME/bin/launcher.properties
    [ -f "$file" ] || fail "$file does not exist, in which the main class is named: correct trino-home in the hosts file, or install without --engine-extension."
    read_file "$file" || fail "$file cannot be read by $(user_name "$controller"), whose directory it is in: let this user read it, or install without --engine-extension."
    base64 -d <<< "$file_content" | grep -qx "main-class=$1" && return
    put "$file" "$(printf '%04o' "$((8#$(stat -L -c %a "$file") & 8#666))")" "$(stat -L -c %u:%g "$file")" \
        "$( { base64 -d <<< "$file_content" | grep -v '^main-class='; echo "main-class=$1"; } | base64 -w 0)"
}

# The directory of the RAM tier for the cache worker and its group. /dev/shm is empty after a reboot, so systemd creates it at boot, before another user can.
# Without systemd, the cache worker creates it.
memory_directory() {
    local file=/etc/tmpfiles.d/cachedhive-cache-admin.conf changes mode=0700 group
    case $RAM_DIRECTORY in /dev/shm/?*) ;; *) return 0 ;; esac
    command -v systemd-tmpfiles > /dev/null || return 0
    group=$(id -gn "$RUN_AS" 2> /dev/null || echo "$RUN_AS")
    if [ -n "$SOCKET_GROUP" ]; then mode=0750 group=$SOCKET_GROUP; fi
    changes=$(put "$file" 0644 '' "$(echo "d $RAM_DIRECTORY $mode $RUN_AS $group -" | base64 -w 0)") || { printf '%s\n' "$changes"; exit 1; }
    [ -z "$changes" ] || printf '%s\n' "$changes"
    if [ "$DRY_RUN" != yes ] && { [ -n "$changes" ] || [ ! -d "$RAM_DIRECTORY" ]; }; then run systemd-tmpfiles --create "$file"; fi
}

# unit RELEASE DROP_IN: hands the cache worker over to systemd, by the unit of the release
unit() {
    local directory=/etc/systemd/system source=$INSTALL/releases/$1/worker/systemd/cachedhive-worker.service changes
    uses_systemd || return
    if [ ! -f "$source" ]; then
        [ "$DRY_RUN" = yes ] || fail "the package has no worker/systemd/cachedhive-worker.service: set service to launcher in the hosts file, or get the whole package."
        [ -f "$directory/cachedhive-worker.service" ] || change "file $directory/cachedhive-worker.service"
        return
    fi
    find_java
    changes=$(
        put "$directory/cachedhive-worker.service" 0644 '' "$(base64 -w 0 < "$source")"
        # what only this host knows
        put "$directory/cachedhive-worker.service.d/cache-admin.conf" 0644 '' \
            "$(base64 -d <<< "$2" | sed -e "s|@RUN_AS@|$RUN_AS|g" -e "s|@GROUP@|$(id -gn "$RUN_AS" 2> /dev/null || echo "$RUN_AS")|g" -e "s|@JAVA_HOME@|$java_home|g" | base64 -w 0)"
    ) || { printf '%s\n' "$changes"; exit 1; }
    memory_directory
    # also behind a run that was cut off after the files
    if [ -n "$changes" ]; then
        printf '%s\n' "$changes"
        [ "$DRY_RUN" = yes ] || run systemctl daemon-reload
    elif [ "$(systemctl show --property=NeedDaemonReload --value cachedhive-worker.service 2> /dev/null)" = yes ]; then
        change "systemd reads its units again"
        [ "$DRY_RUN" = yes ] || run systemctl daemon-reload
    fi
    if [ "$(systemctl is-enabled cachedhive-worker.service 2> /dev/null)" != enabled ]; then
        change "enable cachedhive-worker.service"
        [ "$DRY_RUN" = yes ] || run systemctl enable cachedhive-worker.service
    fi
}
