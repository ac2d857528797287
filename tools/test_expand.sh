#!/bin/bash
# Tests dql inspect and dql expand.
#
#     test_expand.sh DQL MODELS        DQL: the binary; MODELS: a folder of NAME.onnx and NAME.expanded.onnx
set -u
dql=$(realpath "$1")
models=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
PYTHONDONTWRITEBYTECODE=1 python3 "$here/test_expand_files.py" || exit 1
# shellcheck source=tools/test_lib.sh
source "$here/test_lib.sh"

# expand MODEL.onnx EXPECTED.onnx OPTION...: dql expand makes these bytes of a model, and says nothing on stderr.
expand() {
    local model=$1 expected=$2 ok=0
    shift 2
    rm -f out.onnx
    "$dql" expand "$model" -o out.onnx "$@" >out 2>err </dev/null && [ ! -s err ] && cmp out.onnx "$expected" >>out 2>&1 ||
        ok=1
    verdict "dql expand $model $*: expected the bytes of $expected" $ok
}

# refuse_expand TEXT FILE ARGUMENT...: as refuse; and no file is there afterwards that was not there before.
refuse_expand() {
    local before after
    before=$(find . -type f | sort)
    refuse "$1" "$2" expand "${@:3}"
    after=$(find . -type f | sort)
    [ "$before" = "$after" ]
    verdict "dql expand ${*:3}: expected to leave no file" $?
}

# --- usage ---
expect 2 "expand needs a model" expand
expect 2 "expand needs -o OUT.onnx" expand big.onnx
expect 2 "expand takes one model, not also: b" expand big.onnx b -o c
expect 2 "unknown option: --fast" expand --fast big.onnx -o c
expect 2 "needs an argument: -o" expand big.onnx -o
for option in -o --external-data --dtype --jobs; do
    expect 2 "needs an argument that is not empty: $option" expand big.onnx $option ""
    expect 2 "given twice: $option" expand big.onnx $option 1 $option 1
done
for option in --external-data --dtype --jobs; do
    expect 2 "needs an argument: $option" expand big.onnx -o c $option
    expect 2 "needs an argument that is not empty: $option" expand big.onnx $option=
    expect 2 "given twice: $option" expand big.onnx $option=1 $option 1
done
for jobs in 0 257 -1 1x " 1" =1 99999999999999999999; do
    expect 2 "--jobs is a number from 1 to 256, not: $jobs" expand big.onnx -o c --jobs "$jobs"
    expect 2 "--jobs is a number from 1 to 256, not: $jobs" expand big.onnx -o c --jobs="$jobs"
done
expect 2 "--dtype is float32, float16 or bfloat16, not: int8" expand big.onnx -o c --dtype int8
for name in a/b .. . "a\\b" C:b; do
    expect 2 "--external-data is the name of a file beside OUT.onnx, not" expand big.onnx -o c --external-data "$name"
done
expect 2 "inspect takes one model" inspect
expect 2 "inspect takes one model" inspect a b
expect 2 "unknown option: -v" inspect -v
expect 0 "usage: dql info" expand --help
expect 0 "usage: dql info" inspect --help

# --- models, bit for bit ---
cp "$models"/*.onnx "$models"/*.bin .
for expected in *.expanded.onnx; do
    name=${expected%.expanded.onnx}
    expand "$name.onnx" "$expected"
    expand "$name.onnx" "$expected" --jobs 1
    expand "$expected" "$expected" --jobs 3 # nothing is left to do
done
for type in float32 float16 bfloat16; do
    expand cast.onnx "cast.$type.onnx" --dtype "$type"
done
expand inputs.onnx inputs.constant.onnx --constant-inputs
expand old.onnx old.constant.onnx --constant-inputs
expand types.onnx types.expanded.onnx --external-data small.bin # all of it is too small
[ ! -s small.bin ]
verdict "no external data: expected an empty file" $?
DQL_ISA=scalar expand types.onnx types.expanded.onnx

expect 0 "float4e2m1      float32          1             80             44            320" expand types.onnx -o out.onnx
expect 0 "float6e2m3      bfloat16         1             78             63            156" expand types.onnx -o out.onnx
expect 0 "float6e3m2      float32          1             15             27             60" expand types.onnx -o out.onnx
expect 0 "all                             18            299            448            952" expand types.onnx -o out.onnx
expect 0 "files: 4125 bytes before, 1418 after" expand types.onnx -o out.onnx
expect 0 "GB/s written, 1 job, " expand types.onnx -o out.onnx --jobs 1
DQL_ISA=scalar expect 0 "GB/s written, 3 jobs, scalar" expand --jobs=3 -o out.onnx -- types.onnx
if [ -n "$(command -v taskset)" ] && cpu=$(taskset -pc $$ | sed 's/.*[ ,-]//') && taskset -c "$cpu" true; then
    taskset -c "$cpu" "$dql" expand types.onnx -o out.onnx >out 2>err
    grep -qF "GB/s written, 1 job, " out
    verdict "jobs without --jobs on one CPU" $?
else
    echo "skipped: jobs on one CPU: no taskset"
fi
expect 0 "3 nodes are left: dql inspect says why" expand scopes.onnx -o out.onnx

# --- external data ---
expand big.onnx big_external.onnx --external-data y.bin
cmp y.bin big_y.bin >out 2>err
verdict "external data: expected the bytes of big_y.bin" $?
expand pages.onnx pages_external.onnx --external-data y.bin --jobs 2
cmp y.bin pages_y.bin >out 2>err
verdict "external data on pages: expected the bytes of pages_y.bin" $?
expect 0 "files: 593 bytes before, 2118 after" expand big.onnx -o elsewhere/out.onnx --external-data y.bin
# What is read counts, once a file: of the first model x.bin, by two names; of the second nothing, as its tensor stays.
model=$(stat -c %s external_twice.onnx)
expect 0 "files: $((model + $(stat -c %s data/x.bin))) bytes before, " expand external_twice.onnx -o out.onnx
for file in external_link.onnx:data/x.bin hub/snapshots/abc/m.onnx:hub/blobs/2222; do
    model=$(stat -Lc %s "${file%:*}")
    data=$(stat -c %s "${file#*:}")
    expect 0 "files: $((model + data)) bytes before, " expand "${file%:*}" -o out.onnx
done
model=$(stat -c %s external_stays.onnx)
expect 0 "files: $model bytes before, $model after" expand external_stays.onnx -o out.onnx
"$dql" expand big.onnx -o elsewhere/out.onnx --external-data y.bin >out 2>err
cmp elsewhere/y.bin big_y.bin >out 2>err
verdict "external data is beside OUT.onnx" $?
refuse_expand 'more than the 2 GiB of a protobuf message: --external-data FILE' out2.onnx sparse.onnx -o out2.onnx
cp y.bin elsewhere.bin
for file in absolute parent parent_and_back symlink missing beyond overflow length number; do
    refuse_expand 'y "y": ' external_$file.onnx external_$file.onnx -o out2.onnx
done

# --- files that must stay ---
refuse_outputs expand big.onnx
refuse_outputs expand big.onnx --external-data y2.bin
refuse_reads expand big.onnx -- big.onnx symbolic.onnx
refuse_reads expand external.onnx -- external.onnx data/x.bin
refuse_reads expand external_link.onnx -- link.bin data/x.bin
refuse_reads expand two_locations.onnx -- y.bin elsewhere.bin
refuse_reads expand hub/snapshots/abc/m.onnx -- hub/snapshots/abc/m.onnx hub/blobs/1111 hub/blobs/2222
refuse_reads expand symbolic_model.onnx -- symbolic_model.onnx target/model.onnx target/x.bin
for file in big.onnx symbolic.onnx hard.onnx; do
    refuse_output "./$file" "is read by the same command" expand big.onnx -o out2.onnx --external-data "$file"
done
for file in data/x.bin data/hard.bin data/link.bin; do
    refuse_output "$file" "is read by the same command" expand external.onnx -o data/out2.onnx --external-data "${file#*/}"
done
ln -s nowhere dangling
refuse_output ./dangling "is a symbolic link" expand big.onnx -o out2.onnx --external-data dangling
refuse_output ./folder "is not a regular file" expand big.onnx -o out2.onnx --external-data folder
[ -c /dev/null ] && refuse_output /dev/null "is not a regular file" expand big.onnx -o /dev/null
refuse "can't be standard output here" - expand big.onnx -o -
refuse_output ./fifo "is not a regular file" expand big.onnx -o out2.onnx --external-data fifo
[ ! -e out2.onnx ] && [ ! -e nowhere ] && [ ! -e data/out2.onnx ]
verdict "what is refused leaves no file" $?
keeps_permissions out.onnx expand big.onnx -o out.onnx
keeps_permissions y2.bin expand big.onnx -o out.onnx --external-data y2.bin
rm y2.bin
refuse_expand "can't be the model and its external data" ./out2.onnx big.onnx -o out2.onnx --external-data out2.onnx
refuse_expand 'would not find the data of tensors that stay: "external_data.bin" is beside external_data.onnx' \
    elsewhere/out2.onnx external_data.onnx -o elsewhere/out2.onnx
refuse_expand "is a folder" folder folder -o out2.onnx
refuse_expand "No such file" missing/out.onnx big.onnx -o missing/out.onnx
cp big_y.bin out2.onnx
refuse "zero point of a float type" zero_float8.onnx expand zero_float8.onnx -o out2.onnx
cmp out2.onnx big_y.bin >out 2>err
verdict "an expansion that fails leaves OUT.onnx alone" $?
rm out2.onnx

# --- what ends it half-way ---
(
    ulimit -f 64
    refuse_expand "File too large" out2.onnx long.onnx -o out2.onnx
    refuse_expand "File too large" ./out2.bin long.onnx -o out2.onnx --external-data out2.bin
    [ "$failed" -eq 0 ]
)
verdict "expand on a full disk" $?

# interrupt NAME STATUS COMMAND...: runs COMMAND when dql has begun to write; dql ends with STATUS, and no file stays.
interrupt() {
    local name=$1 status=$2 dql_id i
    shift 2
    # A shell has its background jobs ignore SIGINT and SIGQUIT.
    python3 -c 'import os, signal, sys; [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGQUIT)]; os.execv(sys.argv[1], sys.argv[1:])' \
        "$dql" expand long_copy.onnx -o out2.onnx --jobs 2 >out 2>err &
    dql_id=$!
    for ((i = 0; i < 1000; i++)); do
        ls out2.onnx.*.tmp >/dev/null 2>&1 && break
        sleep 0.01
    done
    "$@" "$dql_id" >/dev/null
    { wait "$dql_id"; } 2>/dev/null
    [ $? -eq "$status" ] && ! ls out2.onnx* >/dev/null 2>&1
    verdict "$name: expected status $status, and no file" $?
}
for signal in INT:130 QUIT:131 TERM:143 HUP:129 XCPU:152; do
    cp long.onnx long_copy.onnx
    interrupt "SIG${signal%:*}" "${signal#*:}" kill "-${signal%:*}"
done
cp long.onnx long_copy.onnx
leave_temporary() {
    kill -KILL "$1"
    while kill -0 "$1" 2>/dev/null; do sleep 0.01; done
    [ "$(echo out2.onnx*)" = "out2.onnx.$1.tmp" ] && rm "out2.onnx.$1.tmp"
    echo "left $?" >killed
}
interrupt "SIGKILL" 137 leave_temporary 2>/dev/null # the shell says "Killed"
grep -qx "left 0" killed
verdict "SIGKILL leaves out2.onnx.PID.tmp" $?
# What is read later than a file becomes shorter is missed.
truncate_model() { truncate -s 100 long_copy.onnx; }
cp long.onnx long_copy.onnx
interrupt "the model becomes shorter" 1 truncate_model
grep -q "^dql: long_copy.onnx: .*became shorter while it was read" err && [ "$(wc -l <err)" -eq 1 ]
verdict "the model becomes shorter: expected to hear so" $?
rm -f long_copy.onnx

# --- memory: not that of tensors, nor of what they become ---
modest 14 inspect long.onnx
modest 14 expand long.onnx -o out.onnx --jobs 2
modest 14 expand long.onnx -o out.onnx --external-data y.bin --jobs 2
modest 14 expand long_external.onnx -o out.onnx --jobs 2
python3 - <<'END'
x = bytes(i * 7 % 251 for i in range(16 << 20))
table = [float(2 * (v - 256 if v > 127 else v)) for v in range(256)]
import struct
y = b"".join(struct.pack("<f", table[v]) for v in x[:251]) * (len(x) // 251 + 1)
made = open("out.onnx", "rb").read()
assert made.count(y[:4 * len(x)]) == 3, "y of long_external.onnx"
END
verdict "expand of slices of external data: expected the values" $?
modest 14 expand kept.onnx -o out.onnx
cmp out.onnx kept.onnx
verdict "large tensors that stay: expected their bytes" $?

# --- time and memory: none in the square of the file's size ---
modest 56 expand ranks.onnx -o out.onnx
expect 0 'tensor "x" has 1025 dims, more than 1024' inspect rank_1025.onnx
expect 0 "0 yes, 2000 no" inspect rank_500000.onnx
modest 24 expand rank_500000.onnx -o out.onnx
cmp out.onnx rank_500000.onnx >out 2>err
verdict "nodes of too many dims: expected to stay" $?
expect 0 "a tensor is declared with more than 1024 dims" inspect declared_dims.onnx
expect 0 "40000 yes" inspect opsets.onnx
expect 0 "all                          40000          40000" expand opsets.onnx -o out.onnx
refuse_expand "has 40001 entries of external data, more than 64" entries.onnx entries.onnx -o out2.onnx

# --- the bar ---
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    script -qec "'$dql' expand big.onnx -o out.onnx" /dev/null >out 2>err </dev/null
    grep -qF "100%" out && grep -qF "time: " out
    verdict "a bar on a terminal" $?
else
    echo "skipped: the bar on a terminal: no script command, or no pseudo-terminal for it"
fi

# --- --dtype ---
expect 0 "float16" expand cast.onnx -o out.onnx --dtype float16
refuse_expand 'y "y": y is float32, and nodes other than Cast use it: they may not take float16' abs.onnx \
    abs.onnx -o out2.onnx --dtype float16
refuse_expand "y is float32 and an output: as bfloat16 it would make another model" initializers.onnx \
    initializers.onnx -o out2.onnx --dtype bfloat16
refuse_expand "y is declared as float32, so it can't become float16" declared.onnx \
    declared.onnx -o out2.onnx --dtype float16
refuse_expand "y is declared as float32, so it can't become float16" declared_in_function.onnx \
    declared_in_function.onnx -o out2.onnx --dtype float16
expect 0 "float32          1" expand declared_in_function.onnx -o out.onnx
expect 0 "float16" expand declared_float16.onnx -o out.onnx --dtype float16
refuse_expand "Cast takes that from opset 13 on" cast_opset_10.onnx cast_opset_10.onnx -o out2.onnx --dtype bfloat16
expect 0 "float32" expand initializers.onnx -o out.onnx --dtype float32

# --- inspect ---
expect 0 "yes  y  int8[2,3] * float32[2] -> float32; per axis, axis 0; constant; opset 21" inspect initializers.onnx
expect 0 "yes  y  int8[2,3] * float32[2] -> float32; per axis, axis 0; constant; com.microsoft 1" \
    inspect com_microsoft.onnx
expect 0 "blocked, axis 1, block size 2" inspect blocked.onnx
expect 0 'per axis, axis 0; x "x" is an input; opset 21' inspect good.onnx
expect 0 "1 DequantizeLinear: 1 yes, 0 no, 0 ?; dql expand replaces 0" inspect good.onnx
expect 0 "no   y  int64[2,3] * float32[2] -> float32; per axis, axis 0; constant; opset 21; x of int64 is not supported" \
    inspect int64.onnx
expect 0 'no   y  ?; opset 21; attribute "axis" appears twice' inspect attribute_twice.onnx
expect 0 'DequantizeLinear of the domain "my.domain"' inspect other_domain.onnx
expect 0 "opset 9 is older than DequantizeLinear" inspect opset_9.onnx
expect 0 "axis 1 of x of shape [2,3] has 3 elements, but x_scale has 4" inspect scale_length.onnx
expect 0 "x_zero_point is uint8, but x is int8" inspect zero_type.onnx
expect 0 'x "a?b" is defined nowhere' inspect control_characters.onnx
expect 0 "0 DequantizeLinear" inspect quantize.onnx
expect 0 "yes  then/deeper/deep  int8[2]" inspect scopes.onnx
expect 0 'no   function/referring  ?; opset 21; attribute "axis" is the function'"'"'s "the function'"'"'s axis"' \
    inspect scopes.onnx
expect 0 'x "default.x" is an input, and its initializer only a default' inspect uses.onnx
expect 0 'yes  dynamic  uint8[...] * float32[] -> float32; per tensor; x "dynamic.x" is computed; opset' inspect uses.onnx
expect 0 '?    y  int8[...] * float32[2] -> float32; per axis, axis 0; x "x" is an input; opset 21; it depends on the shape of x' \
    inspect no_shape_x.onnx
# What is known of x is enough, shows that it can't be right, or isn't enough; a scale of rank 2 is never per axis.
for file in axis_known:"yes  y  int8[?,3] * float32[3] -> float32; per axis, axis 1; x" \
    axis_known_wrong:"axis 1 of x of shape [?,4] has 4 elements, but x_scale has 3" \
    axis_unknown:"?    y  int8[?,3] * float32[3] -> float32; per axis, axis 0; x" \
    axis_outside:"axis 2 is outside [-2, 2) of x of shape [?,3]" tensor:"yes  y  int8[?,?] * float32[] -> float32; per tensor" \
    tensor_rank_2:"yes  y  int8[?,?] * float32[1,1] -> float32; per tensor" \
    tensor_rank_3:"x_scale of shape [1,1,1] has rank 3, but x of shape [?,?] rank 2" \
    blocked:"?    y  int8[?,8] * float32[2,4] -> float32; blocked, axis 1, block size 2; x" \
    blocked_wrong:"dim 1 of x_scale of shape [2,3] must be 4: x has shape [?,8], axis 1, block_size 2" \
    blocked_rank:"x_scale of shape [2,3,4] has rank 3, but x of shape [?,8] rank 2" \
    blocked_negative:"block_size is negative: -9223372036854775808" blocked_huge:"has too many elements" \
    blocked_no_size:"block_size is missing: x_scale has shape [2,4]" \
    no_shape_no_size:"block_size is missing: x_scale has shape [2,4]" \
    no_shape_axis:"?    y  int8[...] * float32[2] -> float32; per axis, axis 1; x" \
    no_shape_blocked:"?    y  int8[...] * float32[2,4] -> float32; blocked, axis 1, block size 2; x"; do
    expect 0 "${file#*:}" inspect "partial_${file%%:*}.onnx"
    [[ $file != *blocked* && $file != *size* ]] || ! grep -qF "per axis" out
    verdict "inspect partial_${file%%:*}.onnx: expected no scale of rank 2 per axis" $?
done
expect 0 "blocked, axis 1, no block size; constant; opset 21; block_size is missing" inspect block_size_missing.onnx
expect 0 'tensor "x_scale" (float32[2]) has no data' inspect wrong_constant.onnx
expect 0 "1 DequantizeLinear: 0 yes, 1 no, 0 ?; dql expand replaces 0" inspect wrong_constant.onnx
expect 0 'x_scale "x_scale" is an input, and its initializer only a default' inspect default_scale.onnx
expect 0 "dql expand replaces 0" inspect default_scale.onnx
expect 0 "dql expand replaces 1" inspect --constant-inputs default_scale.onnx
expect 0 "all                              1" expand default_scale.onnx --constant-inputs -o out.onnx
expect 0 "no   y  int8[2,-3] * float32[2]" inspect negative_dim.onnx
expect 0 "?    y  int8[2,3] * float32[...] -> float32; x \"x\" is an input; opset 21; it depends on the shape of x_scale" \
    inspect shapes_only.onnx
expect 0 'opset 21; tensor "x": external data at "data/y.bin": No such file' inspect external_missing.onnx
expect 0 "1 DequantizeLinear: 0 yes, 1 no, 0 ?; dql expand fails, as 1 is wrong" inspect external_missing.onnx

# --- files that are not what they should be ---
for file in missing:"No such file" folder:"is a folder" fifo:"not a regular file" empty.onnx:"is empty" \
    huge.onnx:"more than the 2 GiB" text.onnx:"not an ONNX file" truncated.onnx:"cut off" group.onnx:"wire type 3" \
    long_varint.onnx:"more than 10 bytes" field_0.onnx:"field number 0" deep_graphs.onnx:"nest more than 100 deep" \
    deep_types.onnx:"nest more than 100 deep" deep_in_function.onnx:"nest more than 100 deep" \
    memory.onnx:"too much memory" two_graphs.onnx:"field graph appears twice" \
    long_text.onnx:"is a text" tensor.onnx:"is a TensorProto, not a model" no_graph.onnx:"has no graph" wrong_wire_type.onnx:"has no graph" \
    raw_number.onnx:"field raw_data of a TensorProto has wire type 0" \
    training.onnx:"has training_info" memory_names.onnx:"too much memory"; do
    refuse "${file#*:}" "${file%%:*}" inspect "${file%%:*}"
    refuse_expand "${file#*:}" "${file%%:*}" "${file%%:*}" -o out2.onnx
done

# --- models that are out of scope, or wrong ---
for file in axis_2:"axis 2 is outside" block_size_2:"dim 1 of x_scale" negative_dim:"a negative dim" many_elements:"too many elements" \
    zero_type:"x_zero_point is uint8" zero_shape:"x_zero_point has shape" zero_float8:"zero point of a float type" \
    external_and_raw:"more than one place" constant_without_value:"Constant node without a value"; do
    refuse_expand "${file#*:}" "${file%%:*}.onnx" "${file%%:*}.onnx" -o out2.onnx
done
for file in attribute_unknown:'unknown attribute "speed"' attribute_twice:"appears twice" four_inputs:"4 inputs" \
    two_outputs:"2 outputs" no_output:"the node has no y" no_opset:"no opset" int64:"x of int64" double_scale:"x_scale of double" other_domain:"my.domain" opset_9:"opset 9" \
    unknown_name:"is defined nowhere" two_nodes:"defined twice" x_twice:"defined twice" \
    sparse_initializer:"is computed" function_replaces:"is a function of the model" constant_replaced:"is computed" \
    two_outputs_constant:"is computed" good:"is an input"; do
    expect 0 "${file#*:}" inspect "${file%%:*}.onnx"
    expand "${file%%:*}.onnx" "${file%%:*}.onnx" # as it was
done
for file in opset_29_attribute:"is not known, and opset 29 newer than 28" opset_29_type:"x of type 99"; do
    expect 0 "${file#*:}" inspect "${file%%:*}.onnx"
    expect 0 "1 node is left" expand "${file%%:*}.onnx" -o out.onnx
    cmp out.onnx "${file%%:*}.onnx" >>out 2>&1
    verdict "dql expand ${file%%:*}.onnx: expected it as it was" $?
done
expect 0 "20000 DequantizeLinear: 20000 yes, 0 no, 0 ?; dql expand replaces 20000" inspect many_nodes.onnx
expect 0 "all                          20000         120000" expand many_nodes.onnx -o out.onnx
expect 0 'left: y "z": attribute "axis" is not an int' expand unread.onnx -o out.onnx
expect 0 'left: y "zz": DequantizeLinear of the domain "my.domain"' expand unread.onnx -o out.onnx
expect 0 "int8            float32          1" expand unread.onnx -o out.onnx
expect 0 "2 nodes are left: dql inspect says why" expand unread.onnx -o out.onnx
expect 0 "3 DequantizeLinear: 1 yes, 2 no, 0 ?; dql expand replaces 1" inspect unread.onnx
expect 0 "20000 DequantizeLinear: 20000 yes, 0 no, 0 ?; dql expand replaces 20000" inspect deep_chain.onnx
expect 0 "all                          20000          20000          20004              4" expand deep_chain.onnx -o out.onnx
expect 0 "20000 DequantizeLinear: 1 yes, 0 no, 19999 ?; dql expand replaces 0" inspect deep_cycle.onnx
expect 0 "20000 nodes are left" expand deep_cycle.onnx -o out.onnx
expect 0 "depends on this node's own y" inspect deep_cycle.onnx
expect 0 "1 DequantizeLinear" inspect many_names.onnx
expect 0 "0 DequantizeLinear" inspect deep_names.onnx
expect 0 "int8            float32          1" expand same_operand.onnx -o out.onnx

! find . -name '*.tmp' | grep -q .
verdict "no temporary file stays" $?
finish
