import type { Command, Program, Result } from './cli/command.ts';
import { findCommand, findGroup, type GlobalOptions, withSingularNoun } from './cli/globals.ts';
import { helpText } from './cli/help.ts';
import { isReading, mentionsAlias, readInput, resolveAliases, warnOfSurplus, warnOfUnknown } from './cli/input.ts';
import { type CommandLine, parse } from './cli/parse.ts';
import type { Context } from './context.ts';
import {
  type ErrorCode,
  errorExitCodes,
  errorObject,
  exitMeanings,
  isExplained,
  maxShownBody,
  nameInputs,
  SotraError,
  seeExample,
  seeHelp,
  stopExitCode,
  toSotraError,
  usageError,
} from './errors.ts';
import { RequestPreview } from './http/preview.ts';
import { ClosedPipe, type Io } from './io.ts';
import { isObject } from './model/json.ts';
import { safeText } from './model/safe-text.ts';
import { wrapSentence } from './model/wrap.ts';
import { visibleJson } from './output/json.ts';

const maxUnwritten = 10_000;

/**
 * Runs one command line and returns its exit code. The result goes to stdout; notes and errors to stderr, an error as one JSON object in
 * JSON mode.
 */
export async function run(typed: readonly string[], program: Program, io: Io): Promise<number> {
  const argv = withSingularNoun(typed, program.outlines);
  const jsonMode = isJsonMode(argv);
  let held: string[] | undefined = jsonMode ? [] : undefined;
  const waiting = new Set<Promise<void>>();
  const { err } = io;
  const wrap = (line: string) => (err.isTTY && !jsonMode ? wrapSentence(safeText(line), err.width) : safeText(line));
  const say = (line: string) => {
    if (held !== undefined) return void held.push(line);
    // What nobody reads must not fill the memory.
    if (waiting.size >= maxUnwritten) return;
    const done = () => void waiting.delete(writing);
    const writing: Promise<void> = err.write(`${wrap(line)}\n`).then(done, done);
    waiting.add(writing);
  };
  const release = () => {
    const lines = held ?? [];
    held = undefined;
    for (const line of lines) say(line);
  };
  try {
    const code = await runCommand(argv, program, io, { say, stream: release });
    release();
    await Promise.all(waiting);
    return code;
  } catch (thrown) {
    await Promise.allSettled(waiting);
    if (thrown instanceof ClosedPipe) return 0;
    const error = makeError(thrown, argv, program, io);
    await reportError(error, { jsonMode, argv, io, wrap }).catch(() => undefined);
    return error.exitCode;
  }
}

/** Also for a line that cannot be read. */
function isJsonMode(argv: readonly string[]): boolean {
  return argv.some(
    (word, index) =>
      /^--(json|format=(nd)?json)$/.test(word) || (word === '--format' && /^(nd)?json$/.test(argv[index + 1] ?? '')),
  );
}

interface Voice {
  say: (line: string) => void;
  stream: () => void;
}

async function runCommand(argv: readonly string[], program: Program, io: Io, voice: Voice): Promise<number> {
  const parsed = await parse(argv, program);
  if (parsed.kind !== 'run') {
    await io.out.write(await formatText(parsed, argv, program, io));
    return 0;
  }
  const { options } = parsed;
  const command = await program.load(parsed.outline);
  const { checkColumns, printPreview, printResult } = await import('./output/print.ts');
  if (options.columns !== undefined) checkColumns(await command.view?.(), options.columns);
  const { createContext } = await import('./context.ts');
  const runLine: Context['runLine'] = (line, elsewhere) =>
    runCommand(line, program, elsewhere, { ...voice, stream: () => undefined }).catch((thrown: unknown) => {
      throw thrown instanceof ClosedPipe ? thrown : makeError(thrown, line, program, elsewhere);
    });
  const context = createContext({ argv, io, options, program, runLine, ...voice });
  const input = await readCommandInput(parsed, command, context);
  const filter =
    options.jq === undefined ? undefined : await (await import('./output/jq.ts')).compileFilter(options.jq, io);
  const { note } = context;
  const { hideSecrets } = await import('./http/secrets.ts');
  const pause = () => io.sleep(0, io.signal);
  const printing = { io, options, note, pause, filter, hideSecrets };
  let exitCode = 0;
  let failed: SotraError | undefined;
  try {
    if (command.confirms !== undefined)
      await (await import('./output/confirm.ts')).confirm(command.confirms(input as never), context);
    const made = await quietOnceShown(await command.run(input as never, context), context);
    if (made.kind !== 'items' && !command.uses.includes('changes')) refuseWithoutRequest(options);
    exitCode = await printResult(made, input, printing);
    failed = options.preview ? undefined : describeOutcome(made, exitCode);
  } catch (thrown) {
    if (thrown instanceof RequestPreview) exitCode = await printPreview(thrown, printing);
    else {
      const error = unusable(thrown, context);
      if (error instanceof ClosedPipe) throw error;
      failed = makeError(error, argv, program, io);
      exitCode = failed.exitCode;
      throw failed;
    }
  } finally {
    if ((await context.close(exitCode, failed)) && failed !== undefined) nameWhy(failed);
    await filter?.close();
  }
  return exitCode;
}

/** What is printed where no command runs: help, the version, a completion script. */
async function formatText(
  parsed: Exclude<CommandLine, { kind: 'run' }>,
  argv: readonly string[],
  { outlines, completion }: Program,
  io: Io,
): Promise<string> {
  const { out } = io;
  const json = isJsonMode(argv);
  if (parsed.kind === 'completion') return completion(parsed.shell);
  if (parsed.kind === 'version') return json ? `${JSON.stringify({ version: io.version })}\n` : `${io.version}\n`;
  return helpText(parsed.words, outlines, { width: out.width, json }) ?? '';
}

/** What was typed, with names replaced by what they stand for. Errors: `usage`. */
async function readCommandInput(
  { outline, typed }: CommandLine & { kind: 'run' },
  command: Command,
  context: Context,
): Promise<Readonly<Record<string, unknown>>> {
  const { fields } = outline;
  const resolved = mentionsAlias(fields, typed)
    ? await resolveAliases(
        fields,
        typed,
        await (await import('./log/recall.ts')).namesKnownTo(context, isReading(outline)),
      )
    : typed;
  const input = readInput(fields, command, resolved);
  // Loaded only where it is needed: it decodes base58 with a package.
  if (fields.some(({ identifier }) => identifier === 'token'))
    (await import('./cli/check-tokens.ts')).checkTokens(fields, input);
  warnOfUnknown(fields, input, context.warn);
  warnOfSurplus(fields, input, context.warn);
  const { endpoint } = command;
  if (endpoint?.deprecated !== undefined)
    context.warn(`${endpoint.method} ${endpoint.path} is deprecated: ${endpoint.deprecated}`);
  return input;
}

/** An answer too far from the contract, or too deep, for the code that reads it. */
function unusable(thrown: unknown, { hasAsked, sawMisfit }: Context): unknown {
  if (!(thrown instanceof RangeError && hasAsked()) && !(thrown instanceof TypeError && sawMisfit())) return thrown;
  return new SotraError('contract', 'the answer does not have the shape that this command works on', {
    hint: 'See the raw answer: sotra request <METHOD> <path>.',
    cause: thrown,
  });
}

/** How a command failed that printed its result all the same, such as a signature that is not valid. */
function describeOutcome(made: Result, exitCode: number): SotraError | undefined {
  const [code] = Object.entries(errorExitCodes).find(([, each]) => each === exitCode) ?? [];
  if (!isExplained(exitCode) || code === undefined) return undefined;
  const reason = made.kind === 'answer' && isObject(made.answer) ? made.answer['reason'] : undefined;
  const message = typeof reason === 'string' ? reason : `${exitMeanings[exitCode]}: its output says of what`;
  return new SotraError(code as ErrorCode, message);
}

/** Stops the spinner when the first row of a stream is printed. */
async function quietOnceShown(result: Result, { stopWaiting }: Context): Promise<Result> {
  if (result.kind === 'items') {
    const { onEachBatch } = await import('./output/view.ts');
    return { ...result, batches: onEachBatch(result.batches, stopWaiting) };
  }
  stopWaiting();
  return result;
}

/** Errors: `usage` for a preview of a command that would send nothing. */
function refuseWithoutRequest({ preview, curl }: GlobalOptions): void {
  if (preview)
    throw usageError(
      `${curl ? '--curl' : '--dry-run'}: nothing would be sent, so there is nothing to show`,
      'Omit it.',
    );
}

function makeError(thrown: unknown, argv: readonly string[], program: Program, { signal }: Io): SotraError {
  const isStopped = signal.aborted && !(thrown instanceof RequestPreview);
  const error = isStopped ? interrupted(thrown) : toSotraError(thrown);
  const fields = findCommand(argv, program.outlines)?.fields ?? [];
  const named = nameInputs(error, (name) => fields.find(({ key }) => key === name)?.label ?? name);
  if (named.code === 'interrupted') Object.assign(named, { signalExitCode: stopExitCode(signal) });
  return withHelpHint(named, argv, program);
}

function withHelpHint(error: SotraError, argv: readonly string[], { outlines }: Program): SotraError {
  if (error.hint !== seeHelp && error.hint !== seeExample) return error;
  const outline = findCommand(argv, outlines);
  const [example] = outline?.examples ?? [];
  if (error.hint === seeExample && example !== undefined)
    return usageError(error.message, `For example: sotra ${example.argv}`);
  const words = outline?.words ?? findGroup(argv, outlines);
  return usageError(error.message, `See ${['sotra', ...words, '--help'].join(' ')}.`);
}

const seeWhy = 'sotra why says what was asked, what came back, and what to type next.';

/** Of these `sotra why` says more than their hints. */
const moreToSay: readonly ErrorCode[] = ['key-refused', 'forbidden', 'network', 'redirect', 'bad-answer', 'contract'];

/** Names `sotra why` in the hint of an error that has none of its own, or a shorter one than there is to say. */
function nameWhy(error: SotraError): void {
  const { hint, status, code } = error;
  if (hint === undefined && (status !== undefined || moreToSay.includes(code))) Object.assign(error, { hint: seeWhy });
  else if (hint !== undefined && moreToSay.includes(code) && !hint.includes('sotra why'))
    Object.assign(error, { hint: `${hint.replace(/[^.]$/, '$&;')} sotra why says more.` });
}

function interrupted(thrown: unknown): SotraError {
  const error = toSotraError(thrown);
  return error.code === 'internal' ? new SotraError('interrupted', 'interrupted', { cause: thrown }) : error;
}

interface Report {
  jsonMode: boolean;
  argv: readonly string[];
  io: Io;
  wrap: (line: string) => string;
}

async function reportError(error: SotraError, { jsonMode, argv, io, wrap }: Report): Promise<void> {
  const { err } = io;
  if (jsonMode) {
    return err.write(`${visibleJson(JSON.stringify(errorObject(error)))}\n`);
  }
  const isOurs = argv.includes('--verbose') && error.code === 'internal' && error.cause instanceof Error;
  const stack = isOurs ? [(error.cause as Error).stack ?? ''] : [];
  const hint = error.hint === undefined ? [] : [wrap(`hint: ${error.hint}`)];
  const body = error.body === undefined ? [] : shownBody(error.body);
  await err.write(`${[wrap(`error: ${error.message}`), ...hint, ...body, ...stack].join('\n')}\n`);
}

function shownBody(body: string): string[] {
  const lines = body.slice(0, maxShownBody).trimEnd().split('\n').map(safeText);
  const left = body.length - maxShownBody;
  return ['The service answered:', ...lines, ...(left > 0 ? [`... and ${left} more characters`] : [])];
}
