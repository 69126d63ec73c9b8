# Puts back what install found, by kept/record, the newest change first.

kept=$INSTALL/kept
record=$kept/record

require_own_install

# Removes the shared memory that this installation's cache worker left if it was killed. One that runs holds a lock on its file; other workers' files bear
# other ids.
remove_memory() {
    local file id
    id=$(as_worker head -n 1 "$INSTALL/data/state/worker-id" 2> /dev/null)
    [ -n "$id" ] && command -v flock > /dev/null || return 0
    for file in "$RAM_DIRECTORY/cachedhive-$id"-????????????????.ram; do
        [ -f "$file" ] && [ ! -L "$file" ] && as_worker flock -n "$file" true || continue
        change "remove $file"
        [ "$DRY_RUN" = yes ] || run as_worker flock -n "$file" rm -f "$file"
    done
}

# Removes a directory of the RAM tier in /dev/shm, unless another cache worker has its memory there.
remove_memory_directory() {
    case $RAM_DIRECTORY in /dev/shm/?*) ;; *) return 0 ;; esac
    if [ -d "$RAM_DIRECTORY" ] && [ ! -L "$RAM_DIRECTORY" ]; then
        try_inside "$(dirname "$RAM_DIRECTORY")" 'rmdir -- "./$1"' "$(basename "$RAM_DIRECTORY")" < /dev/null
    fi
}

# Whether one of the two pages of a superblock is ours (docs/formats/ssd.md).
is_ssd_directory() {
    [ -f "$1/superblock" ] && { head -c 8 "$1/superblock"; tail -c +4097 "$1/superblock" | head -c 8; } 2> /dev/null | tr -d '\0' | grep -qaF CHVSUPER
}

# Destroys the data key of an encrypted directory, without which no one can read what is left of its files.
purge_key() {
    local name
    for name in encryption-key encryption-key.new; do
        if [ -f "$1/$name" ] && [ ! -L "$1/$name" ]; then
            inside "$1" 'dd if=/dev/urandom of="./$1" bs=4096 count=1 oflag=nofollow conv=notrunc,fsync status=none && rm -f -- "./$1"' "$name" < /dev/null
            change "destroy the data key of $1"
        fi
    done
}

# Removes the data of a cache worker from a directory, by their names. What is not a cache worker's stays.
purge_ssd() {
    local path=$1 file files=()
    for file in "$path"/encryption-key "$path"/encryption-key.new "$path"/journal "$path"/checkpoint-[01] "$path"/slab-[0-9][0-9][0-9][0-9][0-9]; do
        [ ! -f "$file" ] || files+=("./${file##*/}")
    done
    if [ -f "$path/lock" ] && command -v flock > /dev/null; then
        try_inside "$path" 'flock -n ./lock true' < /dev/null || fail "$path is in use by a process (lock): stop the cache worker that has it, and run the command again."
    fi
    # no cache worker has begun to write there; in the lock of one is its process id
    if [ "${#files[@]}" = 0 ] && [ ! -e "$path/superblock" ]; then
        [ ! -f "$path/lock" ] || [ -n "$(head -c 32 "$path/lock" | tr -d '0-9\n')" ] || inside "$path" 'rm -f ./lock' < /dev/null
        return
    fi
    # one that install made is ours also where the first start was cut off before the superblock
    is_ssd_directory "$path" || grep -qxF "directory	$path" "$record" ||
        fail "$path/superblock is not one of a cache worker, so nothing was removed there: look whose files these are, and run the command without --purge, or remove them by hand and run it again."
    # before the files that it protects
    purge_key "$path"
    # by it the next run knows whose directory this is, if this one is cut off
    inside "$path" 'rm -f -- "$@" && rm -f ./superblock ./lock' "${files[@]}" < /dev/null
    change "remove data of $path"
}

# Removes users and groups that were made here, as kept/record has them.
remove_accounts() {
    local kind name member
    while IFS=$'\t' read -r kind name member; do
        case $kind in
            user)
                ! id -u "$name" > /dev/null 2>&1 || run userdel "$name"
                change "remove user $name" ;;
            group)
                # userdel has removed it if no other user is in it
                ! getent group "$name" > /dev/null || run groupdel "$name"
                change "remove group $name" ;;
            member)
                case " $(id -Gn "$member" 2> /dev/null) " in *" $name "*) run gpasswd --delete "$member" "$name" ;; esac ;;
        esac
    done
}

uninstall() {
    local kind path name user entries accounts remaining=()
    if [ ! -f "$record" ]; then
        [ -d "$INSTALL/releases" ] && fail "$record is missing, which records the replaced files: remove $INSTALL by hand."
        return
    fi
    if [ "$DRY_RUN" = yes ]; then
        while IFS=$'\t' read -r kind path name; do
            case $kind in
                kept) change "restore $path" ;;
                file | user | group) change "remove $path" ;;
                member) change "remove $name from the group $path" ;;
            esac
        done < "$record"
        change "remove $INSTALL/releases"
        [ "$PURGE" = yes ] && change "remove data of $INSTALL/data ${SSD_DIRECTORIES[*]}"
        remove_memory
        return
    fi
    # before the worker's id goes
    remove_memory
    remove_memory_directory
    if uses_systemd && [ -f /etc/systemd/system/cachedhive-worker.service ]; then
        run systemctl disable cachedhive-worker.service
    fi
    if [ "$PURGE" = yes ]; then
        for path in "${SSD_DIRECTORIES[@]}"; do
            [ ! -d "$path" ] || purge_ssd "$path"
        done
        # one that existed before is not ours
        if grep -qxF "directory	$INSTALL/data" "$record"; then
            purge_key "$INSTALL/data/state"
            run rm -rf "$INSTALL/data"
            change "remove $INSTALL/data"
        fi
    fi
    if [ -d "$(dirname "$SOCKET_PATH")" ]; then inside "$(dirname "$SOCKET_PATH")" 'rm -f -- "./$1"' "$(basename "$SOCKET_PATH")" < /dev/null; fi
    while IFS=$'\t' read -r kind path name user; do
        case $kind in
            file)
                [ ! -d "$(dirname "$path")" ] || inside "$(dirname "$path")" 'rm -f -- "./$1"' "$(basename "$path")" < /dev/null
                change "remove $path" ;;
            kept)
                # a Trino home that was deleted needs nothing
                if [ -e "$kept/$name" ] && [ -d "$(dirname "$path")" ]; then
                    # one user must not unpack, with its rights, what another user has packed
                    find_controller "$(dirname "$path")" || fail "$controller_problem"
                    [ "$controller" = "$user" ] || fail "$(dirname "$path") belonged to $(user_name "$user") when install replaced $path, and is controlled by $(user_name "$controller") now: give it back with chown, or remove $path and $kept/$name if you do not need the earlier file, and run the command again."
                    inside "$(dirname "$path")" 'rm -rf -- "./$1" && tar -xp --numeric-owner -f -' "$(basename "$path")" < "$kept/$name"
                    change "restore $path"
                fi ;;
        esac
    done < <(tac "$record")
    if uses_systemd; then run systemctl daemon-reload; fi
    run rm -rf "$INSTALL/releases" "$INSTALL/incoming" "$INSTALL/current" "$INSTALL/previous" "$INSTALL/restart-pending" "$INSTALL/unfinished"
    change "remove $INSTALL/releases"
    entries=$(grep '^directory	' "$record" | tac)
    accounts=$(grep -E '^(user|group|member)	' "$record" | tac)
    run rm -rf "$kept"
    while IFS=$'\t' read -r kind path; do
        # what others put into it keeps it, and so do data that are not purged: then a later uninstall --purge is to know that it was made here
        [ ! -d "$path" ] || try_inside "$(dirname "$path")" 'rmdir -- "./$1"' "$(basename "$path")" < /dev/null
        [ ! -d "$path" ] || remaining=("directory	$path" "${remaining[@]}")
    done <<< "$entries"
    if [ -d "$INSTALL" ] && [ "${#remaining[@]}" != 0 ]; then
        run mkdir -p -m 0700 "$kept"
        printf '%s\n' "${remaining[@]}" "directory	$kept" > "$record"
        # the data that stay belong to the user
        [ -z "$accounts" ] || tac <<< "$accounts" >> "$record"
    else
        remove_accounts <<< "$accounts"
    fi
}
