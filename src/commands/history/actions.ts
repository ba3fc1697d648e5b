import { isObject, parseJson, tryParseJson } from '../../api/json.ts';
import { safeText } from '../../api/safe-text.ts';
import type { LogEntry } from '../../calls/entry.ts';
import { type NumberedEntry, refuseLost, summarizeCall } from '../../calls/read-log.ts';
import { hideSecrets } from '../../client/secrets.ts';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { confirm } from '../../lib/output/confirm.ts';
import { indentJson } from '../../lib/output/json.ts';
import type { Result } from '../../lib/output/view.ts';

/** A call with headers and bodies; a body that is JSON as data. */
export function showCall(call: NumberedEntry) {
  const { request, response } = call;
  const formatHeaders = (list: LogEntry['request']['headers']) => list.map(({ name, value }) => `${name}: ${value}`);
  return {
    ...summarizeCall(call),
    request: {
      url: request.url,
      headers: formatHeaders(request.headers),
      body: parseBody(request.postData?.text),
      cut: request.postData?._cut ?? null,
    },
    response: {
      headers: formatHeaders(response.headers),
      body: parseBody(response.content.text),
      cut: response.content._cut ?? null,
    },
  };
}

/** The JSON of a body, else its text; null without one. */
function parseBody(text: string | undefined): unknown {
  return text === undefined ? null : (tryParseJson(text) ?? text);
}

/** A call as text: command, request, response, error. */
export function formatCall(call: NumberedEntry): string {
  const { startedDateTime, request, response, comment, _sotra } = call;
  const { n, id, ms, status } = summarizeCall(call);
  const { command, context, error, warning, ignored } = _sotra;
  const answered = status === null ? 'no answer' : `${status} ${response['statusText'] ?? ''}`.trimEnd();
  const lines = [
    command,
    `call ${n} (${id}) at ${startedDateTime}, ${ms} ms${context === undefined ? '' : `, context ${context}`}`,
    ...(comment === undefined ? [] : [comment]),
    '',
    ...formatMessage('>', `${request.method} ${request.url}`, request.headers, request.postData),
    '',
    ...formatMessage('<', answered, response.headers, response.content),
    ...(ignored === undefined ? [] : ['', `ignored: ${ignored.join(', ')}`]),
    ...(warning === undefined ? [] : ['', `warning: ${warning}`]),
    ...(error === undefined ? [] : ['', `error: ${error}`]),
  ];
  return `${lines.map(safeText).join('\n')}\n`;
}

function formatMessage(
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
    ...(cut === undefined ? [] : [`(cut here: the body has ${cut.bytes} bytes)`]),
  ];
}

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
    const differences = listDifferences(parseBody(content.text), data);
    const more = differences.length - maxDifferences;
    context.note(differences.length === 0 ? 'The answer is the same as before.' : 'The answer differs:');
    for (const line of differences.slice(0, maxDifferences)) context.note(`  ${line}`);
    if (more > 0) context.note(`  and ${more} more`);
  }
  return { kind: 'answer', answer: data, text };
}

/** Of a comparison. */
const [maxDifferences, maxShownValue] = [10, 60];

/** A line for each place where two JSON values differ, such as `traders[0].pnl.total: was 1, is 2`. */
function listDifferences(before: unknown, after: unknown, place = ''): string[] {
  if (Object.is(before, after)) return [];
  const isList = Array.isArray(before) && Array.isArray(after);
  if (!isList && !(isObject(before) && isObject(after)))
    return [`${place || 'the answer'}: was ${shortenJson(before)}, is ${shortenJson(after)}`];
  const [old, now] = [before, after] as Record<string, unknown>[];
  return [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])].flatMap((key) =>
    listDifferences(old?.[key], now?.[key], isList ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`),
  );
}

function shortenJson(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > maxShownValue ? `${text.slice(0, maxShownValue)}...` : text;
}

function compareStatus(before: number, now: number): string {
  return before === now
    ? `The status is ${now}, as before.`
    : `The status was ${before || 'missing (no answer)'} and is now ${now}.`;
}
