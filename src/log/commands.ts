import { z } from 'zod';
import { type Command, defineCommand, type Result } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import { flagsOf, serviceFlags } from '../cli/globals.ts';
import { option } from '../cli/params.ts';
import type { Context } from '../context.ts';
import { local } from '../contract/endpoint.ts';
import { SotraError } from '../errors.ts';
import { parseJson } from '../model/json.ts';
import { shellLine } from '../model/shell.ts';
import { column, listView, recordView } from '../output/columns.ts';
import { confirm, showPlan } from '../output/confirm.ts';
import { counted } from '../output/format.ts';
import type { Column } from '../output/view.ts';
import { maxCalls, type NumberedCall, readCalls, removeCalls } from './history-file.ts';
import { historyFolder, maxOfCommand } from './remember.ts';

type ShownCall = NumberedCall & { command: string };

const columns: readonly Column<NumberedCall>[] = [
  column.text('n', 'No', 'its number, for history show and history run', { align: 'right' }),
  column.time('at', 'Time', 'when it was made', ({ atMs }) => Math.floor(atMs / 1000)),
  column.text('status', 'Status', 'HTTP status; empty where no answer came', ({ status }) => status, {
    show: ({ status, error }) => ({ text: String(status ?? 'none'), tone: error === undefined ? 'gain' : 'loss' }),
  }),
  column.text('method', 'Method', 'HTTP method'),
  column.text('path', 'Path', 'path and query, secrets hidden', { tone: 'strong', cut: 'end', keep: 24 }),
  column.count('ms', 'ms', 'how long it took, repeated attempts included'),
  column.text('context', 'Context', 'the context in use', { drop: 1 }),
  column.text('error', 'Error', 'why it failed', { cut: 'end', drop: 2 }),
  column.count('attempts', 'Attempts', 'how often it was sent', { extra: true }),
  column.text('requestId', 'Request id', "the service's name for it", { extra: true }),
  column.text('baseUrl', 'Service', 'address of the service', { extra: true }),
];

const callsView = listView(columns, { empty: 'No such call is remembered.' });

const oneView = recordView<ShownCall>([
  ...columns.map((each) => ({ ...each, extra: false })),
  column.text('body', 'Body', 'the JSON that was sent; not kept where it was long or held a secret', bodyText, {
    cut: 'end',
  }),
  column.text('command', 'Again', 'the command that sends it again'),
]);

function bodyText({ body, bodyBytes }: NumberedCall): string | undefined {
  return body ?? (bodyBytes === undefined ? undefined : `(${counted(bodyBytes, 'byte')}, not kept)`);
}

const n = local(z.int().min(1), 'number of the call, as sotra history shows it', { positional: true });

const list = defineCommand({
  words: ['history'],
  summary: 'The last calls to services, newest first',
  description:
    `The last ${maxCalls} calls of this machine, those to the sandbox too: what was asked and how it ended. Of one command the first\n` +
    `${maxOfCommand} are kept and all that fail. Keys, secrets and what was answered are not kept, nor bodies that are long or hold a\n` +
    'signature. SOTRA_HISTORY=0 or sotra history set off stops it.',
  params: {
    failed: option.flag('only calls that failed'),
    limit: local(z.int().min(1).max(maxCalls).optional(), 'how many (default 20)'),
  },
  examples: [
    { argv: 'history --failed', says: 'what went wrong' },
    { argv: 'history --limit 1000 --format csv', says: 'everything, as CSV' },
  ],
  uses: [],
  exitCodes: [3],
  view: async () => callsView,
  run: async ({ failed, limit = 20 }, { world }) => {
    const calls = readCalls(historyFolder(world)).filter(({ error }) => failed !== true || error !== undefined);
    const notes = calls.length > limit ? [`There are ${calls.length - limit} more: --limit ${calls.length}.`] : [];
    return { kind: 'answer', answer: calls.slice(-limit).reverse(), view: callsView, notes };
  },
});

const show = defineCommand({
  words: ['history', 'show'],
  summary: 'One call with everything that is kept of it',
  params: { n },
  examples: [
    { argv: 'history show 1', says: 'the first call' },
    { argv: 'history show 1 --json', says: 'as JSON' },
  ],
  uses: [],
  exitCodes: [3, 5],
  view: async () => oneView,
  run: async (input, { world }) => {
    const call = findCall(input.n, world);
    return { kind: 'answer', answer: { ...call, command: commandLine(call) }, view: oneView };
  },
});

const again = defineCommand({
  words: ['history', 'run'],
  summary: 'Send a call again, to the same service',
  description:
    'The key is that of its context, or SOTRA_API_KEY. Anything but GET asks first on a terminal; elsewhere --yes is needed.',
  params: { n },
  examples: [
    { argv: 'history run 1', says: 'the first call once more' },
    { argv: 'history run 1 --curl', says: 'as a curl line, without sending it' },
  ],
  uses: ['requests', 'json'],
  exitCodes: [3, ...serviceExitCodes],
  run: (input, context) => sendAgain(findCall(input.n, context.world), context),
});

const clear = defineCommand({
  words: ['history', 'clear'],
  summary: 'Remove every remembered call',
  description: 'Asks on a terminal; elsewhere --yes is needed.',
  params: {},
  examples: [
    { argv: 'history clear', says: 'asks first' },
    { argv: 'history clear --yes', says: 'in a script' },
  ],
  uses: ['changes'],
  exitCodes: [3],
  confirms: () => 'remove the history of calls',
  run: async (_, { world, options, note }) => {
    const folder = historyFolder(world);
    const count = counted(readCalls(folder).length, 'call');
    if (options.dryRun) return showPlan([{ action: 'remove', what: count, detail: folder }]);
    removeCalls(folder);
    note(`${count} removed.`);
    return { kind: 'none' };
  },
});

const set = defineCommand({
  words: ['history', 'set'],
  summary: 'Remember calls, or stop doing so',
  params: { state: local(z.enum(['on', 'off']), 'on or off; what is remembered stays', { positional: true }) },
  examples: [
    { argv: 'history set off', says: 'for this user of the machine' },
    { argv: 'history set on', says: 'again' },
  ],
  uses: ['changes'],
  exitCodes: [3],
  run: async ({ state }, context) => {
    const store = await context.store();
    await store.update(context.world, (settings) => ({ ...settings, history: state === 'on' }));
    if (context.options.dryRun) return showPlan([{ action: 'set', what: 'history', detail: state }]);
    context.note(
      `Calls are ${state === 'on' ? '' : 'no longer '}remembered. Remove those there are: sotra history clear`,
    );
    return { kind: 'none' };
  },
});

export const commands: readonly Command[] = [list, show, again, clear, set];

function findCall(wanted: number, world: Context['world']): NumberedCall {
  const calls = readCalls(historyFolder(world));
  const call = calls.find(({ n: number }) => number === wanted);
  if (call !== undefined) return call;
  const range = calls.length === 0 ? 'none is remembered' : `those remembered are ${calls[0]?.n} to ${calls.at(-1)?.n}`;
  throw new SotraError('not-found', `call ${wanted}: ${range}`, { hint: 'sotra history lists them.' });
}

/** What names the service of a call, unless the command line names another. */
function placeOf({ context, baseUrl }: NumberedCall): { context?: string; sandbox?: boolean; baseUrl?: string } {
  if (context === 'sandbox') return { sandbox: true };
  return context === undefined ? { baseUrl } : { context };
}

/** The command that sends a call again. */
export function commandLine(call: NumberedCall): string {
  const data = flagsOf({ '--data': call.body });
  const words = ['sotra', ...serviceFlags(placeOf(call)), 'request', call.method, call.path, ...data];
  return shellLine(words);
}

async function sendAgain(call: NumberedCall, context: Context): Promise<Result> {
  const { method, path, body, bodyBytes } = call;
  if (bodyBytes !== undefined || path.includes('***'))
    throw new SotraError(
      'config',
      `call ${call.n} cannot be sent again: ${bodyBytes === undefined ? 'a secret in its path' : 'its body'} is not kept`,
      {
        hint: 'Run the command that made it.',
      },
    );
  const { options } = context;
  const isChosen = options.sandbox || options.context !== undefined || options.baseUrl !== undefined;
  // Before the first use of the service, which is found by them.
  if (!isChosen) Object.assign(options, placeOf(call));
  if (method !== 'GET') await confirm(`send ${method} ${path} again`, context);
  const sent = body === undefined ? {} : { body: parseJson(body), bodyText: body };
  const { data, text } = await context.request({ method, path, ...sent }, { tellsBody: true });
  return { kind: 'answer', answer: data, text };
}
