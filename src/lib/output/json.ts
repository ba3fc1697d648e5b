import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { endOfString, unicodeEscapes } from '../../api/json.ts';
import { patternOnUse, stripControls, terminalText, unseenClass } from '../../api/safe-text.ts';
import { usageError } from '../../errors.ts';
import type { JqOutput, JqRun } from './jq-thread.ts';
import { collectItems, type Form } from './view.ts';

// Deeper lines are not indented further, so that a deeply nested answer stays linear in size.
const deepest = 100;

/** Valid JSON text as JSON.stringify(value, null, 2) lays it out, with every number, string and key exactly as it was. */
export function indentJson(text: string): string {
  let indented = '';
  let depth = 0;
  let previous = '';
  const newline = () => `\n${'  '.repeat(Math.min(depth, deepest))}`;
  for (const token of jsonTokens(text)) {
    if (token === '}' || token === ']') {
      depth -= 1;
      if (previous !== '{' && previous !== '[') indented += newline();
    } else if (previous === '{' || previous === '[' || previous === ',') {
      indented += newline();
    }
    if (token === '{' || token === '[') depth += 1;
    indented += token === ':' ? ': ' : token;
    previous = token;
  }
  return indented;
}

/** Valid JSON text with DEL and the C1 controls, which terminals obey, as `\u` escapes. */
export function safeJson(text: string): string {
  return text.replace(/[\x7f-\x9f]/g, unicodeEscapes);
}

const unseen = patternOnUse(`[${unseenClass}]`, 'gu');

/** The same for a terminal: characters that hide or reorder text are escaped too; if more would be cleaned there, everything beyond ASCII. */
export function visibleJson(text: string): string {
  const visible = safeJson(text).replace(unseen(), unicodeEscapes);
  return terminalText(visible) === visible ? visible : visible.replace(/[\u0080-\uffff]/g, unicodeEscapes);
}

/** The tokens of valid JSON text, without white space. A pattern for strings would overflow the stack on long ones. */
function* jsonTokens(text: string): Generator<string> {
  const token = /[{}[\],:"]|[^\s{}[\],:"]+/g;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '"') token.lastIndex = endOfString(text, found.index) + 1;
    yield text.slice(found.index, token.lastIndex);
  }
}

/** An answer as received, indented; a list only after its last row, since it must be complete or absent. */
export const jsonForm: Form = async function* ({ batches, answer }) {
  if (answer?.json !== undefined) {
    yield `${safeJson(indentJson(answer.json))}\n`;
    return;
  }
  const pages: string[] = [];
  for await (const batch of batches) if (batch.length > 0) pages.push(indentJson(JSON.stringify(batch)).slice(1, -2));
  if (pages.length === 0) yield '[]\n';
  for (const [index, items] of pages.entries()) yield (index === 0 ? '[' : ',') + safeJson(items);
  if (pages.length > 0) yield '\n]\n';
};

/** One object a line. */
export const ndjsonForm: Form = async function* ({ batches }) {
  for await (const batch of batches)
    yield listLines(batch)
      .map((line) => `${safeJson(line)}\n`)
      .join('');
};

/** Filters JSON texts, one after the other. `indent`: objects and lists over several lines. */
export interface JqFilter {
  /** Errors: `usage` if the filter fails. Rejects when the signal is aborted. */
  run: (json: string, options: { indent: boolean }) => Promise<string>;
  close: () => Promise<unknown>;
}

/** The output of a jq filter for the whole JSON, or for each item. */
export function jqForm(filter: JqFilter, { byItem, indent }: { byItem: boolean; indent: boolean }): Form {
  const run = (json: string) => filter.run(json, { indent: indent && !byItem });
  return async function* ({ batches, answer }) {
    if (!byItem) yield await run(answer?.json ?? JSON.stringify(await collectItems(batches)));
    else for await (const batch of batches) if (batch.length > 0) yield await run(listLines(batch).join('\n'));
  };
}

/** The JSON of each row. */
function listLines(batch: readonly unknown[]): string[] {
  return batch.map((row) => JSON.stringify(row ?? null));
}

/** Escapes of JSON: a whole surrogate pair, half of one, the beginning of any other. jq refuses a text with a half, which has six characters. */
const escapes = /\\u[Dd][89ABab]..\\u[Dd][C-Fc-f]..|\\u[Dd][89A-Fa-f]..|\\./g;

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
    thread.postMessage({
      json: json.replace(escapes, (each) => (each.length === 6 ? '\\ufffd' : each)),
      program,
      flags: ['--compact-output'],
    } satisfies JqRun);
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
