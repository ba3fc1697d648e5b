import { readFile } from 'node:fs/promises';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { hasDots } from '../contract/endpoint.ts';
import type { WireRequest } from '../contract/request.ts';
import { SotraError, usageError } from '../errors.ts';
import { itemLines } from '../http/item-lines.ts';
import { linedBatch, listKey, textsOf } from '../http/paginate.ts';
import { parseJson, whyNotJson } from '../model/json.ts';
import { compactJson } from '../output/json.ts';
import type { AnyView } from '../output/view.ts';
import { itemsOf, nextRequest, pageNames } from './request-pages.ts';

interface Typed {
  method: string;
  path: string;
  query?: readonly string[] | undefined;
  data?: string | undefined;
  paginate?: boolean | undefined;
}

/**
 * The answer to a request as it was typed; paginated: the items of all its pages. Errors: `usage` for an address of another origin and a
 * body that is not JSON; `local-file` for one that cannot be read; those of the call; `contract` when a page comes a second time.
 */
export async function sendTyped(typed: Typed, context: Context): Promise<Result> {
  const { baseUrl } = await context.service();
  const wire: WireRequest = {
    method: typed.method,
    ...readAddress(typed.path, typed.query ?? [], baseUrl),
    ...(typed.data === undefined ? {} : await readBody(typed.data, context)),
  };
  if (typed.method === 'GET' && typed.data !== undefined)
    throw usageError('--data does not go with GET', 'Give a query with --query name=value, or take another method.');
  if (typed.paginate && typed.method !== 'GET')
    throw usageError(
      `--paginate does not go with ${typed.method}`,
      'Only GET has pages: a repeated write would write again.',
    );
  if (!typed.paginate) {
    const { data, text } = await context.request(wire, { tellsBody: true });
    return { kind: 'answer', answer: data, text };
  }
  await context.world.keepHeapSmall?.();
  const batches = walk(wire, context);
  if (context.options.format === 'ndjson') return { kind: 'items', batches, view: asTheyAre };
  const pages: (readonly unknown[])[] = [];
  for await (const batch of batches) pages.push(batch);
  return { kind: 'answer', answer: pages.flat(), text: `[${pages.flatMap(textsOf).join(',')}]` };
}

const asTheyAre: AnyView = { layout: 'table', rows: (answer) => answer, columns: [] };

async function* walk(first: WireRequest, context: Context): AsyncGenerator<readonly unknown[]> {
  const { baseUrl, wire: overrides } = await context.service();
  const names = pageNames((first.href ?? first.path).split('?')[0] ?? '', overrides);
  const seen = new Set<string>();
  let before = '';
  let fullPage: number | undefined;
  for (let asked: WireRequest | undefined = first; asked !== undefined; ) {
    const { data, text } = await context.request(asked, { tellsBody: true });
    const list = itemsOf(data);
    const items = list ?? [data];
    fullPage ??= items.length;
    const next = nextRequest(asked, data, fullPage, names, baseUrl);
    const address = next?.href ?? next?.path ?? '';
    if (seen.has(address) || (items.length > 0 && text === before)) throw inCircles(asked);
    if (next !== undefined) seen.add(address);
    before = text;
    yield linedBatch(items, (count) =>
      list === undefined ? `${compactJson(text)}\n` : itemLines(text, listKey(data), count),
    );
    asked = next;
  }
}

function inCircles({ method, path, href }: WireRequest): SotraError {
  return new SotraError('contract', `the pages behind ${method} ${href ?? path} come a second time: stopped`, {
    hint: 'Walk by hand, without --paginate.',
  });
}

/** Where to send it. A plain path goes behind the base URL; a whole address is taken where its origin is the service's own. */
function readAddress(typed: string, query: readonly string[], baseUrl: string): Pick<WireRequest, 'path' | 'href'> {
  const pairs = new URLSearchParams();
  for (const pair of query) pairs.append(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
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
  if (url === undefined) throw usageError(`<path> ${typed}: must begin with a slash`, `Perhaps /${typed}`);
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
    throw usageError(
      `--data ${typed.slice(0, 60)}: is not JSON: ${whyNotJson(cause)}`,
      `Quote it for the shell: --data '{"name":"value"}', or read it with @file or -.`,
    );
  }
}

async function readText(typed: string, context: Context): Promise<string> {
  if (typed === '-') {
    const chunks: Uint8Array[] = [];
    for await (const chunk of context.world.io.in) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }
  if (!typed.startsWith('@')) return typed;
  try {
    return await readFile(typed.slice(1), 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SotraError('local-file', `--data ${typed}: ${why}`, { cause });
  }
}
