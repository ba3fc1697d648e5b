import { local } from '../../api/endpoint.ts';
import { integer, optional } from '../../api/kind.ts';
import type { ShownCall } from '../../calls/read-log.ts';
import { column, listView } from '../../lib/output/columns.ts';
import { counted, formatTime, pathCell } from '../../lib/output/format.ts';
import type { Column } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { option } from '../params.ts';

/** Which call, by default the newest. */
export const callParam = option.checked(
  'number of the call in sotra history (1 is the newest), or its id, such as c3f9a07b1',
  (text) => /^(?:[1-9]\d{0,14}|c[\da-f]{8})$/.test(text),
  'must be a number from 1, or an id such as c3f9a07b1',
  { positional: true },
);

export function setUp(history: Command): void {
  history.description('sotra history alone is history list, which has --failed and --limit.');

  history
    .command('list', { isDefault: true })
    .summary('List the last calls, newest first')
    .description(
      'Calls to the service and the sandbox; each attempt of a retried call is a row. Keys and other secrets are hidden. ' +
        'A call is saved when it ends: if a command is killed, its call in progress is missing. ' +
        'The last 48 MB are kept. SOTRA_HISTORY=0 turns the history off.',
    )
    .params({
      failed: option.flag('only calls that failed'),
      limit: local(optional(integer(1)), 'how many (default: 20)'),
    })
    .prints(callsView)
    .example('history --failed', 'what went wrong')
    .example('history --limit 1000 --format csv', 'as CSV')
    .run(async ({ failed, limit = 20 }, context) => {
      const { findHistory } = await import('../../calls/log.ts');
      const { readCalls, summarizeCall } = await import('../../calls/read-log.ts');
      const calls: ShownCall[] = [];
      const notes: string[] = [];
      for (const call of readCalls(findHistory(context.io))) {
        if (failed === true && call._sotra.error === undefined) continue;
        if (calls.length === limit) {
          notes.push('There are more: add --limit.');
          break;
        }
        calls.push(summarizeCall(call));
      }
      return { kind: 'answer', answer: calls, notes };
    });

  history
    .command('show')
    .summary('Show a call: request, response, headers and bodies')
    .params({ call: callParam, har: option.flag('print an HTTP archive (HAR), which browsers can open') })
    .prints()
    .example('history show', 'the newest call')
    .example('history show 1 --har', 'as an HTTP archive')
    .run(async ({ call: typed = '1', har }, context) => {
      const { findCall } = await import('../../calls/read-log.ts');
      const call = await findCall(typed, context);
      if (har) {
        const { wrapInHar } = await import('../../calls/entry.ts');
        return { kind: 'answer', answer: wrapInHar([call], context.io.version) };
      }
      const { showCall, formatCall } = await import('./actions.ts');
      return { kind: 'answer', answer: showCall(call), drawn: formatCall(call) };
    });

  history
    .command('run')
    .summary('Send a call again')
    .description(
      'It goes to the same service, with the key of its context or SOTRA_API_KEY. ' +
        'Anything but GET asks on a terminal; elsewhere it needs --yes.',
    )
    .params({ call: callParam })
    .requests()
    .prints()
    .example('history run', 'the newest call')
    .example('history run 1 --curl', 'print it as a curl line')
    .run(async ({ call = '1' }, context) => {
      const [{ findCall }, { sendAgain }] = await Promise.all([
        import('../../calls/read-log.ts'),
        import('./actions.ts'),
      ]);
      return sendAgain(await findCall(call, context), context);
    });

  history
    .command('clear')
    .summary('Delete the history of calls')
    .description('Also forgets the last boards (#1, #2, ...). Asks on a terminal; elsewhere it needs --yes.')
    .changes()
    .confirms(() => 'delete the history of calls')
    .example('history clear', 'asks first')
    .example('history clear --yes', 'in a script')
    .run(async (_, { io, options, note }) => {
      const [{ showPlan }, { clearHistory, findHistory }, { readCalls }] = await Promise.all([
        import('../../lib/output/confirm.ts'),
        import('../../calls/log.ts'),
        import('../../calls/read-log.ts'),
      ]);
      const folder = findHistory(io);
      const what = counted([...readCalls(folder)].length, 'call');
      if (options.dryRun) return showPlan([{ action: 'delete', what, detail: folder }]);
      clearHistory(folder);
      note(`Deleted ${what}.`);
      return { kind: 'none' };
    });
}

const columns: readonly Column<ShownCall>[] = [
  column.text('n', 'No', 'number for history show, history run and why; 1 is the newest', { align: 'right' }),
  column.text('id', 'Id', 'id, which never changes', ({ id }) => id, { drop: 4 }),
  column.time('at', 'Time', 'when it was sent', ({ atMs }) => Math.floor(atMs / 1000), {
    show: ({ atMs }) => ({ text: formatTime(atMs / 1000), short: formatTime(atMs / 1000).slice(-9) }),
  }),
  column.text('status', 'Status', 'HTTP status; empty without an answer', ({ status }) => status, {
    show: ({ status, error }) => ({ text: String(status ?? 'none'), tone: error === undefined ? 'gain' : 'loss' }),
  }),
  column.text('command', 'Command', 'the command as it was typed, secrets hidden', ({ command }) => command, {
    show: ({ command }) => command.replace(/^sotra /, ''),
    cut: 36,
  }),
  column.text('method', 'Method', 'HTTP method', { drop: 2 }),
  column.text('path', 'Path', 'path and query, secrets hidden', {
    show: ({ path }) => pathCell(path, 'strong'),
    cut: true,
  }),
  column.text('error', 'Error', 'why the call failed', { cut: true }),
  column.text('warning', 'Warning', 'where the answer does not match the interface', { extra: true }),
  column.count('ms', 'ms', 'duration in milliseconds', { drop: 3 }),
  column.text('context', 'Context', 'the context in use', { extra: true }),
  column.text('errorCode', 'Code', 'error code of the call', { extra: true }),
  column.count('attempt', 'Attempt', 'attempt of the call, from 1', { extra: true }),
  column.text('requestId', 'Request id', 'request id of the service', { extra: true }),
  column.text('baseUrl', 'Service', 'base URL of the service', { extra: true }),
];

const callsView = listView(columns, { empty: 'No calls in the history.' });
