import { indentJson, safeJson } from './json.ts';
import { stripControls } from './safe-text.ts';

/** What a filter made of some JSON: text that ends with a newline or is empty, or why it made nothing. */
type Filtered = { ok: true; text: string } | { ok: false; problem: string };

/** Puts JSON texts, one behind the other, through a filter. `indent`: objects and lists over several lines. Never throws. */
export type JqFilter = (json: string, options: { indent: boolean }) => Filtered;

/**
 * A jq filter, ready to run: strings come out without quotes and without control characters, everything else as JSON on one line,
 * numbers as they were. `problem` is jq's own words where it is not a filter. The environment it sees is empty of this process'.
 */
export async function compileFilter(
  filter: string,
): Promise<{ ok: true; run: JqFilter } | { ok: false; problem: string }> {
  const { loadJq } = await import('jq-wasm');
  const jq = await loadJq();
  // A filter that begins with a dash would be read as an option.
  const program = filter.startsWith('-') ? ` ${filter}` : filter;
  const flags = ['--compact-output'];
  // Without input nothing runs, so that only what cannot be compiled fails here.
  const raw = (json: string): { stdout: string; stderr: string; exitCode: number } => {
    try {
      return jq.raw(json, program, flags);
    } catch (error) {
      // Its memory is its own: a filter that runs wild and JSON nested many thousand times deep end there.
      return { stdout: '', stderr: `it ran out of memory or depth (${(error as Error).message})`, exitCode: 5 };
    }
  };
  const compiled = raw('');
  if (compiled.exitCode !== 0) return { ok: false, problem: readProblem(compiled.stderr) };
  return {
    ok: true,
    run: (json, { indent }) => {
      const { stdout, stderr, exitCode } = raw(json);
      if (exitCode !== 0) return { ok: false, problem: readProblem(stderr) };
      const lines = stdout === '' ? [] : stdout.split('\n');
      return { ok: true, text: lines.map((line) => `${showLine(line, indent)}\n`).join('') };
    },
  };
}

function showLine(line: string, indent: boolean): string {
  if (line.startsWith('"')) return stripControls(JSON.parse(line));
  return safeJson(indent ? indentJson(line) : line);
}

/** jq's complaint without its own name, the place it read from and the summary at the end. */
function readProblem(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => !/^jq: \d+ compile errors?$/.test(line) && line.trim() !== '');
  return (lines[0] ?? 'it failed').replace(/^jq: error(?: \(at [^)]*\))?: /, '').replace(/:$/, '');
}
