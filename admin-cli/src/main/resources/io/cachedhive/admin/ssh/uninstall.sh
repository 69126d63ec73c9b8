# Puts back what install found, by kept/record, the newest change first.

kept=$INSTALL/kept
record=$kept/record

uninstall() {
    local kind path name entries remaining=()
    if [ ! -f "$record" ]; then
        [ -d "$INSTALL/releases" ] && fail "$record is missing, which says what was there before: remove $INSTALL by hand."
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
        return
    fi
    if uses_systemd && [ -f /etc/systemd/system/cachedhive-worker.service ]; then
        run systemctl disable cachedhive-worker.service
    fi
    if [ "$PURGE" = yes ]; then
        for path in "${SSD_DIRECTORIES[@]}"; do
            [ -d "$path" ] || continue
            # what is not a cache worker's stays
            rm -rf "$path"/superblock "$path"/journal* "$path"/checkpoint-* "$path"/slab-* "$path"/lock
            change "remove data of $path"
        done
        run rm -rf "$INSTALL/data"
        change "remove $INSTALL/data"
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
