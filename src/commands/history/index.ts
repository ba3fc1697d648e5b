import { local } from '../../api/endpoint.ts';
import { integer, optional } from '../../api/kind.ts';
import { type Command, defineCommand, option, type Result } from '../../cli/command.ts';
import { serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { hideSecrets } from '../../http/secrets.ts';
import { findCall, refuseLost, type ShownCall, summarizeCall } from '../../log/calls.ts';
import type { LogEntry } from '../../log/entry.ts';
import { wrapInHar } from '../../log/har.ts';
import { maxOfCommand } from '../../log/keep-calls.ts';
import { type NumberedEntry, readCalls } from '../../log/read-calls.ts';
import { clearLog, countCalls, findLog, maxCalls } from '../../log/store.ts';
import { compareJson } from '../../model/compare-json.ts';
import { parseJson, tryParseJson } from '../../model/json.ts';
import { safeText } from '../../model/safe-text.ts';
import { column, listView } from '../../output/columns.ts';
import { confirm, showPlan } from '../../output/confirm.ts';
import { counted, formatTime, pathCell } from '../../output/format.ts';
import { indentJson } from '../../output/json.ts';
import type { Column } from '../../output/view.ts';

const columns: readonly Column<ShownCall>[] = [
  column.text('n', 'No', 'its number, for history show, history run and why: 1 is the newest', { align: 'right' }),
  column.text('id', 'Id', 'its id, which stays when newer calls come', ({ id }) => id, { drop: 4 }),
  column.time('at', 'Time', 'when it was sent', ({ atMs }) => Math.floor(atMs / 1000), {
    show: ({ atMs }) => ({ text: formatTime(atMs / 1000), short: formatTime(atMs / 1000).slice(-9) }),
  }),
  column.text('status', 'Status', 'HTTP status; empty where no answer came', ({ status }) => status, {
    show: ({ status, error }) => ({ text: String(status ?? 'none'), tone: error === undefined ? 'gain' : 'loss' }),
  }),
  column.text('command', 'Command', 'the command as it was typed, secrets hidden', ({ command }) => command, {
    show: ({ command }) => command.replace(/^sotra /, ''),
    cut: true,
  }),
  column.text('method', 'Method', 'HTTP method', { drop: 2 }),
  column.text('path', 'Path', 'path and query, secrets hidden', {
    show: ({ path }) => pathCell(path, 'strong'),
    cut: true,
  }),
  column.text('error', 'Error', 'why it failed', { cut: true }),
  column.count('ms', 'ms', 'how long it took', { drop: 3 }),
  column.text('context', 'Context', 'the context in use', { extra: true }),
  column.count('exitCode', 'Exit', 'exit code of the command; empty where it was killed', { extra: true }),
  column.text('errorCode', 'Code', 'error code of the call', { extra: true }),
  column.count('attempt', 'Attempt', 'which attempt of the call it was', { extra: true }),
  column.text('requestId', 'Request id', "the service's name for it", { extra: true }),
  column.text('baseUrl', 'Service', 'address of the service', { extra: true }),
];

const callsView = listView(columns, { empty: 'No such call is in the history.' });

/** Which call is meant, by default the newest. */
export const callParam = option.checked(
  'number of the call in sotra history, 1 is the newest; or its id, such as c42',
  (text) => /^c?[1-9]\d{0,14}$/.test(text),
  'must be a number from 1, or an id such as c42',
  { positional: true },
);

const list = defineCommand({
  words: ['history'],
  summary: 'The last calls to services, newest first',
  description:
    `The last ${maxCalls} calls of this machine, those to the sandbox too: what was asked, what was answered, and why it failed. A call that was\n` +
    `tried again is a line for each attempt. Of one command the first ${maxOfCommand} calls are kept and all that failed; of a long body the first\n` +
    '256 KB. 1 is the newest call; its id stays the same when newer ones come. Keys and other secrets are hidden. With SOTRA_HISTORY=0 no call is kept.',
  params: {
    failed: option.flag('only calls that failed'),
    limit: local(optional(integer(1, maxCalls)), 'how many (default 20)'),
  },
  examples: [
    { argv: 'history --failed', says: 'what went wrong' },
    { argv: 'history --limit 1000 --format csv', says: 'everything, as CSV' },
  ],
  uses: [],
  exitCodes: [3],
  view: async () => callsView,
  run: async ({ failed, limit = 20 }, context) => {
    const folder = findLog(await context.dataDirectory());
    const isWanted = ({ hasFailed }: { hasFailed: boolean }) => hasFailed || failed !== true;
    const calls: ShownCall[] = [];
    const notes: string[] = [];
    for (const call of readCalls(folder, context.warn, isWanted)) {
      if (calls.length < limit) calls.push(summarizeCall(call));
      else {
        notes.push(`There are more: --limit ${maxCalls} shows all.`);
        break;
      }
    }
    return { kind: 'answer', answer: calls, view: callsView, notes };
  },
});

const listByName: Command = { ...list, words: ['history', 'list'] };

const show = defineCommand({
  words: ['history', 'show'],
  summary: 'One call: its request and its answer, headers and bodies',
  params: { n: callParam, har: option.flag('as an HTTP archive (HAR), which browsers read') },
  examples: [
    { argv: 'history show', says: 'the newest call' },
    { argv: 'history show 1 --har', says: 'as an HTTP archive' },
  ],
  uses: ['json'],
  exitCodes: [3, 5],
  run: async (input, context): Promise<Result> => {
    const { io, options } = context;
    const call = await findCall(input.n ?? '1', context);
    if (input.har) return { kind: 'answer', answer: wrapInHar([call], io.version) };
    const isText = options.jq === undefined && (options.format ?? 'table') === 'table';
    return isText ? { kind: 'text', text: printCall(call) } : { kind: 'answer', answer: describeCall(call) };
  },
});

const again = defineCommand({
  words: ['history', 'run'],
  summary: 'Send a call again, to the same service, and say what differs in the answer',
  description:
    'The key is that of its context, or SOTRA_API_KEY. Anything but GET asks first on a terminal; elsewhere --yes is needed. Secrets in the answer are hidden.',
  params: { n: callParam },
  examples: [
    { argv: 'history run', says: 'the newest call once more' },
    { argv: 'history run 1 --curl', says: 'as a curl line, without sending it' },
  ],
  uses: ['requests', 'json'],
  exitCodes: [3, ...serviceExitCodes],
  run: async (input, context) => sendAgain(await findCall(input.n ?? '1', context), context),
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
  run: async (_, { dataDirectory, options, note }) => {
    const folder = findLog(await dataDirectory());
    const count = counted(countCalls(folder), 'call');
    if (options.dryRun) return showPlan([{ action: 'remove', what: count, detail: folder }]);
    clearLog(folder);
    note(`${count} removed.`);
    return { kind: 'none' };
  },
});

export const commands: readonly Command[] = [list, listByName, show, again, clear];

const maxDifferences = 10;

async function sendAgain(call: NumberedEntry, context: Context): Promise<Result> {
  const { method, path, context: name, baseUrl } = summarizeCall(call);
  const body = call.request.postData?.text;
  refuseLost(call, { path, body });
  const { options } = context;
  const isChosen = options.sandbox || options.context !== undefined || options.baseUrl !== undefined;
  // Before the first use of the service, which is found by them.
  if (!isChosen)
    Object.assign(
      options,
      name === 'sandbox' ? { sandbox: true } : name === undefined ? { baseUrl } : { context: name },
    );
  if (method !== 'GET') await confirm(`send ${method} ${path} again`, context);
  const sent = body === undefined ? {} : { body: parseJson(body), bodyText: body };
  if (options.preview) return { kind: 'request', request: await context.previewRequest({ method, path, ...sent }) };
  const { status: before, content } = call.response;
  const answered = await context.request({ method, path, ...sent }, { tellsBody: true }).catch((thrown: unknown) => {
    if (thrown instanceof SotraError && thrown.status !== undefined) context.note(compareStatus(before, thrown.status));
    throw thrown;
  });
  const { status } = answered;
  // As the first answer was kept.
  const text = hideSecrets(answered.text);
  const data = text === answered.text ? answered.data : readBody(text);
  if (status !== before) context.note(compareStatus(before, status));
  if (content.text === undefined || content._cut !== undefined)
    context.note('The answers cannot be compared: not all of the first one was kept.');
  else {
    const differences = compareJson(readBody(content.text), data);
    const more = differences.length - maxDifferences;
    context.note(differences.length === 0 ? 'The answer is the same as then.' : 'The answer differs:');
    for (const { place, before, after } of differences.slice(0, maxDifferences))
      context.note(`  ${place || 'the answer'}: ${shortenJson(before)} then, ${shortenJson(after)} now`);
    if (more > 0) context.note(`  and ${more} more`);
  }
  return { kind: 'answer', answer: data, text };
}

function compareStatus(before: number, now: number): string {
  return before === now
    ? `The status is ${now}, as then.`
    : `The status differs: ${before || 'no answer'} then, ${now} now.`;
}

/** A call with headers and bodies; a body that is JSON as data. */
function describeCall(call: NumberedEntry) {
  const { request, response } = call;
  const formatHeaders = (list: LogEntry['request']['headers']) => list.map(({ name, value }) => `${name}: ${value}`);
  return {
    ...summarizeCall(call),
    request: {
      url: request.url,
      headers: formatHeaders(request.headers),
      body: readBody(request.postData?.text),
      cut: request.postData?._cut ?? null,
    },
    response: {
      headers: formatHeaders(response.headers),
      body: readBody(response.content.text),
      cut: response.content._cut ?? null,
    },
  };
}

/** The JSON of a body, else its text; null without one. */
function readBody(text: string | undefined): unknown {
  return text === undefined ? null : (tryParseJson(text) ?? text);
}

/** For people: what was asked, what came back, why it failed. */
function printCall(call: NumberedEntry): string {
  const { startedDateTime, request, response, comment, _sotra } = call;
  const { n, id, ms, status } = summarizeCall(call);
  const { command, context, exitCode, error, ignored } = _sotra;
  const exit = exitCode === undefined ? '' : `, exit ${exitCode}`;
  const answered = status === null ? ['no answer'] : [`${status} ${response['statusText'] ?? ''}`.trimEnd()];
  const lines = [
    command,
    `call ${n} (${id}) at ${startedDateTime}, ${ms} ms${context === undefined ? '' : `, context ${context}`}${exit}`,
    ...(comment === undefined ? [] : [comment]),
    '',
    ...printMessage('>', `${request.method} ${request.url}`, request.headers, request.postData),
    '',
    ...printMessage('<', ...(answered as [string]), response.headers, response.content),
    ...(ignored === undefined ? [] : ['', `ignored: ${ignored.join(', ')}`]),
    ...(error === undefined ? [] : ['', `error: ${error}`]),
  ];
  return `${lines.map(safeText).join('\n')}\n`;
}

function printMessage(
  mark: string,
  first: string,
  headers: LogEntry['request']['headers'],
  body: LogEntry['request']['postData'],
): string[] {
  const { text = '', _cut: cut } = body ?? {};
  const isJson = tryParseJson(text) !== undefined;
  const shown = isJson ? indentJson(text) : text;
  return [
    ...[first, ...headers.map(({ name, value }) => `${name}: ${value}`)].map((line) => `${mark} ${line}`),
    ...(shown === '' ? [] : ['', ...shown.trimEnd().split('\n')]),
    ...(cut === undefined ? [] : [`(cut here: the body has ${cut.bytes} bytes, SHA-256 ${cut.sha256})`]),
  ];
}

const maxShownValue = 60;

function shortenJson(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > maxShownValue ? `${text.slice(0, maxShownValue)}...` : text;
}
