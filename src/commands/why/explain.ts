import { safeText } from '../../api/safe-text.ts';
import type { FailedCommand } from '../../calls/entry.ts';
import { findHistory } from '../../calls/log.ts';
import { findCall, type NumberedEntry, readLog } from '../../calls/read-log.ts';
import { describeCallFailure, describeCommandFailure, listLines, reasonTexts, type Why } from '../../calls/reasons.ts';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { formatAge } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/result.ts';

/** Explains the call with a number or id, or what failed or warned last. Errors: `not-found`. */
export async function explainFailure(typed: string | undefined, context: Context): Promise<Result> {
  const { call, command } = typed === undefined ? await findLast(context) : { call: await findCall(typed, context) };
  const why = call === undefined ? describeCommandFailure(command) : await describeCallFailure(call, context, command);
  const { format, jq } = context.options;
  if (jq !== undefined || (format ?? 'table') !== 'table') return { kind: 'answer', answer: why };
  const age = formatAge(Date.parse(why.at) / 1000, context.io.now() / 1000);
  const what = why.code === null ? 'warning' : 'failure';
  const heading =
    typed === undefined
      ? `The last ${what}, ${age} ago (errors with exit 2 or 3, such as a wrong flag, are not kept):\n`
      : '';
  return { kind: 'text', text: heading + formatWhy(why) };
}

type Found = { call: NumberedEntry; command?: FailedCommand } | { call: undefined; command: FailedCommand };

/** The last failure or warning: a call, or a command with the call that explains it. Errors: `not-found`. */
async function findLast({ io }: Context): Promise<Found> {
  let command: FailedCommand | undefined;
  for (const found of readLog(findHistory(io))) {
    if ('request' in found) {
      const { id, errorCode, warning } = found._sotra;
      if (command !== undefined && id === command.call) return { call: found, command };
      if (command === undefined && (errorCode ?? warning) !== undefined) return { call: found };
    } else if (command === undefined) {
      command = found;
      if (command.call === undefined) break;
    }
  }
  if (command !== undefined) return { call: undefined, command };
  throw new SotraError('not-found', 'no call in the history failed', {
    hint: 'sotra history lists the calls; SOTRA_HISTORY=0 turns it off.',
  });
}

// So that everything fits 40 lines of a terminal.
const [maxRows, maxText, maxBody] = [5, 400, 300];

/** The reason, the call and the next steps, as text. */
function formatWhy({ next, ...why }: Why): string {
  const { asked, answered, command, n, id, at, exitCode, code, curl } = why;
  const exit = `${exitCode === null ? '' : `, exit ${exitCode}`}${code === null ? '' : ` (${code})`}`;
  const { why: rule, differs, ignored, note } = reasonTexts(why);
  const lines = listLines({
    why: rule,
    differs: shortenList(differs),
    ignored: shortenList(ignored),
    note,
    command: [command],
    call: [`${n === null ? 'none was made' : `${n} (${id})`}, ${at}${exit}`],
    asked: [asked && `${asked.method} ${asked.url}`],
    sent: [asked?.body && shorten(asked.body, maxBody)],
    answered: [
      answered &&
        `${answered.status} in ${answered.ms} ms${answered.body === '' ? '' : `: ${shorten(answered.body, maxBody)}`}`,
    ],
    next,
    curl: [curl !== null && curl.length > maxText ? `sotra history run ${id} --curl` : curl],
  });
  return lines.map(([name, text]) => `${name.padEnd(10)}${shorten(safeText(text), maxText)}\n`).join('');
}

function shortenList(texts: readonly string[]): string[] {
  const more = texts.length - maxRows;
  return more > 0 ? [...texts.slice(0, maxRows), `and ${more} more: sotra why --json`] : [...texts];
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text;
}
