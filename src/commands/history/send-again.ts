import { isObject, parseJson } from '../../api/json.ts';
import { type NumberedEntry, refuseLost, summarizeCall } from '../../calls/read-log.ts';
import { hideSecrets } from '../../client/secrets.ts';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { confirm } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { parseBody } from './format-call.ts';

const maxDifferences = 10;

/** Errors: `config` for a call of which a part was not kept; those of `confirm` and of the call. */
export async function sendAgain(call: NumberedEntry, context: Context): Promise<Result> {
  const { method, path, context: name, baseUrl } = summarizeCall(call);
  const body = call.request.postData?.text;
  refuseLost(call, { path, body });
  const { options } = context;
  const isChosen = options.sandbox || options.context !== undefined || options.baseUrl !== undefined;
  // The options decide which service is used, so they change before it is.
  if (!isChosen)
    Object.assign(
      options,
      name === 'sandbox' ? { sandbox: true } : name === undefined ? { baseUrl } : { context: name },
    );
  if (method !== 'GET') await confirm(`send ${method} ${path} again`, context);
  const sent = body === undefined ? {} : { body: parseJson(body), bodyText: body };
  if (options.preview)
    return { kind: 'request', request: await context.client.previewRequest({ method, path, ...sent }) };
  const { status: before, content } = call.response;
  const answered = await context.client
    .request({ method, path, ...sent }, { includeBodyInError: true })
    .catch((thrown: unknown) => {
      if (thrown instanceof SotraError && thrown.status !== undefined)
        context.note(compareStatus(before, thrown.status));
      throw thrown;
    });
  const { status } = answered;
  // Compared as the first answer was kept: without secrets.
  const text = hideSecrets(answered.text);
  const data = text === answered.text ? answered.data : parseBody(text);
  if (status !== before) context.note(compareStatus(before, status));
  if (content.text === undefined || content._cut !== undefined)
    context.note('The answers cannot be compared: the first one was not kept in full.');
  else {
    const differences = compareJson(parseBody(content.text), data);
    const more = differences.length - maxDifferences;
    context.note(differences.length === 0 ? 'The answer is the same as before.' : 'The answer differs:');
    for (const { place, before, after } of differences.slice(0, maxDifferences))
      context.note(`  ${place || 'the answer'}: was ${shortenJson(before)}, is ${shortenJson(after)}`);
    if (more > 0) context.note(`  and ${more} more`);
  }
  return { kind: 'answer', answer: data, text };
}

function compareStatus(before: number, now: number): string {
  return before === now
    ? `The status is ${now}, as before.`
    : `The status was ${before || 'missing (no answer)'} and is now ${now}.`;
}

/** A place where two JSON values differ, such as `traders[0].pnl.total`; `undefined` for a missing value. */
interface JsonDifference {
  /** Empty for the whole. */
  place: string;
  before: unknown;
  after: unknown;
}

function compareJson(before: unknown, after: unknown, place = ''): JsonDifference[] {
  if (Object.is(before, after)) return [];
  const isList = Array.isArray(before) && Array.isArray(after);
  if (!isList && !(isObject(before) && isObject(after))) return [{ place, before, after }];
  const [old, now] = [before, after] as Record<string, unknown>[];
  return [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])].flatMap((key) =>
    compareJson(old?.[key], now?.[key], isList ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`),
  );
}

const maxShownValue = 60;

function shortenJson(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > maxShownValue ? `${text.slice(0, maxShownValue)}...` : text;
}
