import { type Endpoint, type Param, type WireNames, wireName } from './endpoint.ts';
import { describeKind, readItem } from './kind.ts';
import { kindOf } from './kind-of.ts';

/** A request before base URL and key: what the witness table in `test/` states by hand. */
export interface WireRequest {
  method: string;
  /** Percent-encoded path, with the query behind `?` where there is one. */
  path: string;
  /** Absolute address to use as it is, from a link of the service. */
  href?: string;
  /** JSON value of the body; absent when the request has none. */
  body?: unknown;
  /** The same body as it was typed, where its text must not change on the way (numbers above 2^53, repeated keys). */
  bodyText?: string;
}

type Values = Readonly<Record<string, unknown>>;
type AnyEndpoint = Pick<Endpoint, 'id' | 'method' | 'path' | 'params'>;

/**
 * The request for a checked input. Lists repeat the query key, absent inputs are not sent, `null` is sent as null.
 * Never throws. Source: wire-facts "Query encoding"; path segments are percent-encoded (external ids).
 */
export function encodeRequest(endpoint: AnyEndpoint, input: Values, overrides: WireNames = {}): WireRequest {
  const query = new URLSearchParams();
  const fields: Record<string, unknown> = {};
  let document: unknown;
  let path = endpoint.path;
  for (const [key, param] of Object.entries(endpoint.params)) {
    const value = input[key];
    if (value === undefined) continue;
    const name = wireName(endpoint, key, param, overrides);
    if (param.place === 'path') path = path.replace(`{${key}}`, () => encodeURIComponent(String(value)));
    else if (param.place === 'query') for (const item of [value].flat()) query.append(name, String(item));
    else if (param.place === 'body') fields[name] = value;
    else if (param.place === 'document') document = value;
  }
  const search = query.toString().replaceAll('+', '%20');
  const body = document ?? (hasBody(endpoint) ? fields : undefined);
  return {
    method: endpoint.method,
    path: search === '' ? path : `${path}?${search}`,
    ...(body === undefined ? {} : { body }),
  };
}

function hasBody(endpoint: AnyEndpoint): boolean {
  return Object.values(endpoint.params).some((param) => param.place === 'body');
}

export interface Incoming {
  /** Decoded path parameters by their name in the path. */
  path: Readonly<Record<string, string>>;
  query: URLSearchParams;
  body: unknown;
}

export type Decoded = { ok: true; input: Record<string, unknown> } | { ok: false; problem: string };

/**
 * The input that a request carries, checked by the endpoint's own schemas; the inverse of `encodeRequest`. `problem` is
 * a sentence that names the field as the service calls it. Unknown query names and body fields are ignored. Never throws.
 */
export function decodeRequest(endpoint: AnyEndpoint, incoming: Incoming, overrides: WireNames = {}): Decoded {
  const input: Record<string, unknown> = {};
  for (const [key, param] of Object.entries(endpoint.params)) {
    if (param.place === 'local') continue;
    const name = wireName(endpoint, key, param, overrides);
    const raw = readRaw(key, param, name, incoming);
    if (raw.problem !== undefined) return { ok: false, problem: raw.problem };
    const checked = param.schema.safeParse(raw.value);
    if (!checked.success) return { ok: false, problem: problemOf(name, param, raw.value, checked.error.issues[0]) };
    if (checked.data !== undefined) input[key] = checked.data;
  }
  return { ok: true, input };
}

function problemOf(name: string, param: Param, value: unknown, issue: { code?: string; message: string } | undefined) {
  const kind = kindOf(param.schema);
  if (value === undefined) return `${name} is required: ${describeKind(kind)}`;
  const why = issue?.code === 'custom' ? issue.message : `must be ${describeKind(kind)}`;
  return `${name} ${JSON.stringify(value)?.slice(0, 80)}: ${why}`;
}

type Raw = { value?: unknown; problem?: string };

function readRaw(key: string, param: Param, name: string, incoming: Incoming): Raw {
  if (param.place === 'path') return { value: incoming.path[key] };
  if (param.place === 'document') return { value: incoming.body };
  if (param.place === 'body') {
    const body = incoming.body;
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      return { problem: 'body must be a JSON object' };
    const used = [name, ...(param.aliases ?? [])].find((candidate) => Object.hasOwn(body, candidate));
    return { value: used === undefined ? undefined : (body as Values)[used] };
  }
  const used = [name, ...(param.aliases ?? [])].find((candidate) => incoming.query.has(candidate));
  return used === undefined ? {} : readQuery(param, name, incoming.query.getAll(used));
}

function readQuery(param: Param, name: string, texts: string[]): Raw {
  const kind = kindOf(param.schema);
  const values = texts.map((text) => readItem(kind, text));
  const wrong = values.indexOf(undefined);
  if (wrong !== -1) return { problem: `${name} ${JSON.stringify(texts[wrong])}: must be ${describeKind(kind)}` };
  if (kind.list) return { value: values };
  return values.length > 1
    ? { problem: `${name} is given ${values.length} times, once is allowed` }
    : { value: values[0] };
}
