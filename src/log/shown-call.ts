import { tryParseJson } from '../model/json.ts';
import { safeText } from '../model/safe-text.ts';
import { indentJson } from '../output/json.ts';
import type { HarEntry, LogEntry } from './entry.ts';
import type { NumberedEntry } from './store.ts';

/** What a line of `sotra history` says. */
export interface ShownCall extends Omit<LogEntry['_sotra'], 'v'> {
  n: number;
  /** Unix milliseconds. */
  atMs: number;
  method: string;
  /** Behind the base URL, with the query. */
  path: string;
  /** Null where no answer came. */
  status: number | null;
  ms: number;
}

export function summarizeCall({ n, startedDateTime, time, request, response, _sotra }: NumberedEntry): ShownCall {
  const { v: _, ...facts } = _sotra;
  const { baseUrl } = facts;
  const { url } = request;
  return {
    n,
    atMs: Date.parse(startedDateTime),
    method: request.method,
    path: url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url.replace(/^\w+:\/\/[^/]+/, ''),
    status: response.status || null,
    ms: Math.round(time),
    ...facts,
  };
}

/** A call with headers and bodies; a body that is JSON as data. */
export function describeCall(call: NumberedEntry) {
  const { request, response } = call;
  const headersOf = (list: HarEntry['request']['headers']) => list.map(({ name, value }) => `${name}: ${value}`);
  return {
    ...summarizeCall(call),
    request: {
      url: request.url,
      headers: headersOf(request.headers),
      body: readBody(request.postData?.text),
      cut: request.postData?._cut ?? null,
    },
    response: {
      headers: headersOf(response.headers),
      body: readBody(response.content.text),
      cut: response.content._cut ?? null,
    },
  };
}

/** The JSON of a body, else its text; null without one. */
export function readBody(text: string | undefined): unknown {
  return text === undefined ? null : (tryParseJson(text) ?? text);
}

/** For people: what was asked, what came back, why it failed. */
export function printCall(call: NumberedEntry): string {
  const { n, startedDateTime, request, response, comment, _sotra } = call;
  const { ms, status } = summarizeCall(call);
  const { command, context, exitCode, error, ignored } = _sotra;
  const exit = exitCode === undefined ? '' : `, exit ${exitCode}`;
  const answered = status === null ? ['no answer'] : [`${status} ${response['statusText'] ?? ''}`.trimEnd()];
  const lines = [
    command,
    `call ${n} at ${startedDateTime}, ${ms} ms${context === undefined ? '' : `, context ${context}`}${exit}`,
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
  headers: HarEntry['request']['headers'],
  body: HarEntry['request']['postData'],
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
