import type { Command, Program } from '../cli/command.ts';
import type { GlobalOptions } from '../cli/globals.ts';
import type { Outline } from '../cli/outline.ts';
import { type Context, createContext } from '../context.ts';
import { checkInput, sentParams } from '../contract/request.ts';
import { SotraError, usageError } from '../errors.ts';
import { curlLine, RequestPreview } from '../http/preview.ts';
import { isLogOff } from '../log/keep-calls.ts';
import { openPageRequests } from '../log/page-requests.ts';
import { isObject, tryParseJson } from '../model/json.ts';
import { argumentWord, flagWords, shellLine, shellWord } from '../model/shell.ts';
import type { Service } from '../setup/settings.ts';
import type { ShownCommand } from './deliveries.ts';
import { createLiveLog, type LiveLog } from './live-log.ts';
import type { WebApp } from './serve.ts';
import type { CallOutcome, ServiceFacts } from './service.ts';
import { makeTables } from './table.ts';

interface ServiceAppOptions {
  title: string;
  facts: Omit<ServiceFacts, 'examples'>;
  live: LiveLog;
  /** What it is asked beside the service. */
  routes: WebApp['routes'];
  /** In place of that of the context. */
  service?: Service;
  context: Context;
}

/**
 * The page of a service: it shows what commands that read would print. They run here, where the key is, each as it runs when typed; `close`
 * ends their connections.
 */
export function createServiceApp({ title, facts, live, routes, ...options }: ServiceAppOptions) {
  // What a page asks again by itself would push out of the history what somebody asked.
  const { io } = options.context;
  const unkept = { ...options.context, io: { ...io, env: { ...io.env, SOTRA_HISTORY: '0' } } };
  const calling = makePageContext(options, {});
  const repeating = makePageContext({ ...options, context: unkept }, {});
  const previewing = makePageContext(options, previewOptions);
  const asked = new Set<string>();
  const asking = keepAway(options.context.io.now);
  const call = async (query: URLSearchParams): Promise<CallOutcome<unknown>> => {
    const name = query.get('command') ?? '';
    const { outline, command } = await findReading(name, options.context);
    const given = tryParseJson(query.get('input') ?? '{}');
    const input = checkInput({ id: name, params: sentParams(command.params) }, isObject(given) ? given : {}) as never;
    const preview = await command.run(input, previewing).catch((thrown: unknown) => thrown);
    const question = `${name} ${JSON.stringify(input)}`;
    const asker = asked.has(question) ? repeating : calling;
    asked.add(question);
    const result = await asking(() => command.run(input, asker));
    const commands: ShownCommand[] = [
      { name: 'Command', line: `${facts.commandStart} ${commandWords(outline, input)}` },
      ...(preview instanceof RequestPreview ? [{ name: 'As curl', line: curlLine(preview.request).trim() }] : []),
    ];
    if (result.kind !== 'answer') return { data: null, tables: [], commands };
    return { data: result.answer, tables: makeTables(result.view, result.answer, input), commands };
  };
  const examples = listExamples(options.context.program.outlines, facts.commandStart);
  const app: WebApp = {
    name: 'service',
    title,
    live,
    routes: { 'GET facts': async () => ({ ...facts, examples }), 'GET call': call, ...routes },
  };
  const contexts = [calling, repeating, previewing];
  return { app, close: async () => void (await Promise.all(contexts.map((each) => each.close()))) };
}

/** The same for the service of a context, whose world it does not change but by requests that are sent again; they are those of the history. */
export function createOwnServiceApp({ kind, baseUrl }: Service, context: Context) {
  const named = context.options.context === undefined ? '' : ` --context ${shellWord(context.options.context)}`;
  const facts =
    kind === 'sandbox'
      ? { service: 'the built-in sandbox', commandStart: 'sotra --sandbox' }
      : { service: baseUrl, commandStart: `sotra${named}` };
  const requests = isLogOff(context.io)
    ? { empty: 'SOTRA_HISTORY=0: no call is kept.', command: 'sotra history' }
    : { empty: 'No call to this service is in the history.', command: 'sotra history' };
  const live = createLiveLog();
  const log = openPageRequests({
    context,
    openSender: () => makePageContext({ context }, {}),
    tell: (row) => live.add(row === undefined ? 'load' : 'request', row),
  });
  const { app, close } = createServiceApp({
    title: 'Service · sotra',
    facts: { ...facts, isSandbox: false, requests },
    live,
    routes: {
      'GET requests': log.list,
      'GET request': (query) => log.show(query.get('number')),
      'POST request': (_, body) => log.send(body),
    },
    context,
  });
  return { app, close: async () => void (await Promise.all([log.close(), close()])) };
}

/** Asks a service, and not again before the time that it named, whichever view or tab asks. Errors: those of the call, the same meanwhile. */
function keepAway(now: () => number) {
  let refusal: { error: SotraError; untilMs: number } | undefined;
  const refuse = ({ error: { code, message, hint }, untilMs }: NonNullable<typeof refusal>) =>
    new SotraError(code, message, { hint, retryAfterSec: Math.ceil((untilMs - now()) / 1000) });
  return async <T>(act: () => Promise<T>): Promise<T> => {
    if (refusal !== undefined && now() < refusal.untilMs) throw refuse(refusal);
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof SotraError) || (error.code !== 'rate-limited' && error.retryAfterSec === undefined))
        throw error;
      refusal = { error, untilMs: now() + (error.retryAfterSec ?? defaultWaitSec) * 1000 };
      throw refuse(refusal);
    }
  };
}

const defaultWaitSec = 30;

const previewOptions = { curl: true, preview: true };

function makePageContext(
  { context, service }: Pick<ServiceAppOptions, 'context' | 'service'>,
  own: Partial<GlobalOptions>,
): Context {
  const { argv, io, program, runLine, note, stream } = context;
  const asked = { format: 'json' as const, retries: 0, curl: false, preview: false };
  return createContext({
    argv,
    io,
    options: { ...context.options, ...asked, ...own },
    program,
    runLine,
    say: own.preview ? () => undefined : note,
    stream,
    isPage: true,
    ...(service && { knownService: service }),
  });
}

/** Errors: `usage` for what is not a command that reads. */
async function findReading(name: string, { program }: Context): Promise<{ outline: Outline; command: Command }> {
  const outline = program.outlines.find(({ words }) => words.join(' ') === name);
  if (outline?.endpoint?.method !== 'GET') throw usageError(`command ${name.slice(0, 80)}: must be one that reads`);
  // context.ts cannot name the type of commands: they name it.
  return { outline, command: await (program as Program).load(outline) };
}

/** The first line that help shows of each command, as it is typed for this service. */
function listExamples(outlines: readonly Outline[], start: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    outlines.flatMap(({ words, examples: [first] }) =>
      first === undefined ? [] : [[words.join(' '), `${start} ${first.argv.replaceAll(/(?:^| )--sandbox\b ?/g, '')}`]],
    ),
  );
}

function commandWords({ words, fields }: Outline, input: Readonly<Record<string, unknown>>): string {
  const given = fields.flatMap(({ key, flag, positional }) => {
    const value = input[key];
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${flag}`];
    const texts = [value].flat().map(String);
    return positional ? texts.map(argumentWord) : [shellLine(flagWords(`--${flag}`, texts.join(',')))];
  });
  return [...words, ...given].join(' ');
}
