import { buffer } from 'node:stream/consumers';
import { type Endpoint, hasDots, type WireNames, wireName } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { parseJson, whyNotJson } from '../../api/json.ts';
import type { WireRequest } from '../../api/request.ts';
import { sameOrigin } from '../../client/client.ts';
import { fetchNext, findNext, listItems, listKey } from '../../client/paginate.ts';
import { hideSecrets } from '../../client/secrets.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError, warnOfRepeat } from '../../errors.ts';
import { decodeText, openBytes } from '../../lib/files/source.ts';
import { confirm } from '../../lib/output/confirm.ts';
import { collectItems, type Result, rawItems } from '../../lib/output/view.ts';
import { splitPair } from '../params.ts';

interface RequestInput {
  method: string;
  path: string;
  query?: readonly string[] | undefined;
  data?: string | undefined;
  paginate?: boolean | undefined;
}

/**
 * The answer to a request as it was typed; with `paginate` the items of all its pages. Errors: `usage` for another origin, a body that is not
 * JSON and a DELETE that is not confirmed; `local-file`; those of the call; `contract` when a page comes twice.
 */
export async function sendTyped(typed: RequestInput, context: Context): Promise<Result> {
  const { baseUrl } = await context.config.service();
  const wire: WireRequest = {
    method: typed.method,
    ...readAddress(typed.path, typed.query ?? [], { baseUrl, warn: context.warn }),
    ...(typed.data === undefined ? {} : await readBody(typed.data, context)),
  };
  if (typed.method === 'GET' && typed.data !== undefined)
    throw usageError('--data cannot be used with GET', 'Use --query name=value, or another method.');
  if (typed.paginate && typed.method !== 'GET')
    throw usageError(`--paginate cannot be used with ${typed.method}`, 'Only GET requests have pages: omit it.');
  if (context.options.preview) return { kind: 'request', request: await context.client.previewRequest(wire) };
  if (typed.method === 'DELETE') await confirm(`send DELETE ${wire.path}`, context);
  if (!typed.paginate) {
    const sent = context.client.request(wire, withBody);
    const { data, text } = await sent.catch((thrown: unknown) => {
      throw warnOfRepeat(thrown, wire.method);
    });
    return { kind: 'answer', answer: data, text };
  }
  const batches = walk(wire, context);
  if (context.options.format === 'ndjson') return { kind: 'items', batches, view: rawItems };
  return { kind: 'answer', answer: await collectItems(batches) };
}

type Query = Readonly<Record<string, readonly string[]>>;

const withBody = { includeBodyInError: true };

/** The items of all pages, a batch a page. Errors: those of the call; `contract` when a page comes twice; `redirect` as in `fetchNext`. */
async function* walk(first: WireRequest, context: Context): AsyncGenerator<readonly unknown[]> {
  const { baseUrl, wire: overrides } = await context.config.service();
  const [address = '', typed] = (first.href ?? first.path).split(/\?(.*)/s, 2);
  const names = namePaging(address, overrides);
  const query = readQuery(typed);
  const fetchPage = (input: Readonly<Record<string, unknown>>, link?: string) => {
    const to = link === undefined ? withQuery(address, input) : sameOrigin(link, { baseUrl, hide: hideSecrets });
    const isWhole = link !== undefined || first.href !== undefined;
    return context.client.request({ ...first, ...(isWhole ? { href: to } : { path: to }) }, withBody);
  };
  const seen = new Set<string>();
  let [before, fullPage, page] = ['', Number(query[names.size]?.[0]), Number(query[names.page]?.[0] ?? 1)];
  for (let answer = await context.client.request(first, withBody); ; ) {
    const { data, text } = answer;
    const isList = Array.isArray(data) || listKey(data) !== undefined;
    const items = isList ? listItems(data) : [data];
    fullPage ||= items.length;
    const next =
      findNext(names.links, query[names.links.newer] === undefined ? 'older' : 'newer', data) ??
      findNext(names.cursors, 'older', data);
    const isNumbered = Array.isArray(data) && (names.isNumbered || query[names.page] !== undefined);
    const step = next === undefined ? `page ${page}` : next.text;
    if (seen.has(step) || (items.length > 0 && text === before)) throw repeatedPage(first);
    seen.add(step);
    before = text;
    yield items;
    if (next !== undefined) answer = await fetchNext(names.links, next, query, fetchPage);
    else if (isNumbered && items.length >= fullPage && items.length > 0) {
      page += 1;
      answer = await fetchPage({ ...query, [names.page]: [String(page)] });
    } else return;
  }
}

function repeatedPage({ method, path, href }: WireRequest): SotraError {
  return new SotraError('contract', `${method} ${href ?? path} returned the same page twice; stopped to avoid a loop`, {
    hint: 'Request the pages one by one, without --paginate.',
  });
}

function readAddress(
  typed: string,
  query: readonly string[],
  { baseUrl, warn }: { baseUrl: string; warn: (text: string) => void },
): Pick<WireRequest, 'path' | 'href'> {
  const pairs = new URLSearchParams();
  for (const pair of query) {
    const [name, value] = splitPair(pair);
    if (/,[\w.[\]-]+=./.test(value))
      warn(`--query ${pair} is one parameter, ${name}, with the value ${value}. Several: -q a=1 -q b=2.`);
    pairs.append(name, value);
  }
  const [bare = ''] = typed.split(/[?#]/, 1);
  if (hasDots(bare.replace(/^\w+:\/\/[^/]*/, '')))
    throw usageError(
      `<path> ${typed}: . and .. would send the request to another path`,
      `Name that path: ${new URL(bare, baseUrl).pathname}`,
    );
  const search = pairs.toString().replaceAll('+', '%20');
  const address = search === '' ? typed : `${typed}${typed.includes('?') ? '&' : '?'}${search}`;
  if (typed.startsWith('/')) return { path: address };
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined) throw usageError(`<path> ${typed}: must begin with a slash`, `Did you mean /${typed}?`);
  if (url.origin === new URL(baseUrl).origin) return { path: url.pathname + url.search, href: url.href };
  throw usageError(
    `<path> ${typed}: is not on ${new URL(baseUrl).origin}, and the key is sent nowhere else`,
    'Give the path alone, or name the other service with --base-url.',
  );
}

async function readBody(typed: string, context: Context): Promise<Pick<WireRequest, 'body' | 'bodyText'>> {
  const text = await readText(typed, context);
  try {
    return { body: parseJson(text), bodyText: text.trim() };
  } catch (cause) {
    const isText = !/^(?:-$|@)/.test(typed);
    throw usageError(
      `--data ${typed.slice(0, 60)}: is not JSON: ${text.trim() === '' ? 'it is empty' : whyNotJson(cause)}`,
      isText ? `Quote it for the shell: --data '{"name":"value"}', or read it with @file or -.` : undefined,
    );
  }
}

async function readText(typed: string, { io }: Context): Promise<string> {
  const file = typed === '-' ? typed : typed.startsWith('@') ? typed.slice(1) : undefined;
  return file === undefined ? typed : decodeText(await buffer(openBytes(file, io, '--data').bytes), file);
}

/** How an address may be paged, by the names that this deployment uses. */
function namePaging(address: string, wire: WireNames) {
  const here = (endpoints as readonly Endpoint[]).find(
    ({ method, path }) => method === 'GET' && new RegExp(`${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(address),
  );
  const findName = (key: string) => {
    const param = here?.params[key];
    return here === undefined || param === undefined ? key : wireName(here, key, param, wire);
  };
  const size = findName('limit');
  const found = { size, maxSize: Number.MAX_SAFE_INTEGER, items: '' };
  return {
    size,
    page: findName('page'),
    /** Pages are numbered, even if the first request names no page. */
    isNumbered: here?.paging?.kind === 'page',
    cursors: { ...found, kind: 'cursor', cursor: findName('cursor'), next: 'cursor' } as const,
    links: { ...found, kind: 'links', newer: findName('newerThan'), older: findName('olderThan'), atSec: '' } as const,
  };
}

function readQuery(typed = ''): Query {
  const pairs = new URLSearchParams(typed);
  return Object.fromEntries([...pairs.keys()].map((name) => [name, pairs.getAll(name)]));
}

/** Values that are absent are left out. */
function withQuery(address: string, query: Readonly<Record<string, unknown>>): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) if (each !== undefined) pairs.append(name, String(each));
  return `${address}?${pairs.toString().replaceAll('+', '%20')}`;
}
