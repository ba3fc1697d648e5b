import { type Command, defineCommand, type Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { findCall } from '../../log/calls.ts';
import type { FailedCommand } from '../../log/entry.ts';
import { type NumberedEntry, readCalls, readFailedCommand } from '../../log/read-calls.ts';
import { explainCommand, explainEntry, listLines, reasonTexts, type Why } from '../../log/reasons.ts';
import { findLog } from '../../log/store.ts';
import { safeText } from '../../model/safe-text.ts';
import { formatAge } from '../../output/format.ts';
import { callParam } from '../history/index.ts';

const why = defineCommand({
  words: ['why'],
  summary: 'Say why the last command failed, and what to type next',
  description:
    'The last call that failed, or the call with this number or id in sotra history. Names where the answer differs from the interface, and\n' +
    'parameters without effect with the name that was meant. It sends nothing.',
  params: { n: callParam },
  examples: [
    { argv: 'why', says: 'the last failure' },
    { argv: 'why 1 --json', says: 'the newest call, as JSON' },
  ],
  uses: ['json'],
  exitCodes: [3, 5],
  run: async ({ n }, context): Promise<Result> => {
    const found = await findFailure(n, context);
    const why = 'request' in found ? await explainEntry(found, context) : await explainCommand(found);
    const { format, jq } = context.options;
    if (jq !== undefined || (format ?? 'table') !== 'table') return { kind: 'answer', answer: why };
    const age = formatAge(Date.parse(why.at) / 1000, context.io.now() / 1000);
    const heading =
      n === undefined
        ? `The last failure, ${age} ago (errors with exit 2 or 3, such as a wrong flag, are not kept):\n`
        : '';
    return { kind: 'text', text: heading + printWhy(why) };
  },
});

export const commands: readonly Command[] = [why];

/** The call with a number, or what failed last. Errors: `not-found`. */
async function findFailure(n: string | undefined, context: Context): Promise<NumberedEntry | FailedCommand> {
  if (n !== undefined) return findCall(n, context);
  const folder = findLog(await context.dataDirectory());
  const command = readFailedCommand(folder);
  const call = findFailedCall(readCalls(folder, context.warn, ({ hasFailed }) => hasFailed));
  const isLater = command !== undefined && (call === undefined || command.atMs > Date.parse(call.startedDateTime));
  if (isLater) return command;
  if (call !== undefined) return call;
  throw new SotraError('not-found', 'no call in the history failed', {
    hint: 'sotra history lists the calls; with SOTRA_HISTORY=0 it keeps none.',
  });
}

/** The first that failed for good: after others it was tried again. */
function findFailedCall(calls: Iterable<NumberedEntry>): NumberedEntry | undefined {
  for (const call of calls) if (call._sotra.errorCode !== undefined) return call;
  return undefined;
}

const maxShownBody = 600;

/** For people: why, the call itself, and what to do. */
function printWhy({ next, ...why }: Why): string {
  const { asked, answered, command, n, id, at, exitCode, code, curl } = why;
  const body = (text: string) => (text.length > maxShownBody ? `${text.slice(0, maxShownBody)}...` : text);
  const exit = `${exitCode === null ? '' : `, exit ${exitCode}`}${code === null ? '' : ` (${code})`}`;
  const lines = listLines({
    ...reasonTexts(why),
    command: [command],
    call: [`${n === null ? 'none was made' : `${n} (${id})`}, ${at}${exit}`],
    asked: [asked && `${asked.method} ${asked.url}`],
    sent: [asked?.body && body(asked.body)],
    answered: [answered && `${answered.status} in ${answered.ms} ms: ${body(answered.body)}`],
    next,
    curl: [curl],
  });
  return lines.map(([name, text]) => `${name.padEnd(10)}${safeText(text)}\n`).join('');
}
