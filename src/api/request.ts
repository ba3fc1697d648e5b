import { missingInputs, usageError } from '../errors.ts';
import { textProblem } from './address.ts';
import {
  checkParam,
  type Endpoint,
  isPathSegment,
  type Param,
  segmentRule,
  type WireNames,
  wireName,
} from './endpoint.ts';
import { isObject } from './json.ts';
import { describeKind, describeProblem, itemOf, type Kind, type Problem, parseText, unknownChoices } from './kind.ts';
import { nearest } from './nearest.ts';

/** A request before base URL and key. */
export interface WireRequest {
  method: string;
  /** Percent-encoded, with the query. */
  path: string;
  /** A link of the service, used as it is. */
  href?: string;
  body?: unknown;
  /** The body as it was typed, if its text must not change (numbers above 2^53, repeated keys). */
  bodyText?: string;
}

type Values = Readonly<Record<string, unknown>>;
type AnyEndpoint = Pick<Endpoint, 'id' | 'method' | 'path' | 'params'>;

/**
 * The request for a checked input: lists repeat the query key, `null` is sent as null. Source: wire-facts "Query encoding". Errors:
 * `usage` for a segment that changes the path.
 */
export function encodeRequest(endpoint: AnyEndpoint, input: Values, overrides: WireNames = {}): WireRequest {
  const query = new URLSearchParams();
  const fields: Record<string, unknown> = {};
  let document: unknown;
  let path = endpoint.path;
  for (const [key, param] of Object.entries(endpoint.params)) {
    const value = keepFirst(param.kind, input[key]);
    if (value === undefined) continue;
    const name = wireName(endpoint, key, param, overrides);
    const wrong = findBadText(value);
    if (wrong !== undefined) throw usageError(describeProblem(name, wrong));
    if (param.location === 'path' && !isPathSegment(value))
      throw usageError(`<${param.flag ?? key}> ${JSON.stringify(value)}: ${segmentRule}`);
    if (param.location === 'path') path = path.replace(`{${key}}`, () => encodeURIComponent(String(value)));
    else if (param.location === 'query') for (const item of [value].flat()) query.append(name, String(item));
    else if (param.location === 'body') fields[name] = value;
    else if (param.location === 'document') document = value;
  }
  const search = query.toString().replaceAll('+', '%20');
  const body = document ?? (hasBody(endpoint) ? fields : undefined);
  return {
    method: endpoint.method,
    path: search === '' ? path : `${path}?${search}`,
    ...(body === undefined ? {} : { body }),
  };
}

/** The part of a list that the service reads; any other value as it is. */
function keepFirst(kind: Kind, value: unknown): unknown {
  return kind.type === 'list' && Array.isArray(value) ? value.slice(0, kind.keepFirst) : value;
}

/**
 * The checked input of a call from code. Errors: `usage` naming the field, its value and the allowed values; for an unknown field the known
 * ones; for missing fields all of them.
 */
export function checkInput({ id, params }: Pick<Endpoint, 'id' | 'params'>, given: Values): Values {
  for (const key of Object.keys(given))
    if (!Object.hasOwn(params, key)) throw unknownField(id, key, Object.keys(params));
  for (const [name, param] of Object.entries(params)) {
    const value = given[name];
    const problem = checkParam(param, value);
    if (problem !== undefined && value === undefined) throw missingInputs(findRequired(params, given));
    if (problem !== undefined) throw usageError(describeProblem(name, problem));
  }
  return given;
}

function findRequired(params: Endpoint['params'], given: Values) {
  return Object.entries(params)
    .filter(([key, { kind }]) => given[key] === undefined && !kind.optional)
    .map(([label, { help }]) => ({ label, help }));
}

function unknownField(id: string, name: string, known: readonly string[]) {
  const near = nearest(name, known);
  const list = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
  return usageError(`${id} has no input ${name}: ${near === undefined ? list : `did you mean ${near}? ${list}`}`);
}

function hasBody(endpoint: AnyEndpoint): boolean {
  return Object.values(endpoint.params).some((param) => param.location === 'body');
}

export interface RequestParts {
  path: Readonly<Record<string, string>>;
  query: URLSearchParams;
  body: unknown;
}

/** The endpoint of a method and an address behind a base URL, and the parts of the address. */
export function matchEndpoint(
  { method, url }: { method: string; url: string },
  baseUrl: string,
  endpoints: readonly Endpoint[],
): { endpoint: Endpoint; parts: RequestParts } | undefined {
  const { pathname, searchParams } = new URL(url);
  const base = URL.canParse(baseUrl) ? new URL(baseUrl).pathname.replace(/\/$/, '') : '';
  const given = pathname.slice(pathname.startsWith(`${base}/`) ? base.length : 0).split('/');
  for (const endpoint of endpoints) {
    const words = endpoint.path.split('/');
    const isPlaceholder = (word: string | undefined) => word?.startsWith('{') === true;
    if (endpoint.method !== method || words.length !== given.length) continue;
    if (!words.every((word, index) => isPlaceholder(word) || word === given[index])) continue;
    const path = Object.fromEntries(
      words.flatMap((word, index) =>
        isPlaceholder(word) ? [[word.slice(1, -1), decodeSegment(given[index] ?? '')]] : [],
      ),
    );
    return { endpoint, parts: { path, query: searchParams, body: undefined } };
  }
  return undefined;
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `ignored`: query names and body fields that were not read. */
export type DecodeResult =
  | { ok: true; input: Record<string, unknown>; ignored: readonly string[] }
  | { ok: false; problem: string };

/** The checked input of a request; the inverse of `encodeRequest`. `problem` names the field as the request does.
 * `known`: further values of an open list of choices. */
export function decodeRequest(
  endpoint: AnyEndpoint,
  incoming: RequestParts,
  overrides: WireNames = {},
  known: readonly string[] = [],
): DecodeResult {
  const input: Record<string, unknown> = {};
  const read = new Set<string>();
  for (const [key, param] of Object.entries(endpoint.params)) {
    if (param.location === 'local') continue;
    const raw = readRaw(key, param, wireName(endpoint, key, param, overrides), incoming);
    if (raw.problem !== undefined) return { ok: false, problem: raw.problem };
    read.add(raw.name);
    const { name, value } = raw;
    const problem = checkParam(param, value) ?? findBadText(value);
    if (problem !== undefined && value === undefined)
      return {
        ok: false,
        problem: `${name} is required: ${param.kind.type === 'list' ? 'a list of ' : ''}${describeKind(param.kind)}`,
      };
    if (problem !== undefined) return { ok: false, problem: describeProblem(name, problem) };
    const other = unknownChoices(param.kind, value).find((each) => !known.includes(each));
    if (other !== undefined) return { ok: false, problem: unknownChoice(name, other, param, known) };
    const kept = keepFirst(param.kind, value);
    // Repeating a value in a query does not count it twice.
    if (kept !== undefined) input[key] = param.location === 'query' && Array.isArray(kept) ? [...new Set(kept)] : kept;
  }
  const fields = hasBody(endpoint) ? Object.keys(incoming.body ?? {}) : [];
  const ignored = [...new Set([...incoming.query.keys(), ...fields])].filter((name) => !read.has(name));
  return { ok: true, input, ignored };
}

/** The first text in a value that cannot be stored as it is. */
function findBadText(value: unknown): Problem | undefined {
  if (typeof value === 'string') {
    const message = textProblem(value);
    return message === undefined ? undefined : { value, message };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const each of Object.values(value)) {
    const found = findBadText(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unknownChoice(name: string, value: string, { kind }: Param, known: readonly string[]): string {
  const item = itemOf(kind);
  const choices = item.type === 'choice' ? item.choices : [];
  return describeProblem(name, { value, message: `must be one of ${[...choices, ...known].join(', ')}` });
}

interface Raw {
  name: string;
  value?: unknown;
  problem?: string;
}

function readRaw(key: string, param: Param, name: string, incoming: RequestParts): Raw {
  const { body, query } = incoming;
  if (param.location === 'path') return { name, value: incoming.path[key] };
  if (param.location === 'document') return { name, value: body };
  const names = [name, ...(param.aliases ?? [])];
  if (param.location === 'body') {
    const fields = isObject(body) ? body : undefined;
    const used = names.find((candidate) => fields !== undefined && Object.hasOwn(fields, candidate));
    if (used !== undefined) return { name: used, value: fields?.[used] };
    if (!param.alsoInQuery || !names.some((candidate) => query.has(candidate)))
      return fields ? { name } : { name, problem: 'body must be a JSON object' };
  }
  const used = names.find((candidate) => query.has(candidate));
  return used === undefined ? { name } : readQuery(param, used, query.getAll(used));
}

function readQuery({ kind }: Param, name: string, texts: string[]): Raw {
  const values = texts.map((text) => parseText(kind, text));
  if (kind.type === 'list') return { name, value: values };
  return values.length > 1
    ? { name, problem: `${name} is given ${values.length} times; give it once` }
    : { name, value: values[0] };
}
