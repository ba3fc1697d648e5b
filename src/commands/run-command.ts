import type { Params } from '../api/endpoint.ts';
import type { AnyEndpoint } from '../api/endpoints.ts';
import { isObject } from '../api/json.ts';
import { hideSecrets } from '../client/secrets.ts';
import { type Context, createContext } from '../context.ts';
import {
  type ErrorCode,
  errorExitCodes,
  exitMeanings,
  isExplained,
  nameInputs,
  SotraError,
  stopExitCode,
  toSotraError,
  usageError,
} from '../errors.ts';
import { ClosedPipe } from '../lib/io.ts';
import { compileFilter, type JqFilter } from '../lib/output/json.ts';
import { checkColumns, printResult } from '../lib/output/print.ts';
import { type AnyView, onEachBatch, type Result } from '../lib/output/view.ts';
import type { Action, Command } from './command.ts';
import { readOptions } from './options.ts';
import { labelOf } from './params.ts';
import { readInput } from './read-input.ts';

/** Runs the action of a command and prints its result; its exit code is left in the session. Errors: those of the action; `usage`. */
export async function runCommand(command: Command, action: Action<Params>): Promise<void> {
  const { session } = command;
  const { io, argv, say, stream } = session;
  const options = readOptions(command.readShared());
  const { format, columns } = options;
  if (columns !== undefined) checkColumns(command.view, columns);
  const printsRows = command.view !== undefined && command.view.columns.length > 0;
  if ((format === 'csv' || format === 'tsv') && !printsRows)
    throw usageError(`--format ${format}: sotra ${command.words.join(' ')} prints no rows`, 'Omit it.');
  const context = createContext({ argv, io, options, say, stream, views: () => loadViews(command) });
  const pause = () => io.sleep(0, io.signal);
  let filter: JqFilter | undefined;
  let failed: SotraError | undefined;
  try {
    if (options.jq !== undefined) filter = await compileFilter(options.jq, io);
    const input = await readTypedInput(command, context);
    const result = stopSpinner(withView(await action(input as never, context), command), context);
    const printing = { io, options, note: context.note, pause, filter, hideSecrets };
    session.exitCode = await printResult(result, input, printing);
    failed = options.preview ? undefined : describeOutcome(result, session.exitCode);
  } catch (thrown) {
    if (thrown instanceof ClosedPipe) throw thrown;
    failed = explainFailure(thrown, command, context);
    session.exitCode = failed.exitCode;
    throw failed;
  } finally {
    // A failed look into the log is nothing to explain.
    const isLog = ['why', 'history'].includes(command.words[0] ?? '');
    const hasCall = await context.client.close(isLog ? undefined : failed);
    if (hasCall && failed !== undefined) nameWhy(failed);
    await filter?.close();
  }
}

/** What was typed, checked and confirmed. Errors: `usage`. */
async function readTypedInput(command: Command, context: Context): Promise<Record<string, unknown>> {
  const { parameters, requireAnyOf, examples, endpoint, question } = command;
  const input = await readInput(parameters, command.readTyped(), {
    requireAnyOf,
    example: examples[0]?.argv,
    findNames: async () => (await import('../calls/known-names.ts')).namesKnownTo(context, command.isReading),
    warn: context.warn,
  });
  if (endpoint?.deprecated !== undefined)
    context.warn(`${endpoint.method} ${endpoint.path} is deprecated: ${endpoint.deprecated}`);
  const change = question?.(input as never);
  if (change !== undefined) await (await import('../lib/output/confirm.ts')).confirm(change, context);
  return input;
}

/** An answer is shown as its command says, unless the action chose another view. */
function withView(result: Result, { view }: Command): Result {
  return result.kind === 'answer' && view !== undefined ? { view, ...result } : result;
}

/** Removes the spinner; with a stream, once its first row is printed. */
function stopSpinner(result: Result, { client }: Context): Result {
  if (result.kind === 'items') return { ...result, batches: onEachBatch(result.batches, client.stopSpinner) };
  client.stopSpinner();
  return result;
}

/** The error that ended the command, its inputs named as they are typed. */
function explainFailure(thrown: unknown, { parameters, session }: Command, context: Context): SotraError {
  const { signal } = session.io;
  const error = toSotraError(explainUnreadableAnswer(thrown, context));
  const stopped =
    signal.aborted && error.code === 'internal'
      ? new SotraError('interrupted', 'interrupted', { cause: thrown })
      : error;
  const named = nameInputs(stopped, (key) => {
    const param = parameters[key];
    return param === undefined ? key : labelOf(key, param);
  });
  return named.code === 'interrupted' ? Object.assign(named, { signalExitCode: stopExitCode(signal) }) : named;
}

/** The error for an answer that is too deep, or too far from its schema, for the code that reads it. */
function explainUnreadableAnswer(thrown: unknown, { client: { seen } }: Context): unknown {
  const isTooDeep = thrown instanceof RangeError && seen.calls > 0;
  const isMismatch = thrown instanceof TypeError && seen.mismatches.size > 0;
  if (!isTooDeep && !isMismatch) return thrown;
  return new SotraError('contract', 'the answer does not have the shape that this command works on', {
    hint: 'See the raw answer: sotra request <METHOD> <path>.',
    cause: thrown,
  });
}

/** The failure of a command that still printed its result, such as a signature that is not valid. */
function describeOutcome(result: Result, exitCode: number): SotraError | undefined {
  if (result.kind === 'answer' && result.failure !== undefined) return result.failure;
  const [code] = Object.entries(errorExitCodes).find(([, each]) => each === exitCode) ?? [];
  if (!isExplained(exitCode) || code === undefined) return undefined;
  const reason = result.kind === 'answer' && isObject(result.answer) ? result.answer['reason'] : undefined;
  const message = typeof reason === 'string' ? reason : `${exitMeanings[exitCode]}: see its output`;
  return new SotraError(code as ErrorCode, message);
}

const seeWhy = 'sotra why shows the request, the answer and what to do next.';

/** Errors about which `sotra why` says more than their hints. */
const codesWithMoreToSay: readonly ErrorCode[] = [
  'key-refused',
  'forbidden',
  'network',
  'redirect',
  'bad-answer',
  'contract',
];

/** Names `sotra why` in the hint of an error, if it has no hint of its own or there is more to say. */
function nameWhy(error: SotraError): void {
  const { hint, status, code } = error;
  if (hint === undefined && (status !== undefined || codesWithMoreToSay.includes(code)))
    Object.assign(error, { hint: seeWhy });
  else if (hint !== undefined && codesWithMoreToSay.includes(code) && !hint.includes('sotra why'))
    Object.assign(error, { hint: `${hint} ${hint.endsWith('.') ? 'sotra why says more.' : '(sotra why says more)'}` });
}

export type Views = Readonly<Record<AnyEndpoint['id'], AnyView>>;

/** The rows and columns of each endpoint's answer, as the commands of a program print them, by the ids of endpoints. */
export async function loadViews(command: Command): Promise<Views> {
  if (command.parent !== null) return loadViews(command.parent);
  await Promise.all(command.commands.map((group) => group.load()));
  const views = command.commands.flatMap((group) =>
    group.commands.flatMap(({ endpoint, view }) => (endpoint && view ? [[endpoint.id, view] as const] : [])),
  );
  return Object.fromEntries(views) as Views;
}
