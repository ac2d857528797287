# shellcheck shell=bash disable=SC2154
# Sourced by the tests of the dql command, with its path in $dql: runs it and counts what held.

passed=0
failed=0

# verdict NAME OK: counts a check; OK is 0 if it held.
verdict() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL  $1"
        sed 's/^/      /' out err
    fi
}

# expect STATUS TEXT ARGUMENT...: dql exits with STATUS, and TEXT is part of what it prints.
expect() {
    local status=$1 text=$2 ok=0
    shift 2
    "$dql" "$@" >out 2>err </dev/null
    [ $? -eq "$status" ] && cat out err | grep -qF -e "$text" || ok=1
    verdict "dql $*: expected status $status and: $text" $ok
}

# refuse TEXT FILE ARGUMENT...: dql fails, with nothing on stdout and the one line "dql: FILE: ...TEXT..." on stderr.
refuse() {
    local text=$1 file=$2 ok=0
    shift 2
    "$dql" "$@" >out 2>err </dev/null
    [ $? -eq 1 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -e "dql: $file: " err &&
        grep -qF -e "$text" err || ok=1
    verdict "dql $*: expected to fail about $file with: $text" $ok
}

# state FILE: what it is, whose, from when, and its checksum, but not how many names it has.
state() {
    # shellcheck disable=SC2012
    ls -ld "$1" | awk '{$2 = ""; print}' && { [ ! -f "$1" ] || cksum <"$1"; }
}

# refuse_output FILE TEXT ARGUMENT...: dql fails about FILE with TEXT, and FILE stays what it is.
refuse_output() {
    local file=$1 text=$2 before
    shift 2
    before=$(state "$file")
    refuse "$text" "$file" "$@"
    [ "$before" = "$(state "$file")" ]
    verdict "dql $*: expected to leave $file as it is" $?
}

# refuse_outputs ARGUMENT...: what -o of every command refuses to write to.
refuse_outputs() {
    ln -sf nowhere dangling
    echo precious >other && ln -sf other link
    refuse_output dangling "is a symbolic link" "$@" -o dangling
    refuse_output link "is a symbolic link" "$@" -o link
    [ ! -e nowhere ] && [ "$(cat other)" = precious ]
    verdict "dql $*: nothing is written through a link" $?
    refuse_output folder "is not a regular file" "$@" -o folder
    chmod 400 other
    if [ "$(id -u)" -ne 0 ]; then
        refuse_output other "Permission denied" "$@" -o other
    elif setpriv --bounding-set=-dac_override true 2>err; then
        printf '#!/bin/sh\nexec setpriv --bounding-set=-dac_override "%s" "$@"\n' "$dql" >unprivileged && chmod +x unprivileged
        dql=./unprivileged refuse_output other "Permission denied" "$@" -o other
    else
        echo "skipped: -o of a file without permission to write: root has it, and can't do without"
    fi
    # shellcheck disable=SC2016
    bash -c 'echo old >"new.$$.tmp" && exec "$@" -o new' - "$dql" "$@" >out 2>err </dev/null
    [ $? -eq 1 ] && grep -q "dql: new\.[0-9]*\.tmp: is in the way" err && [ "$(cat new.*.tmp)" = old ] && [ ! -e new ]
    verdict "dql $*: a temporary file that is there is not overwritten" $?
    rm -f dangling link other unprivileged new.*.tmp
}

# refuse_reads ARGUMENT... -- FILE...: a command doesn't write to these files, which it reads, by whatever name.
refuse_reads() {
    local arguments=() file
    while [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    for file in "${@:2}"; do
        ln -sf "$file" by_link
        rm -f by_hard_link && ln "$(realpath "$file")" by_hard_link
        for name in "$file" "./$file" "$PWD/$file" by_link by_hard_link; do
            refuse_output "$name" "is read by the same command" "${arguments[@]}" -o "$name"
        done
        rm by_link by_hard_link
    done
}

# keeps_permissions FILE ARGUMENT...: of FILE, which the command writes.
keeps_permissions() {
    local file=$1 mode
    shift
    for mode in 600 640 666 755; do
        rm -f "$file"
        touch "$file" && chmod $mode "$file"
        (umask 027 && "$dql" "$@" >out 2>err </dev/null) && [ "$(stat -c %a "$file")" = $mode ]
        verdict "dql $*: expected to keep the mode $mode of $file" $?
    done
    for mode in 077:600 022:644 027:640; do
        rm -f "$file"
        (umask ${mode%:*} && "$dql" "$@" >out 2>err </dev/null) && [ "$(stat -c %a "$file")" = ${mode#*:} ]
        verdict "dql $*: expected a new file under umask ${mode%:*} to be ${mode#*:}" $?
    done
}

# modest MEGABYTES ARGUMENT...: dql succeeds, and takes no more memory than that; its output is in out and err.
modest() {
    local most=$1
    shift
    if grep -q __asan_init "$dql"; then # has a shadow of everything
        "$dql" "$@" >out 2>err </dev/null
        verdict "dql $*: expected to succeed" $?
        return
    fi
    python3 - "$dql" "$@" >taken <<'END'
import resource, subprocess, sys
with open("out", "w") as out, open("err", "w") as err:
    status = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=out, stderr=err).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
END
    read -r status taken <taken
    [ "$status" -eq 0 ] && [ "$taken" -le "$most" ]
    verdict "dql $*: expected to succeed with $most MB of memory, but has status $status and took $taken" $?
}

# finish: prints the count; its status is that of the test.
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
