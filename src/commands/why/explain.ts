import { safeText } from '../../api/safe-text.ts';
import { findCall } from '../../calls/calls.ts';
import type { FailedCommand } from '../../calls/entry.ts';
import { type NumberedEntry, readCalls, readFailedCommand } from '../../calls/read-calls.ts';
import { explainCommand, explainEntry, listLines, reasonTexts, type Why } from '../../calls/reasons.ts';
import { findLog } from '../../calls/store.ts';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { formatAge } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/result.ts';

/** Explains the call of a number or an id, or what failed last. Errors: `not-found`. */
export async function explainFailure(typed: string | undefined, context: Context): Promise<Result> {
  const found = await findFailure(typed, context);
  const why = 'request' in found ? await explainEntry(found, context) : await explainCommand(found);
  const { format, jq } = context.options;
  if (jq !== undefined || (format ?? 'table') !== 'table') return { kind: 'answer', answer: why };
  const age = formatAge(Date.parse(why.at) / 1000, context.io.now() / 1000);
  const heading =
    typed === undefined
      ? `The last failure, ${age} ago (errors with exit 2 or 3, such as a wrong flag, are not kept):\n`
      : '';
  return { kind: 'text', text: heading + formatWhy(why) };
}

/** The call with a number, or what failed last. Errors: `not-found`. */
async function findFailure(typed: string | undefined, context: Context): Promise<NumberedEntry | FailedCommand> {
  if (typed !== undefined) return findCall(typed, context);
  const folder = findLog(await context.dataDirectory());
  const command = readFailedCommand(folder);
  const call = findFailedCall(readCalls(folder, context.warn, ({ hasFailed }) => hasFailed));
  const isLater = command !== undefined && (call === undefined || command.atMs > Date.parse(call.startedDateTime));
  if (isLater) return command;
  if (call !== undefined) return call;
  throw new SotraError('not-found', 'no call in the history failed', {
    hint: 'sotra history lists the calls; SOTRA_HISTORY=0 turns it off.',
  });
}

/** The first that was not retried. */
function findFailedCall(calls: Iterable<NumberedEntry>): NumberedEntry | undefined {
  for (const call of calls) if (call._sotra.errorCode !== undefined) return call;
  return undefined;
}

const maxShownBody = 600;

/** The reason, the call and what to do next, as text. */
function formatWhy({ next, ...why }: Why): string {
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
