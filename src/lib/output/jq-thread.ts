import { parentPort } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';
import { loadJq } from 'jq-wasm';
import { readAsset } from '../files/asset.ts';

export interface JqRun {
  json: string;
  program: string;
  flags: string[];
}

export interface JqOutput {
  stdout: string;
  stderr: string;
  exitCode: number;
}

// The whole of a thread: it answers each run. A run out of memory or depth ends here.
const wasmBinary = brotliDecompressSync(readAsset('jq.wasm.br'));
void loadJq({ wasmBinary }).then((jq) => {
  const run = ({ json, program, flags }: JqRun): JqOutput => {
    try {
      return jq.raw(json, program, flags);
    } catch {
      return { stdout: '', stderr: 'it ran out of memory or depth', exitCode: 5 };
    }
  };
  parentPort?.on('message', (job: JqRun) => parentPort?.postMessage(run(job)));
});
