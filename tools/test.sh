#!/bin/bash
# Tests the dql command: what it accepts, what it refuses, with which words and exit status.
#
#     test.sh DQL VECTORS        DQL: the binary; VECTORS: a folder of ONNX node tests that must pass
set -u
dql=$(realpath "$1")
vectors=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
python3 "$here/test_files.py" || exit 1

# shellcheck source=tools/test_lib.sh
source "$here/test_lib.sh"

# Models that have their tensors inside, and models that are run on x.pb, scale.pb and zero.pb of the good one.
refuse_model() { refuse "$1" "$2.onnx" run "$2.onnx"; }
refuse_x() { refuse "$1" "$2.pb" run good.onnx "$2.pb" good_scale.pb good_zero.pb; }

# --- usage ---
expect 2 "no command"
expect 2 "unknown command: frobnicate" frobnicate
expect 2 "run needs a model" run
expect 2 "unknown option: --fast" run --fast good.onnx
expect 2 "needs an argument: -o" run good.onnx -o
expect 2 "needs an argument that is not empty: -o" run good.onnx -o ""
expect 2 "given twice: -o" run good.onnx -o a -o a
expect 2 "a file without a name" run ""
expect 2 "test needs a folder" test
expect 2 "unknown option: -v" test -v
expect 2 "info takes no arguments: now" info now
for command in info test run inspect expand; do
    expect 2 "unknown option: --fast" $command --fast
    expect 2 "unknown option: --fast=3" $command a --fast=3
    expect 2 "unknown option: -x" $command -x
    expect 0 "usage: dql info" $command --help
    expect 0 "usage: dql info" $command -h
    expect 0 "usage: dql info" $command a b -h
done
expect 2 "info takes no arguments: -h" info -- -h
expect 2 "run needs a model" run --
refuse "No such file" -h run -- -h
refuse "No such file" -h inspect -- -h
refuse "No such file" --fast expand -o out.onnx -- --fast
expect 1 "dql: -h: No such file" test -- -h
expect 0 "scalar     yes" info --
for help in --help -h help; do
    expect 0 "usage: dql info" $help
done
expect 0 "dql " --version
expect 0 "scalar     yes      yes" info
! grep -q "^DQL_ISA" out
verdict "info without DQL_ISA" $?
for isa in scalar auto; do
    DQL_ISA=$isa expect 0 "DQL_ISA    $isa" info
    ! grep -q "ignored" out
    verdict "info with DQL_ISA=$isa" $?
done
DQL_ISA=Avx2 expect 0 "DQL_ISA    Avx2 (ignored: no ISA has this name)" info
[ ! -s err ]
verdict "info says it once" $?
DQL_ISA=$'a\tb' expect 0 "DQL_ISA    a?b (ignored: " info
DQL_ISA= expect 0 "scalar     yes" info
! grep -q "^DQL_ISA" out
verdict "info with an empty DQL_ISA" $?
other=$("$dql" info | awk '$2 == "no" && $3 == "no" {print $1; exit}')
if [ -n "$other" ]; then
    DQL_ISA=$other expect 0 "DQL_ISA    $other (ignored: it is not compiled in)" info
else
    echo "skipped: DQL_ISA of an ISA that is not compiled in: all are"
fi
for command in "run initializers.onnx" "inspect initializers.onnx" "expand initializers.onnx -o out.onnx"; do
    # shellcheck disable=SC2086
    DQL_ISA=sse9 expect 0 "dql: DQL_ISA=sse9 is ignored: no ISA has this name; " $command
    # shellcheck disable=SC2086
    DQL_ISA=scalar expect 0 "" $command
    [ ! -s err ]
    verdict "$command: no warning about DQL_ISA=scalar" $?
done
rm -f out.onnx
if [ -e /dev/full ]; then
    "$dql" --help >/dev/full 2>err
    verdict "help on a full disk: expected status 1" $(($? != 1))
fi

# --- run ---
good=(run good.onnx good_x.pb good_scale.pb good_zero.pb)
expect 0 "values       1 2 3 10 -10 244" "${good[@]}"
expect 0 "granularity  per axis, axis 0" "${good[@]}"
expect 0 "x_zero_point int8[2]" "${good[@]}"
expect 0 "y            float32[2,3]" "${good[@]}"
DQL_ISA=scalar expect 0 "isa          scalar" "${good[@]}"

for file in initializers com_microsoft no_zero empty_zero_name typed_data external external_link proto3_axis external_parent_inside \
    external_dots hub/snapshots/abc/m symbolic_model; do
    expect 0 "values       1 2 3 10 -10 244" run $file.onnx
done
for file in com_microsoft_not_imported latin_1 nul latin_1_names nul_names opset_10 opset_25 opset_26 opset_27 opset_28 \
    ir_version_14; do
    expect 0 "values       1 2 3 10 -10 244" run $file.onnx
    [ ! -s err ]
    verdict "run $file.onnx: expected nothing on stderr" $?
done
for file in opset_29:"note: opset 29 is newer than 28" opset_1000:"note: opset 1000 is newer than 28" \
    ir_version_15:"note: IR version 15 is newer than 14" ir_version_1000:"note: IR version 1000 is newer than 14"; do
    expect 0 "values       1 2 3 10 -10 244" run "${file%%:*}.onnx"
    grep -qF "dql: ${file%%:*}.onnx: ${file#*:}" err
    verdict "run ${file%%:*}.onnx: expected a note: ${file#*:}" $?
    expect 0 "${file#*:}" inspect "${file%%:*}.onnx"
    expect 0 "${file#*:}" expand "${file%%:*}.onnx" -o out.onnx
done
expect 1 'attribute "speed" is not known, and opset 29 newer than 28' run opset_29_attribute.onnx
expect 1 "x of type 99 is not supported" run opset_29_type.onnx
for ((pad = 0; pad < 16; pad++)); do
    expect 0 "values       0 -0 0.125 2 15 -15" run float6_pad_$pad.onnx
done
for file in numbers fields opset_29 zeros zeros_packed; do
    expect 0 "values       0 -0 0.125 2 15 -15" run float6_$file.onnx
    expect 0 "x            float6e2m3[2,3]" run float6_$file.onnx
done
expect 0 "values       0 -0 0.0625 1 56 -56" run float6e3m2.onnx
expect 0 "float6e3m2[2,3] * float32[2] -> float32" inspect float6e3m2.onnx
expect 0 "granularity  blocked, axis 1, block size 2" run blocked.onnx
expect 0 "y            bfloat16[2,3]" run bfloat16.onnx
expect 0 "granularity  per tensor" run scalar.onnx
expect 0 "values      " run no_elements.onnx

# --- files that are not what they should be ---
refuse "No such file" missing.onnx run missing.onnx
refuse "is a folder" folder run folder
refuse "is not a regular file" fifo run fifo
refuse_model "is empty" empty
refuse_model "more than the 2 GiB" huge
refuse_model "is a text, not an ONNX file" text
refuse_model "cut off" truncated
refuse_model "wire type 3" group
refuse_model "more than 10 bytes" long_varint
refuse_model "field number 0" field_0
refuse_model "has no graph: not an ONNX model" wrong_wire_type
refuse_model "is a text, not an ONNX file" long_text
refuse_model "is a TensorProto, not a model" tensor
refuse_model "is a TensorProto, not a model" typed_tensor
refuse_model "nest more than 100 deep" deep_graphs
refuse_model "nest more than 100 deep" deep_types
refuse_model "too much memory" memory
refuse_model "field graph appears twice" two_graphs

# --- models that are out of scope, or wrong ---
refuse_model "has no graph" no_graph
refuse_model "the graph has 2 nodes, not one" two_nodes
refuse_model 'the node is "QuantizeLinear"' quantize
refuse_model 'of the domain "my.domain"' other_domain
refuse_model "no opset of ONNX, the node's domain, is imported" no_opset
refuse_model "opset 9 is older than DequantizeLinear" opset_9
refuse_model 'tensor "x" (float6e2m3[2,3]) has 64 in int32_data, which is no code of 6 bits' float6_large
refuse_model 'tensor "x" (float6e2m3[2,3]) has -1 in int32_data, which is no code of 6 bits' float6_negative
refuse_model 'tensor "x" (float6e2m3[2,3]) has -2147483648 in int32_data, which is no code of 6 bits' float6_high_bits
refuse_model "has 5 numbers in int32_data, not 6" float6_packed_numbers
refuse_model "has 4 bytes of raw_data, not 5" float6_short
refuse_model "has 6 bytes of raw_data, not 5" float6_byte_each
refuse_model "x_zero_point has 0.125, but a zero point of a float type is 0" float6_zero
refuse_model "too many elements" float6_many
refuse_model 'unknown attribute "speed"' attribute_unknown
refuse_model 'attribute "axis" appears twice' attribute_twice
refuse_model 'attribute "axis" is not an int' attribute_float
refuse_model "output_dtype -1 is no type" output_dtype_negative
refuse_model "y of int64 is not supported" output_dtype_int64
refuse_model "the node has no x_scale" one_input
refuse_model "the node has 4 inputs" four_inputs
refuse_model "the node has 2 outputs, not one" two_outputs
refuse_model "the node has no y" no_output
refuse_model '"who" is neither an input of the graph nor an initializer' unknown_name
refuse_model '"a?b" is neither' control_characters
refuse_model "x of int64 is not supported" int64
refuse_model "x_scale of double is not supported" double_scale
refuse_model "needs 3 input files, but got 0" good
refuse "needs 3 input files, but got 2" good.onnx run good.onnx good_x.pb good_scale.pb
refuse "No such file" missing.pb run good.onnx missing.pb good_scale.pb good_zero.pb

# --- tensors that are wrong ---
refuse_x "has 5 bytes of raw_data, not 6" raw_short
refuse_x "has 7 bytes of raw_data, not 6" raw_long
refuse_x "has 5 numbers in int32_data, not 6" int32_short
refuse_x "has 256 in int32_data, which has no place in 1 byte" int32_large
refuse_x "has -129 in int32_data, which has no place in 1 byte" int32_small
refuse_x "has no data" no_data
refuse_x "more than one place" two_fields
refuse_x "is a segment" segment
refuse_x "unknown location (7)" location_7
refuse_x "has no type" no_type
refuse_x 'is uint8, but the model'"'"'s input "x" is int8' uint8
refuse_x "has shape [3,2], which is not that of" transposed
refuse_x "has its numbers in float_data, where those of int8 can't be, but in raw_data or int32_data" float_data
refuse_x "has its numbers in int64_data, where those of int8 can't be, but in raw_data or int32_data" int64_data
refuse_x "is a text, not an ONNX file" text
refuse_x "is a model, not a TensorProto" model
refuse_x "is a model, not a TensorProto" no_producer
refuse_x "has shape [0,3], which is not that" zero_dim_raw
refuse_x "has a NUL in a string" external_nul
refuse_x "cut off" pb_truncated
refuse_x "cut off" pb_garbage
refuse_model 'tensor "x" (int8[2,-3]) has a negative dim' negative_dim
refuse_model "has too many elements" many_elements
refuse_model 'x "x" is defined twice' x_twice
refuse_model 'tensor "x_scale" (float32[2]) has no data' scale_missing_data
refuse_model 'tensor "x" (int8[1099511627776]) has no data' many_missing
refuse_model "has its numbers in float_data, where those of float16 can't be" float16_in_float_data
refuse 'x "x" is defined twice' input_twice.onnx run input_twice.onnx good_x.pb good_scale.pb good_zero.pb good_x.pb

# --- shapes that do not fit ---
refuse_model "axis 1 of x of shape [2,3] has 3 elements, but x_scale has 4" scale_length
refuse_model "axis 2 is outside [-2, 2) of x of shape [2,3]" axis_2
refuse_model "x is a scalar, so x_scale must be one too, but has shape [2]" scalar_x
refuse_model "block_size is negative: -2" block_size_negative
refuse_model "dim 1 of x_scale of shape [2,3] must be 2: x has shape [2,3], axis 1, block_size 2" block_size_2
refuse_model "dim 0 of x_scale of shape [1,2] must be 2" block_off_axis
refuse_model "block_size is missing: x_scale has shape [2,2], x [2,3]: 2 would fit on axis 1" block_size_missing
refuse_model "x_scale has shape [2,2], x [2,10]: 5 to 9 would fit on axis 1" block_size_missing_several
refuse_model "x_scale has shape [2,1], x [2,3]: 3 or more would fit on axis 1" block_size_missing_one
refuse_model "x_scale has shape [1,2], x [2,3]: no block_size fits on axis 1" block_size_missing_none
refuse_model "x_scale has shape [1,5], x [1,7]: no block_size fits on axis 1" block_size_missing_gap
refuse_model "x_scale of shape [1,2,2] has rank 3, but x of shape [2,3] rank 2" scale_rank
refuse_model "x_scale of shape [2] has rank 1, but x of shape [2,3] rank 2" scale_rank_blocked
refuse_model "x_zero_point is uint8, but x is int8" zero_type
refuse_model "x_zero_point has shape [3], but x_scale has [2]" zero_shape
refuse_model "zero point of a float type" zero_float8

# --- external data ---
for file in absolute parent parent_and_back backslash drive no_location_name; do
    refuse_model "not a path inside the file's folder" external_$file
done
refuse_model "leads out of the file's folder" external_symlink
refuse_model "leads out of the file's folder" external_symlink_folder
refuse_model "leads out of the file's folder" hub/snapshots/abc/escape
refuse_model "external data without a location" external_no_location
refuse_model "No such file" external_missing
refuse_model "bytes 3 + 6 of a file of 8" external_beyond
refuse_model "bytes 18446744073709551600 + 6 of a file of 8" external_overflow
refuse_model "has 5 bytes of external data, not 6" external_length
refuse_model "that is no number" external_number
refuse_model "that is no number" external_big_number
refuse_model "more than one place" external_and_raw
refuse "is a folder" "$(realpath folder)" run external_folder.onnx

# --- the written file ---
expect 0 "values" "${good[@]}" -o y.pb
cmp -s y.pb good_y.pb
verdict "run -o: expected the bytes of good_y.pb" $?
expect 0 "values" "${good[@]}" -o y.pb
refuse "not an ONNX file" text.onnx run text.onnx -o y.pb
cmp -s y.pb good_y.pb
verdict "a run that fails leaves OUT.pb alone" $?
refuse "is not a regular file" folder "${good[@]}" -o folder
refuse_outputs "${good[@]}"
refuse_reads "${good[@]}" -- good.onnx good_x.pb good_scale.pb good_zero.pb
refuse_reads run external.onnx -- external.onnx data/x.bin
refuse_reads run external_link.onnx -- link.bin data/x.bin
refuse_reads run external_input.onnx external_x.pb -- external_x.pb data/x.bin
refuse_reads run hub/snapshots/abc/m.onnx -- hub/snapshots/abc/m.onnx hub/blobs/1111 hub/blobs/2222
refuse_reads run symbolic_model.onnx -- symbolic_model.onnx target/model.onnx target/x.bin
keeps_permissions y.pb "${good[@]}" -o y.pb

# --- streams ---
"$dql" "${good[@]}" -o - >out.pb 2>err && cmp out.pb good_y.pb >out && grep -q "^values       1 2 3" err
verdict "-o -: y on standard output, and the words on standard error" $?
"$dql" "${good[@]}" -o /dev/stdout 2>err | cmp - good_y.pb >out
verdict "-o /dev/stdout, a pipe" $?
if [ -e /dev/stdout ]; then
    "$dql" "${good[@]}" -o /dev/stdout >out.pb 2>err && cmp out.pb good_y.pb >out
    verdict "-o /dev/stdout, a file" $?
fi
cat fifo >out.pb &
"$dql" "${good[@]}" -o fifo >out 2>err && wait $! && cmp out.pb good_y.pb && grep -q "^values" out && [ -p fifo ]
verdict "-o of a named pipe" $?
if [ -e /dev/fd/0 ]; then
    "$dql" "${good[@]}" -o >(cat >out.pb) >out 2>err
    for ((i = 0; i < 100; i++)); do
        cmp -s out.pb good_y.pb && break
        sleep 0.05
    done
    cmp out.pb good_y.pb
    verdict "-o of a process substitution" $?
fi
if [ -c /dev/null ]; then
    expect 0 "values" "${good[@]}" -o /dev/null
    [ -c /dev/null ]
    verdict "-o /dev/null leaves the device" $?
fi
[ -c /dev/full ] && refuse "No space left" /dev/full "${good[@]}" -o /dev/full
cp good_x.pb copy_x.pb
"$dql" run good.onnx copy_x.pb good_scale.pb good_zero.pb -o - >>copy_x.pb 2>err
[ $? -eq 1 ] && grep -q "dql: -: is read by the same command" err && cmp copy_x.pb good_x.pb >out
verdict "-o - onto an input" $?
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    script -qec "'$dql' ${good[*]} -o -" /dev/null >out 2>err </dev/null
    grep -qF "is a terminal" out && ! grep -q "values" out
    verdict "-o - on a terminal" $?
else
    echo "skipped: -o - on a terminal: no script command, or no pseudo-terminal for it"
fi
rm -f out.pb copy_x.pb
refuse "No such file" missing/y.pb "${good[@]}" -o missing/y.pb
! ls ./*.tmp >/dev/null 2>&1
verdict "no temporary file stays" $?

# --- test ---
expect 0 " passed, 0 failed, 0 skipped" test "$vectors"
expect 1 "no ONNX node test in it" test folder
expect 1 "No such file" test missing
expect 0 "1 passed, 0 failed, 0 skipped" test tests/good
expect 0 "pass  good  int8[2,3] * float32[2] -> float32" test tests/good///
expect 0 'skip  quantize  the node is "QuantizeLinear", not DequantizeLinear' test tests/quantize
expect 0 "skip  opset_9  opset 9 is older than DequantizeLinear, which came with 10" test tests/opset_9
expect 0 "skip  int64  x of int64 is not supported" test tests/int64
expect 1 "FAIL  bits  element 5: got 0x43740000 (244), expected 0x43740001 (244.000015)" test tests/bits
expect 1 "FAIL  shape  got float32[2,3], expected float32[3,2]" test tests/shape
expect 1 "FAIL  type  got float32[2,3], expected int32[2,3]" test tests/type
expect 1 "FAIL  minus_0  element 0: got 0x00000000 (0), expected 0x80000000 (-0)" test tests/minus_0
expect 1 "FAIL  input_missing  needs 3 input files, but got 2" test tests/input_missing
expect 1 "FAIL  input_excess  needs 3 input files, but got 4" test tests/input_excess
expect 1 "FAIL  output_missing  No such file" test tests/output_missing
expect 1 "FAIL  no_set  no test_data_set_* in it" test tests/no_set
expect 1 "FAIL  second_set  element 0" test tests/second_set
expect 1 "FAIL  malformed  is cut off" test tests/malformed
expect 1 "1 passed, 10 failed, 3 skipped" test tests
expect 1 "1 passed, 0 failed, 0 skipped" test tests/good folder

# What -o writes is what test expects, for all types.
for model in "$vectors"/*/model.onnx; do
    folder=$(dirname "$model")
    copy=copies/$(basename "$folder")
    mkdir -p copies && cp -r "$folder" "$copy"
    set=$copy/test_data_set_0
    shopt -s nullglob
    "$dql" run "$copy/model.onnx" "$set"/input_*.pb -o "$set/output_0.pb" >out 2>err
    verdict "run -o of $copy" $?
done
expect 0 " passed, 0 failed, 0 skipped" test copies

finish
