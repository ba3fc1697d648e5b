import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { JqOutput, JqRun } from './jq-thread.ts';
import { indentJson, safeJson } from './json.ts';
import { stripControls } from './safe-text.ts';

type FilterResult = { ok: true; text: string } | { ok: false; problem: string };

/** Filters JSON texts, one after the other. `indent`: objects and lists over several lines. */
export interface JqFilter {
  /** Rejects when the signal is aborted. */
  run: (json: string, options: { indent: boolean }) => Promise<FilterResult>;
  close: () => Promise<unknown>;
}

export interface Threads {
  startThread: (name: 'jq-thread') => Promise<Worker>;
  signal: AbortSignal;
}

/**
 * Compiles a jq filter: strings come out without quotes and control characters, everything else as JSON on one line, numbers as they were.
 * It runs on a thread of its own with an empty environment, since a filter may never end.
 */
export async function compileFilter(
  filter: string,
  { startThread, signal }: Threads,
): Promise<{ ok: true; filter: JqFilter } | { ok: false; problem: string }> {
  const thread = await startThread('jq-thread');
  // A filter that starts with a dash would be read as an option.
  const program = filter.startsWith('-') ? ` ${filter}` : filter;
  const raw = async (json: string): Promise<JqOutput> => {
    // After a signal, answers still come whole; a second signal ends the process.
    const answered = once(thread, 'message', signal.aborted ? {} : { signal });
    thread.postMessage({ json, program, flags: ['--compact-output'] } satisfies JqRun);
    const [ran] = await answered;
    return ran;
  };
  const close = () => thread.terminate();
  // Without input only what cannot be compiled fails. A thread that is left would keep the process.
  const compiled = await raw('').catch(async (thrown: unknown) => {
    await close();
    throw thrown;
  });
  if (compiled.exitCode !== 0) {
    await close();
    return { ok: false, problem: readProblem(compiled.stderr) };
  }
  const run: JqFilter['run'] = async (json, { indent }) => {
    const { stdout, stderr, exitCode } = await raw(json);
    if (exitCode !== 0) return { ok: false, problem: readProblem(stderr) };
    const lines = stdout === '' ? [] : stdout.split('\n');
    return { ok: true, text: lines.map((line) => `${showLine(line, indent)}\n`).join('') };
  };
  return { ok: true, filter: { run, close } };
}

function showLine(line: string, indent: boolean): string {
  if (line.startsWith('"')) return stripControls(JSON.parse(line));
  return safeJson(indent ? indentJson(line) : line);
}

function readProblem(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => !/^jq: \d+ compile errors?$/.test(line) && line.trim() !== '');
  return (lines[0] ?? 'it failed').replace(/^jq: error(?: \(at [^)]*\))?: /, '').replace(/:$/, '');
}
