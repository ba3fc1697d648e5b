import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf, SotraError } from '../errors.ts';
import { createFile, readStateFile } from '../files/durable-file.ts';
import { makeFolder } from '../files/folder.ts';
import type { Exchange, Trace } from '../http/observe.ts';
import { maskHeader } from '../http/preview.ts';
import { requestHider, secretHider } from '../http/secrets.ts';
import { parseJson, tryParseJson } from '../model/json.ts';

/** A body: its JSON where that says every character of it, else its text. */
const bodySchema = { json: z.unknown().optional(), text: z.string().optional() };

const exchangeSchema = z.object({
  /** Of the service. */
  baseUrl: z.string(),
  request: z.object({ method: z.string(), url: z.string(), ...bodySchema }),
  response: z.object({
    status: z.number(),
    headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    ...bodySchema,
  }),
});

/** A request with what was answered, secrets hidden. */
export interface RecordedExchange {
  baseUrl: string | undefined;
  method: string;
  url: string;
  body: string | undefined;
  status: number;
  headers: Record<string, string | string[]>;
  text: string;
}

/** Headers that say how the body travelled, which was another then. */
const ofTheJourney = ['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'];

/** Writes each exchange to a file of its own in a folder, mode 0600, numbered on from those there are. Errors: `local-file`. */
export function openRecording(folder: string, baseUrl: string): Trace {
  const failing = (cause: unknown) =>
    new SotraError('local-file', `--record ${folder}: ${messageOf(cause)}`, { hint: 'Choose another folder.', cause });
  let last = 0;
  try {
    makeFolder(folder);
    last = Math.max(0, ...filesIn(folder).map((name) => Number.parseInt(name, 10)));
  } catch (cause) {
    throw failing(cause);
  }
  return {
    add: (exchange) => {
      if (exchange.outcome.kind !== 'answer') return;
      const { method, url } = exchange.request;
      const text = `${JSON.stringify({ baseUrl, ...describe(exchange, exchange.outcome) }, undefined, 2)}\n`;
      const path = requestHider(exchange.request)(url.pathname)
        .replaceAll(/[^\w.]+/g, '-')
        .slice(0, 60);
      for (;;) {
        last += 1;
        try {
          const name = `${String(last).padStart(4, '0')}-${method}${path}.json`;
          // Another process may have taken the number.
          if (createFile(join(folder, name), text)) return;
        } catch (cause) {
          throw failing(cause);
        }
      }
    },
    close: () => undefined,
  };
}

function describe(exchange: Exchange, answer: Extract<Exchange['outcome'], { kind: 'answer' }>) {
  const hide = requestHider(exchange.request);
  const { method, url, body } = exchange.request;
  const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
    value === undefined || ofTheJourney.includes(name)
      ? []
      : [
          [
            hide(name),
            Array.isArray(value) ? value.map((each) => hide(maskHeader(name, each))) : hide(maskHeader(name, value)),
          ],
        ],
  );
  return {
    request: { method, url: hide(url.href), ...(body !== undefined && bodyOf(hide(body))) },
    response: { status: answer.status, headers: Object.fromEntries(headers), ...bodyOf(hide(answer.text)) },
  };
}

function bodyOf(text: string): { json: unknown } | { text: string } {
  const json = tryParseJson(text);
  return json !== undefined && JSON.stringify(json) === text ? { json } : { text };
}

function textOf({ json, text }: { json?: unknown; text?: string | undefined }): string | undefined {
  return json === undefined ? text : JSON.stringify(json);
}

/** What a folder of `--record` holds, or a HAR file, in the order of the requests. Errors: `local-file`, beginning with the label. */
export function readRecording(place: string, label = `--replay ${place}`): RecordedExchange[] {
  const failing = (what: string, cause?: unknown) =>
    new SotraError('local-file', `${label}: ${what}`, { hint: 'sotra --record <folder> writes one.', cause });
  if (!existsSync(place)) throw failing('does not exist');
  const isFolder = statSync(place).isDirectory();
  const found = isFolder
    ? filesIn(place).map((name) => {
        const { data, error } = exchangeSchema.safeParse(tryParseJson(readStateFile(join(place, name))));
        if (data === undefined) throw failing(`${name} is not a recorded exchange`, error);
        const { baseUrl, request, response } = data;
        const { method, url } = request;
        const { status, headers } = response;
        return { baseUrl, method, url, body: textOf(request), status, headers, text: textOf(response) ?? '' };
      })
    : readHar(place, failing);
  if (found.length === 0) throw failing('holds no answer');
  return found;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4,12}-.*\.json$/.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

const named = z.array(z.object({ name: z.string(), value: z.string() }));
const harSchema = z.object({
  log: z.object({
    entries: z.array(
      z.object({
        request: z.object({
          method: z.string(),
          url: z.string(),
          postData: z.object({ text: z.string().optional() }).optional(),
        }),
        response: z.object({
          status: z.number(),
          headers: named,
          content: z.object({ text: z.string().optional(), encoding: z.string().optional() }),
        }),
      }),
    ),
  }),
});

/** The answers of an HTTP archive, as `--trace-file` and browsers write it. */
function readHar(file: string, failing: (what: string, cause?: unknown) => SotraError): RecordedExchange[] {
  try {
    const text = readStateFile(file);
    const { log } = harSchema.parse(parseJson(text.replace(/^\uFEFF/, '')));
    const hide = secretHider(undefined);
    return log.entries
      .filter(({ request, response }) => response.status > 0 && URL.canParse(request.url))
      .map(({ request, response: { status, headers, content } }) => ({
        baseUrl: undefined,
        method: request.method,
        url: request.url,
        body: request.postData?.text === undefined ? undefined : hide(request.postData.text),
        status,
        headers: Object.fromEntries(
          headers
            .map(({ name, value }) => [name.toLowerCase(), value] as const)
            .filter(([name]) => !name.startsWith(':') && !ofTheJourney.includes(name)),
        ),
        text:
          content.encoding === 'base64' ? Buffer.from(content.text ?? '', 'base64').toString() : (content.text ?? ''),
      }));
  } catch (cause) {
    throw failing('is neither a folder nor an HTTP archive (HAR)', cause);
  }
}
