// Runs models in ONNX Runtime on one input and compares what they give, bit by bit.
//
//     node compare.mjs FLOAT.onnx QUANTIZED.onnx EXPANDED.onnx
//
// The last two must give the same, in every output: the weights are outputs too. How far that is from what the first one
// gives is printed: it tells that it is something.
// Without graph optimizations: DequantizeLinear is run as it is, and all else by the same code in both.
import {createRequire} from "node:module";
import {join} from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const ort = require("onnxruntime-node");

const SIZE = 96;

// Dark bars on a bright ground, and some noise that is the same each time: a network that finds text finds something.
function makeInput() {
  const data = new Float32Array(3 * SIZE * SIZE);
  let state = 1;
  for (let i = 0; i < data.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const row = Math.floor(i / SIZE) % SIZE, column = i % SIZE;
    const dark = row % 32 >= 8 && row % 32 < 24 && column % 8 < 4;
    data[i] = (dark ? -2 : 2) + state / 2 ** 33;
  }
  return new ort.Tensor("float32", data, [1, 3, SIZE, SIZE]);
}

async function run(path) {
  const session = await ort.InferenceSession.create(path, {
    graphOptimizationLevel: "disabled", intraOpNumThreads: 1, logSeverityLevel: 4,
  });
  return session.run({[session.inputNames[0]]: makeInput()});
}

function sameBits(a, b) {
  const bytes = ({data}) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return bytes(a).equals(bytes(b));
}

function distance(a, b) {
  return a.data.reduce((far, value, i) => Math.max(far, Math.abs(value - b.data[i])), 0);
}

const [float, quantized, expanded] = process.argv.slice(2);
const reference = await run(float);
const got = await run(expanded);
let wanted;
try {
  wanted = await run(quantized);
} catch (error) {
  console.log(`skipped: ONNX Runtime does not run it: ${String(error.message).split("\n")[0].slice(0, 160)}`);
  process.exit(0);
}
const names = Object.keys(wanted);
const different = names.filter((name) => !sameBits(wanted[name], got[name]));
const [result] = Object.keys(reference);
console.log(`${different.length === 0 ? "same" : `DIFFERENT: ${different.join(", ")}`}: ${names.length} outputs, ` +
  `at most ${distance(got[result], reference[result]).toPrecision(2)} from the float model`);
process.exit(different.length === 0 ? 0 : 1);
