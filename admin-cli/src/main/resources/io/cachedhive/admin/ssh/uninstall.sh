# Puts back what install found, by kept/record, the newest change first.

kept=$INSTALL/kept
record=$kept/record

# Removes the shared memory that this installation's cache worker left if it was killed. One that runs holds a lock on its file; other workers' files bear
# other ids.
remove_memory() {
    local file id
    id=$(head -n 1 "$INSTALL/data/state/worker-id" 2> /dev/null)
    [ -n "$id" ] && command -v flock > /dev/null || return 0
    for file in "$RAM_DIRECTORY/cachedhive-$id"-????????????????.ram; do
        [ -f "$file" ] && [ ! -L "$file" ] && flock -n "$file" true || continue
        change "remove $file"
        [ "$DRY_RUN" = yes ] || run flock -n "$file" rm -f "$file"
    done
}

# Whether one of the two pages of a superblock is ours (docs/formats/ssd.md).
is_ssd_directory() {
    [ -f "$1/superblock" ] && { head -c 8 "$1/superblock"; tail -c +4097 "$1/superblock" | head -c 8; } 2> /dev/null | tr -d '\0' | grep -qaF CHVSUPER
}

# Removes the data of a cache worker from a directory, by their names. What is not a cache worker's stays.
purge_ssd() {
    local path=$1 file files=()
    for file in "$path"/journal "$path"/checkpoint-[01] "$path"/slab-[0-9][0-9][0-9][0-9][0-9]; do
        [ ! -f "$file" ] || files+=("$file")
    done
    if [ -f "$path/lock" ] && command -v flock > /dev/null; then
        flock -n "$path/lock" true || fail "$path is in use by a process (lock): stop the cache worker that has it, and run the command again."
    fi
    # no cache worker has begun to write there; in the lock of one is its process id
    if [ "${#files[@]}" = 0 ] && [ ! -e "$path/superblock" ]; then
        [ ! -f "$path/lock" ] || [ -n "$(head -c 32 "$path/lock" | tr -d '0-9\n')" ] || run rm -f "$path/lock"
        return
    fi
    # one that install made is ours also where the first start was cut off before the superblock
    is_ssd_directory "$path" || grep -qxF "directory	$path" "$record" ||
        fail "$path/superblock is not one of a cache worker, so nothing was removed there: look whose files these are, and run the command without --purge, or remove them by hand and run it again."
    # by it the next run knows whose directory this is, if this one is cut off
    [ "${#files[@]}" = 0 ] || run rm -f "${files[@]}"
    run rm -f "$path/superblock" "$path/lock"
    change "remove data of $path"
}

uninstall() {
    local kind path name entries remaining=()
    if [ ! -f "$record" ]; then
        [ -d "$INSTALL/releases" ] && fail "$record is missing, which records the replaced files: remove $INSTALL by hand."
        return
    fi
    if [ "$DRY_RUN" = yes ]; then
        while IFS=$'\t' read -r kind path name; do
            case $kind in
                kept) change "restore $path" ;;
                file) change "remove $path" ;;
            esac
        done < "$record"
        change "remove $INSTALL/releases"
        [ "$PURGE" = yes ] && change "remove data of $INSTALL/data ${SSD_DIRECTORIES[*]}"
        remove_memory
        return
    fi
    # before the worker's id goes
    remove_memory
    if uses_systemd && [ -f /etc/systemd/system/cachedhive-worker.service ]; then
        run systemctl disable cachedhive-worker.service
    fi
    if [ "$PURGE" = yes ]; then
        for path in "${SSD_DIRECTORIES[@]}"; do
            [ ! -d "$path" ] || purge_ssd "$path"
        done
        # one that existed before is not ours
        if grep -qxF "directory	$INSTALL/data" "$record"; then
            run rm -rf "$INSTALL/data"
            change "remove $INSTALL/data"
        fi
    fi
    rm -f "$SOCKET_PATH" 2> /dev/null
    while IFS=$'\t' read -r kind path name; do
        case $kind in
            file)
                run rm -f "$path"
                change "remove $path" ;;
            kept)
                if [ -e "$kept/$name" ] || [ -L "$kept/$name" ]; then
                    run rm -rf "$path"
                    run cp -a "$kept/$name" "$path"
                    change "restore $path"
                fi ;;
        esac
    done < <(tac "$record")
    if uses_systemd; then run systemctl daemon-reload; fi
    run rm -rf "$INSTALL/releases" "$INSTALL/incoming" "$INSTALL/current" "$INSTALL/previous" "$INSTALL/restart-pending" "$INSTALL/unfinished"
    change "remove $INSTALL/releases"
    entries=$(grep '^directory	' "$record" | tac)
    run rm -rf "$kept"
    while IFS=$'\t' read -r kind path; do
        # what others put into it keeps it, and so do data that are not purged: then a later uninstall --purge is to know that it was made here
        rmdir "$path" 2> /dev/null
        [ ! -d "$path" ] || remaining=("directory	$path" "${remaining[@]}")
    done <<< "$entries"
    if [ -d "$INSTALL" ] && [ "${#remaining[@]}" != 0 ]; then
        run mkdir -p "$kept"
        printf '%s\n' "${remaining[@]}" "directory	$kept" > "$record"
    fi
}
