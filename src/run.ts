import { curlLine, describeRequest, RequestPreview } from './api/preview.ts';
import { mentionsAlias, resolveAliases } from './cli/aliases.ts';
import type { Result } from './cli/command.ts';
import { readInput } from './cli/flags.ts';
import { type GlobalOptions, readGlobals } from './cli/globals.ts';
import type { Program } from './cli/outline.ts';
import { helpText, quickText, versionText } from './cli/quick.ts';
import { findCommand, helpAsFlag } from './cli/words.ts';
import type { World } from './context.ts';
import { errorObject, SotraError, toSotraError } from './errors.ts';
import { ClosedPipe } from './output/io.ts';
import { visibleJson } from './output/json.ts';
import { safeText } from './output/safe-text.ts';

/**
 * Runs one command line and gives its exit code. stdout gets the result and nothing else; notes and errors go to stderr, an error
 * as one JSON object in JSON mode. Never throws.
 */
export async function run(argv: readonly string[], program: Program, world: World): Promise<number> {
  const jsonMode = argv.includes('--json') || /(^| )--format[= ](nd)?json( |$)/.test(argv.join(' '));
  const held: string[] = [];
  const waiting: Promise<void>[] = [];
  const say = (line: string) => {
    if (jsonMode) held.push(line);
    else waiting.push(world.io.err.write(`${safeText(line)}\n`));
  };
  try {
    const code = await runCommand(argv, program, world, { json: jsonMode, say });
    for (const line of held) await world.io.err.write(`${safeText(line)}\n`);
    await Promise.all(waiting);
    return code;
  } catch (thrown) {
    await Promise.allSettled(waiting);
    if (thrown instanceof ClosedPipe) return 0;
    const error =
      world.signal.aborted && !(thrown instanceof RequestPreview) ? interrupted(thrown) : toSotraError(thrown);
    await reportError(error, jsonMode, argv.includes('--verbose'), world).catch(() => undefined);
    return error.exitCode;
  }
}

async function runCommand(
  typedArgv: readonly string[],
  program: Program,
  world: World,
  { json, say }: { json: boolean; say: (line: string) => void },
): Promise<number> {
  const { out } = world.io;
  const { outlines, completion } = program;
  const argv = helpAsFlag(typedArgv, outlines);
  const asked = { outlines, completion, version: world.version, width: out.width, json };
  const quick = await quickText(argv, asked);
  if (quick !== undefined) {
    await out.write(quick);
    return 0;
  }
  const found = findCommand(argv, outlines);
  if (found?.checksArgv) await (await program.load(found)).checkArgv?.(argv);
  const { parseArgv } = await import('./cli/commander.ts');
  const parsed = parseArgv(argv, outlines);
  if (parsed.kind !== 'run') {
    await out.write(parsed.kind === 'version' ? versionText(asked) : (helpText(parsed.words, asked) ?? ''));
    return 0;
  }
  const { fields } = parsed.outline;
  const options = readGlobals(parsed.globals);
  const command = await program.load(parsed.outline);
  const { checkColumns, printResult, readFilter } = await import('./print.ts');
  if (options.columns !== undefined) checkColumns(await command.view?.(), options.columns);
  const typed = mentionsAlias(fields, parsed.typed)
    ? resolveAliases(fields, parsed.typed, await savedAliases(world))
    : parsed.typed;
  const input = readInput(fields, command.params, typed);
  const { createContext } = await import('./context.ts');
  const context = createContext({ world, options, program, say });
  const { endpoint } = command;
  if (endpoint?.deprecated !== undefined)
    context.warn(`${endpoint.method} ${endpoint.path} is deprecated: ${endpoint.deprecated}`);
  const filter = options.jq === undefined ? undefined : await readFilter(options.jq, world);
  try {
    const result: Result = await command.run(input as never, context);
    const { note, takeHeads } = context;
    return await printResult(result, input, { io: world.io, options, note, takeHeads, filter });
  } catch (thrown) {
    if (!(thrown instanceof RequestPreview)) throw unusable(thrown, context.sawMisfit());
    await out.write(preview(thrown, options));
    return 0;
  } finally {
    for (const line of context.takeHeads().split('\n')) if (line !== '') say(line);
    await context.close();
    await filter?.close();
  }
}

/** What reads an answer takes it as the contract has it: one that is too far from that, or too deep, cannot be shown that way. */
function unusable(thrown: unknown, sawMisfit: boolean): unknown {
  if (!(thrown instanceof RangeError) && !(thrown instanceof TypeError && sawMisfit)) return thrown;
  return new SotraError('contract', `the answer is not of the shape that is needed here: ${thrown.message}`, {
    hint: 'See it as it came: sotra request <METHOD> <path>.',
    cause: thrown,
  });
}

async function savedAliases(world: World): Promise<Readonly<Record<string, string>>> {
  const { directories, openStore } = await import('./store.ts');
  return openStore(directories(world.env).config).read().aliases ?? {};
}

function preview({ request }: RequestPreview, options: GlobalOptions): string {
  if (options.curl) return curlLine(request);
  if (options.format !== 'json') return describeRequest(request);
  const { method, url, headers, body } = request;
  const masked = headers['authorization'] === undefined ? headers : { ...headers, authorization: 'Bearer ***' };
  return `${JSON.stringify({ method, url: url.href, headers: masked, ...(body && { body: JSON.parse(body) }) }, null, 2)}\n`;
}

function interrupted(thrown: unknown): SotraError {
  const error = toSotraError(thrown);
  return error.code === 'internal' ? new SotraError('interrupted', 'interrupted', { cause: thrown }) : error;
}

async function reportError(error: SotraError, jsonMode: boolean, verbose: boolean, world: World): Promise<void> {
  const { err } = world.io;
  if (jsonMode) return err.write(`${visibleJson(JSON.stringify(errorObject(error)))}\n`);
  const stack = verbose && error.code === 'internal' && error.cause instanceof Error ? [error.cause.stack ?? ''] : [];
  const hint = error.hint === undefined ? [] : [`hint: ${safeText(error.hint)}`];
  await err.write(`${[`error: ${safeText(error.message)}`, ...hint, ...stack].join('\n')}\n`);
}
