import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { stripControls } from '../../api/safe-text.ts';
import { usageError } from '../../errors.ts';
import type { JqOutput, JqRun } from './jq-thread.ts';
import { indentJson, type JqFilter, safeJson } from './json.ts';

export interface Threads {
  startThread: (name: 'jq-thread') => Promise<Worker>;
  signal: AbortSignal;
}

/**
 * Compiles a jq filter: strings come out without quotes and control characters, everything else as JSON on one line, numbers as they were.
 * It runs on a thread of its own with an empty environment, since a filter may never end. Errors: `usage` for an invalid filter.
 */
export async function compileFilter(filter: string, { startThread, signal }: Threads): Promise<JqFilter> {
  const thread = await startThread('jq-thread');
  // A filter that starts with a dash would be read as an option.
  const program = filter.startsWith('-') ? ` ${filter}` : filter;
  const raw = async (json: string, hint: string): Promise<string> => {
    // After a signal, answers still come whole; a second signal ends the process.
    const answered = once(thread, 'message', signal.aborted ? {} : { signal });
    thread.postMessage({ json, program, flags: ['--compact-output'] } satisfies JqRun);
    const [ran] = await answered;
    const { stdout, stderr, exitCode }: JqOutput = ran;
    if (exitCode === 0) return stdout;
    throw usageError(`--jq ${filter}: ${readProblem(stderr)}`, hint);
  };
  const close = () => thread.terminate();
  // Without input only a compile error fails. A thread that keeps running would keep the process alive.
  await raw('', 'It takes a filter of jq 1.8, such as --jq ".traders[].profile.name".').catch(
    async (thrown: unknown) => {
      await close();
      throw thrown;
    },
  );
  const run: JqFilter['run'] = async (json, { indent }) => {
    const stdout = await raw(json, 'See what it works on with --json.');
    const lines = stdout === '' ? [] : stdout.split('\n');
    return lines.map((line) => `${showJqLine(line, indent)}\n`).join('');
  };
  return { run, close };
}

function showJqLine(line: string, indent: boolean): string {
  if (line.startsWith('"')) return stripControls(JSON.parse(line));
  return safeJson(indent ? indentJson(line) : line);
}

function readProblem(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => !/^jq: \d+ compile errors?$/.test(line) && line.trim() !== '');
  return (lines[0] ?? 'it failed').replace(/^jq: error(?: \(at [^)]*\))?: /, '').replace(/:$/, '');
}
