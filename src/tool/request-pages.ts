import { type Endpoint, type WireNames, wireName } from '../contract/endpoint.ts';
import type { WireRequest } from '../contract/request.ts';
import { sameOrigin } from '../http/client.ts';
import { endpoints } from '../resources/index.ts';

/** What the service calls the parameters of paging at one path. */
export interface PageNames {
  cursor: string;
  page: string;
  size: string;
  newer: string;
  /** Pages are numbered, also where the first request names no page. */
  numbered: boolean;
}

/** The names at a path of the service: those of the endpoint there, else the usual ones. */
export function pageNames(pathname: string, wire: WireNames): PageNames {
  const here = (endpoints as readonly Endpoint[]).find(
    ({ method, path }) => method === 'GET' && new RegExp(`${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  const nameOf = (key: string) => {
    const param = here?.params[key];
    return here === undefined || param === undefined ? key : wireName(here, key, param, wire);
  };
  return {
    cursor: nameOf('cursor'),
    page: nameOf('page'),
    size: nameOf('limit'),
    newer: nameOf('newerThan'),
    numbered: here?.paging?.kind === 'page',
  };
}

/** The items of an answer: itself where it is a list, else the first list it holds; `undefined` where it holds none. */
export function itemsOf(data: unknown): readonly unknown[] | undefined {
  if (Array.isArray(data)) return data;
  return typeof data === 'object' && data !== null ? Object.values(data).find(Array.isArray) : undefined;
}

/**
 * The request for the page behind an answer: its link, its cursor, or the next number; `undefined` at the end. `fullPage` is how many items
 * the first page had. Errors: `redirect` for a link to another origin.
 */
export function nextRequest(
  asked: WireRequest,
  data: unknown,
  fullPage: number,
  names: PageNames,
  baseUrl: string,
): WireRequest | undefined {
  const answer = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  const query = queryOf(asked);
  const links = (answer['pagination'] ?? {}) as Record<string, unknown>;
  const link = links[query.has(names.newer) ? 'newerItemsURL' : 'olderItemsURL'];
  if (isText(link)) return { ...asked, href: sameOrigin(link, baseUrl) };
  if (isText(answer['cursor'])) return withQuery(asked, names.cursor, answer['cursor']);
  if (!Array.isArray(data) || !(names.numbered || query.has(names.page))) return undefined;
  const size = Number(query.get(names.size) ?? fullPage);
  if (data.length === 0 || data.length < size) return undefined;
  return withQuery(asked, names.page, String(Number(query.get(names.page) ?? 1) + 1));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function split(asked: WireRequest): [path: string, query: string] {
  const address = asked.href ?? asked.path;
  const at = address.indexOf('?');
  return at === -1 ? [address, ''] : [address.slice(0, at), address.slice(at + 1)];
}

function queryOf(asked: WireRequest): URLSearchParams {
  return new URLSearchParams(split(asked)[1]);
}

function withQuery(asked: WireRequest, name: string, value: string): WireRequest {
  const query = queryOf(asked);
  query.set(name, value);
  const address = `${split(asked)[0]}?${query.toString().replaceAll('+', '%20')}`;
  return asked.href === undefined ? { ...asked, path: address } : { ...asked, href: address };
}
