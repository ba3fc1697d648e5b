import * as endpoints from '../../api/comment.ts';
import { dayMs } from '../../api/duration.ts';
import type { InputOf } from '../../api/endpoint.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { encodeRequest } from '../../api/request.ts';
import { findCalls } from '../../calls/calls.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { confirm, mayAsk } from '../../lib/output/confirm.ts';
import { formatTime } from '../../lib/output/format.ts';

export type CopyInput = InputOf<(typeof endpoints.copy)['params']>;

/** Asks on a terminal before an intent is sent a second time within a day, and refuses it elsewhere: it would count twice. Errors: `usage`. */
export async function refuseRepeat(input: CopyInput, context: Context): Promise<void> {
  const sentMs = context.options.preview ? undefined : await findSentIntent(input, context);
  if (sentMs === undefined) return;
  const said = `this intent was already sent at ${formatTime(sentMs / 1000)} and would count twice`;
  if (!mayAsk(context)) throw usageError(said, 'Add --again to send it anyway.');
  await confirm('send it again', context, `${said}.\n`);
}

/** When an equal intent was sent within the last day, Unix milliseconds; one that the service refused does not count. */
async function findSentIntent(input: CopyInput, context: Context): Promise<number | undefined> {
  const { wire } = await context.config.service();
  const { path, body } = encodeRequest(endpoints.copy, input, wire);
  const wanted = describeIntent(body);
  for await (const { startedDateTime, request, response } of findCalls(context, {
    method: 'POST',
    path: /\/copyswap$/,
  })) {
    const atMs = Date.parse(startedDateTime);
    if (context.io.now() - atMs > dayMs) return undefined;
    const isRefused = response.status >= 400 && response.status < 500;
    const isSame = new URL(request.url).pathname.endsWith(path);
    if (!isRefused && isSame && describeIntent(tryParseJson(request.postData?.text ?? '')) === wanted) return atMs;
  }
  return undefined;
}

/** What makes two intents equal. The end of tracking is not part of it: it is computed anew each time. */
function describeIntent(body: unknown): string {
  const { trackExitUntil: _, ...intent } = isObject(body) ? body : {};
  return JSON.stringify(Object.entries(intent).sort(([a], [b]) => (a < b ? -1 : 1)));
}
