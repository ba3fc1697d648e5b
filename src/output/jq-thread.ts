import { parentPort } from 'node:worker_threads';
import { loadJq } from 'jq-wasm';

/** One run of jq: some JSON, the program, and its flags. */
export interface JqRun {
  json: string;
  program: string;
  flags: string[];
}

/** What came of a run. */
export interface JqRan {
  stdout: string;
  stderr: string;
  exitCode: number;
}

// The whole of a thread: it answers each run with what came of it. Its memory is its own: what runs wild or too deep ends there.
void loadJq().then((jq) => {
  const run = ({ json, program, flags }: JqRun): JqRan => {
    try {
      return jq.raw(json, program, flags);
    } catch {
      return { stdout: '', stderr: 'it ran out of memory or depth', exitCode: 5 };
    }
  };
  parentPort?.on('message', (asked: JqRun) => parentPort?.postMessage(run(asked)));
});
