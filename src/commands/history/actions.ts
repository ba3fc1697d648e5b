import { parseJson, tryParseJson } from '../../api/json.ts';
import { safeText } from '../../api/safe-text.ts';
import type { LogEntry } from '../../calls/entry.ts';
import { type NumberedEntry, refuseLost, summarizeCall } from '../../calls/read-log.ts';
import { hideSecrets } from '../../client/secrets.ts';
import type { Context } from '../../context.ts';
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
  // The options decide which service is used, so they change before it is. The address of the context may have changed since.
  if (!isChosen) Object.assign(options, name === 'sandbox' ? { sandbox: true } : { context: name, baseUrl });
  if (method !== 'GET') await confirm(`send ${method} ${path} again`, context);
  const sent = body === undefined ? {} : { body: parseJson(body), bodyText: body };
  if (options.preview)
    return { kind: 'request', request: await context.client.previewRequest({ method, path, ...sent }) };
  const { data, text } = await context.client.request({ method, path, ...sent }, { includeBodyInError: true });
  const shown = hideSecrets(text);
  return { kind: 'answer', answer: shown === text ? data : parseBody(shown), text: shown };
}
