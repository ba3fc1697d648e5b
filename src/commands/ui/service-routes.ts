import type { z } from 'zod';
import { type Endpoint, flagName } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { findMismatch } from '../../api/mismatch.ts';
import { checkInput } from '../../api/request.ts';
import * as webhooks from '../../api/webhook.ts';
import { callSource, closeCallActivity, openCallActivity } from '../../calls/call-activity.ts';
import { isHistoryOff } from '../../calls/log.ts';
import { curlLine } from '../../client/preview.ts';
import { hideUrlSecrets, maskSecrets } from '../../client/secrets.ts';
import { argumentWord, flagWords, shellLine, shellWord } from '../../client/shell.ts';
import { type Context, createContext } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import type { Service } from '../../lib/config/config.ts';
import { writeReadyFiles } from '../../lib/files/durable-file.ts';
import { untilAborted } from '../../lib/io.ts';
import { chooseSide, formatUsd, readCell } from '../../lib/output/format.ts';
import {
  type AnyView,
  type Block,
  type CellText,
  cellValue,
  listBlocks,
  listRows,
  type Result,
} from '../../lib/output/view.ts';
import { type CallOutcome, createActivityApp, type ServedCell, type ServedTable } from '../../pages/activity.ts';
import { createLiveLog, type LiveLog, type PageInput, servePage, showAddress, type WebApp } from '../../pages/serve.ts';

interface ServiceRoutesOptions {
  /** By id, how their answers become tables. */
  views: Readonly<Record<string, AnyView>>;
  /** How command lines for it begin, such as `sotra --sandbox`. */
  commandStart: string;
  /** Instead of the context's own. */
  service?: Service;
  context: Context;
}

/** Asks a service for the page: endpoints that read, and the webhooks of its key. The key stays here; `close` ends the connections. */
export function openServiceRoutes({ views, commandStart, ...options }: ServiceRoutesOptions) {
  const { client } = makePageContext(options);
  const call = async (query: URLSearchParams): Promise<CallOutcome<unknown>> => {
    const id = query.get('endpoint') ?? '';
    const endpoint = (endpoints as readonly Endpoint[]).find((each) => each.id === id);
    if (endpoint?.method !== 'GET') throw usageError(`endpoint ${id.slice(0, 80)}: must be one that reads`);
    const input = readInput(endpoint, tryParseJson(query.get('input') ?? '{}'));
    const { data } = await client.call(endpoint, input as never);
    const command = `${commandStart} ${writeCommand(endpoint, input)}`;
    const mismatch = findMismatch((await endpoint.answer()) as z.ZodType, data);
    if (mismatch !== undefined) {
      const message = `the service answered with ${mismatch}`;
      throw new SotraError('contract', message, { hint: `See the answer: ${command} --json` });
    }
    const shown = hideDestinations(maskSecrets(data));
    return { data: shown, tables: makeTables(views[id], shown, input), command };
  };
  const write = async (endpoint: Endpoint, given: unknown): Promise<unknown> =>
    maskSecrets((await client.call(endpoint, readInput(endpoint, given) as never)).data);
  const readSecret = async (given: unknown): Promise<{ secret: string }> => {
    const { uid } = isObject(given) ? given : {};
    const { data } = await client.call(webhooks.list, {});
    const found = Array.isArray(data) ? data.find((each) => isObject(each) && each['uid'] === uid) : undefined;
    if (found === undefined) throw usageError(`webhook ${String(uid).slice(0, 80)}: does not exist`);
    return { secret: String(found.secret) };
  };
  const routes: WebApp['routes'] = {
    'GET call': call,
    'POST webhook-secret': (_, body) => readSecret(body),
    'POST webhook-register': (_, body) => write(webhooks.register, body),
    'POST webhook-delete': async (_, body) => ({ deleted: await write(webhooks.remove, body) }),
  };
  return { routes, close: () => client.close() };
}

function readInput(endpoint: Endpoint, given: unknown): Input {
  return checkInput(endpoint, isObject(given) ? given : {});
}

/** A context that never retries or prompts. */
function makePageContext({ context, service }: Pick<ServiceRoutesOptions, 'context' | 'service'>): Context {
  return createContext({
    ...context,
    options: { ...context.options, retries: 0 },
    say: context.note,
    ...(service && { knownService: service }),
  });
}

/** The address of a webhook may hold a secret. */
function hideDestinations(data: unknown): unknown {
  if (!Array.isArray(data)) return data;
  return data.map((each) =>
    isObject(each) && typeof each['destinationUrl'] === 'string'
      ? { ...each, destinationUrl: hideUrlSecrets(each['destinationUrl']) }
      : each,
  );
}

type Input = Readonly<Record<string, unknown>>;

/** The command line of a call. */
function writeCommand({ id, params }: Endpoint, input: Input): string {
  const words = Object.entries(params).flatMap(([key, param]) => {
    const [value, flag] = [input[key], `--${flagName(key, param)}`];
    if (value === undefined || value === false) return [];
    if (value === true) return [flag];
    const texts = [value].flat().map(String);
    return param.positional ? texts.map(argumentWord) : [shellLine(flagWords(flag, texts.join(',')))];
  });
  return [...id.split('.'), ...words].join(' ');
}

/** Serves a page about a service until a signal comes. Errors: `key-missing`; `config` if it cannot listen. */
export async function serveOwnPage(service: Service, input: PageInput, context: Context): Promise<Result> {
  const { io, note, warn } = context;
  await context.client.requireKey();
  context.stream();
  const live = createLiveLog();
  const { source, routes, facts, close } = await openOwnService(service, context, live);
  const page = await servePage(createActivityApp({ facts, sources: [source], live }, routes), warn);
  let removeReadyFiles = () => {};
  try {
    removeReadyFiles = writeReadyFiles([input.readyFile], { ui: page.url, pid: io.pid });
    note(`Showing ${service.baseUrl}. Ctrl-C stops it.`);
    await showAddress(page, input, context);
    await untilAborted(io.signal);
  } finally {
    await Promise.all([page.close(), close()]);
    removeReadyFiles();
  }
  return { kind: 'none' };
}

/** What a page shows of the service in use: logged calls, a board and webhooks. */
export async function openOwnService({ kind, baseUrl }: Service, context: Context, live: LiveLog) {
  const named = context.options.context === undefined ? '' : ` --context ${shellWord(context.options.context)}`;
  const commandStart = kind === 'sandbox' ? 'sotra --sandbox' : `sotra${named}`;
  const calls = openCallActivity({ context, commandStart, openSender: () => makePageContext({ context }), live });
  const service = openServiceRoutes({ views: await context.views(), commandStart, context });
  return {
    source: callSource(calls),
    routes: service.routes,
    facts: {
      title: 'service',
      address: kind === 'sandbox' ? 'the built-in sandbox' : baseUrl,
      ...(kind !== 'sandbox' && { curl: firstCurl(baseUrl) }),
      empty: isHistoryOff(context.io) ? 'SOTRA_HISTORY=0: calls are not logged.' : 'No requests yet.',
      line: `${commandStart} leaderboard list`,
    },
    close: async () => void (await Promise.all([closeCallActivity(calls), service.close()])),
  };
}

/** A curl line that asks a service for its leaderboard. */
export function firstCurl(baseUrl: string, key = '$SOTRA_API_KEY'): string {
  const url = new URL(`${baseUrl}/v2/leaderboard`);
  return curlLine({ method: 'GET', url, headers: { authorization: '' } })
    .trim()
    .replace('$SOTRA_API_KEY', () => key);
}

/** The table or record of an answer, and the tables below it; empty for an answer of another shape. */
function makeTables(view: AnyView | undefined, answer: unknown, input: unknown): ServedTable[] {
  const rows = view && listRows(view, answer, input);
  if (view === undefined || rows === undefined) return [];
  const { layout, columns } = view;
  return [{ layout, columns, rows }, ...listBlocks(view, answer, input)].map(makeTable);
}

/** The most rows of a table that a page draws. */
const maxRows = 1000;

function makeTable({ title, layout, columns, rows: all }: Block): ServedTable {
  const rows = all.slice(0, maxRows);
  const cells = columns.map((column) =>
    alignDigits(rows.map((row, index) => ({ ...readCell(column, row, index), value: cellValue(column, row, index) }))),
  );
  const lines = rows.map((_, row) => cells.flatMap((column) => column[row] ?? []));
  return {
    title,
    layout,
    columns: columns.map((column) => {
      const { key, header, help, extra = false, drop } = column;
      return { key, title: header, help, side: chooseSide(column, rows), extra, drop };
    }),
    rows: lines,
    naming: findNamingColumn(lines),
  };
}

const [compactUsd, percent] = [/^([+-]?)\$[\d.,]+[KMBT]?$/, /^([+-]?)[\d.,]+%$/];

const oneDecimal = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const roundPercent = (digits: string) => oneDecimal.format(Number(digits.replaceAll(',', '')));

/** Gives all figures of a column the same number of decimals: the terminal rounds each figure by its size. */
function alignDigits(cells: readonly ServedCell[]): readonly ServedCell[] {
  const texts = cells.map(({ text }) => text);
  const figures = cells.filter(({ value }) => typeof value === 'number');
  const isCompact = texts.some((text) => /[KMBT]$/.test(text)) && figures.every(({ text }) => compactUsd.test(text));
  if (isCompact) {
    const signed = texts.some((text) => text.startsWith('+'));
    const write = (value: number) => formatUsd(Math.round(value), { signed }).replace('.00', '');
    return cells.map((cell) => (typeof cell.value === 'number' ? { ...cell, text: write(cell.value) } : cell));
  }
  if (!texts.some((text) => text.includes('.')) || !figures.every(({ text }) => percent.test(text))) return cells;
  return cells.map((cell) => ({
    ...cell,
    text: cell.text.replace(/[\d.,]+(?=%$)/, roundPercent),
  }));
}

/** The column that says what a row is about: the one its view emphasizes, or the first in which the rows differ. */
function findNamingColumn(lines: readonly (readonly CellText[])[]): number {
  const [first = [], ...others] = lines;
  const differs = first.map((cell, index) => others.some((cells) => cells[index]?.text !== cell.text));
  const stressed = first.findIndex(({ tone }, index) => tone === 'strong' && differs[index]);
  return stressed === -1 ? Math.max(0, differs.indexOf(true)) : stressed;
}
