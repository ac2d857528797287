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

# finish: prints the count; its status is that of the test.
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
