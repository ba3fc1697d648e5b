import { missingInputs, usageError } from '../errors.ts';
import { isObject } from '../model/json.ts';
import { nearest } from '../model/nearest.ts';
import { textProblem } from '../model/safe-text.ts';
import { type Endpoint, isPathSegment, type Param, segmentRule, type WireNames, wireName } from './endpoint.ts';
import { describeKind, type Kind, readItem, unknownChoices } from './kind.ts';
import { readKind } from './read-kind.ts';

/** A request before base URL and key. */
export interface WireRequest {
  method: string;
  /** Percent-encoded, with the query. */
  path: string;
  /** A link of the service, used as it is. */
  href?: string;
  body?: unknown;
  /** The body as it was typed, where its text must not change (numbers above 2^53, repeated keys). */
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
    const value = input[key];
    if (value === undefined) continue;
    const name = wireName(endpoint, key, param, overrides);
    const wrong = findBadText(value);
    if (wrong !== undefined) throw usageError(describeProblem({ name, value: wrong.text }, undefined, wrong.problem));
    if (param.place === 'path' && !isPathSegment(value))
      throw usageError(`<${param.flag ?? key}> ${JSON.stringify(value)}: ${segmentRule}`);
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

/** The inputs that are sent to the service. Others open files, write them or show secrets: they are for whoever types the command. */
export function sentParams(params: Endpoint['params']): Endpoint['params'] {
  return Object.fromEntries(Object.entries(params).filter(([, { place }]) => place !== 'local'));
}

/** What a value must be, ends "limit 0: ..."; `issue` is what its schema said. */
type Explain = (param: Param, issue: Issue) => string;

/**
 * The checked input of a call from code. Errors: `usage` naming the field, its value and what is allowed; for an unknown field the known
 * ones; for missing fields all of them.
 */
export function checkInput(
  { id, params }: Pick<Endpoint, 'id' | 'params'>,
  given: Values,
  explain: Explain = (_, { message }) => message,
): Values {
  for (const key of Object.keys(given))
    if (!Object.hasOwn(params, key)) throw unknownField(id, key, Object.keys(params));
  for (const [name, param] of Object.entries(params)) {
    const value = given[name];
    const { error } = param.schema.safeParse(value);
    if (error !== undefined && value === undefined) throw missingInputs(findRequired(params, given));
    const [issue] = error?.issues ?? [];
    if (issue !== undefined) throw usageError(describeProblem({ name, value }, issue, explain(param, issue)));
    if (param.sendRule?.allows(value) === false)
      throw usageError(describeProblem({ name, value }, undefined, param.sendRule.why));
  }
  return given;
}

function findRequired(params: Endpoint['params'], given: Values) {
  return Object.entries(params)
    .filter(([key, { schema }]) => given[key] === undefined && !schema.safeParse(undefined).success)
    .map(([label, { help }]) => ({ label, help }));
}

function unknownField(id: string, name: string, known: readonly string[]) {
  const near = nearest(name, known);
  const list = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
  return usageError(`${id} has no input ${name}: ${near === undefined ? list : `did you mean ${near}? ${list}`}`);
}

function hasBody(endpoint: AnyEndpoint): boolean {
  return Object.values(endpoint.params).some((param) => param.place === 'body');
}

export interface RequestParts {
  path: Readonly<Record<string, string>>;
  query: URLSearchParams;
  body: unknown;
}

/** `ignored`: query names and body fields that were not read. */
export type DecodeResult =
  | { ok: true; input: Record<string, unknown>; ignored: readonly string[] }
  | { ok: false; problem: string };

/** The checked input of a request; the inverse of `encodeRequest`. `problem` names the field as the request does.
 * `known`: what may stand in an open list of choices beside those that it names. */
export function decodeRequest(
  endpoint: AnyEndpoint,
  incoming: RequestParts,
  overrides: WireNames = {},
  known: readonly string[] = [],
): DecodeResult {
  const input: Record<string, unknown> = {};
  const read = new Set<string>();
  for (const [key, param] of Object.entries(endpoint.params)) {
    if (param.place === 'local') continue;
    const raw = readRaw(key, param, wireName(endpoint, key, param, overrides), incoming);
    if (raw.problem !== undefined) return { ok: false, problem: raw.problem };
    read.add(raw.name);
    const checked = param.schema.safeParse(raw.value);
    const [issue] = checked.error?.issues ?? [];
    if (issue !== undefined && raw.value === undefined)
      return { ok: false, problem: `${raw.name} is required: ${describeParam(param)}` };
    if (issue !== undefined) return { ok: false, problem: describeProblem(raw, issue, explainByKind(param, issue)) };
    const other = unknownChoices(readOpenKind(param), checked.data).find((each) => !known.includes(each));
    if (other !== undefined) return { ok: false, problem: unknownChoice(raw.name, other, param, known) };
    const isQueryList = param.place === 'query' && Array.isArray(checked.data);
    // Repeating a value in a query does not count it twice.
    const wrong = findBadText(checked.data);
    if (wrong !== undefined)
      return { ok: false, problem: describeProblem({ ...raw, value: wrong.text }, undefined, wrong.problem) };
    if (checked.data !== undefined) input[key] = isQueryList ? [...new Set(checked.data as unknown[])] : checked.data;
  }
  const fields = hasBody(endpoint) ? Object.keys(incoming.body ?? {}) : [];
  const ignored = [...new Set([...incoming.query.keys(), ...fields])].filter((name) => !read.has(name));
  return { ok: true, input, ignored };
}

/** The first text in a value that cannot be stored as it is. */
function findBadText(value: unknown): { text: string; problem: string } | undefined {
  if (typeof value === 'string') {
    const problem = textProblem(value);
    return problem === undefined ? undefined : { text: value, problem };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const each of Object.values(value)) {
    const found = findBadText(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

const openKinds = new WeakMap<Param, Kind>();

/** Read once for each parameter: it takes longer than a request. */
function readOpenKind(param: Param): Kind {
  const kind = openKinds.get(param) ?? readKind(param.schema);
  openKinds.set(param, kind);
  return kind;
}

function unknownChoice(name: string, value: string, param: Param, known: readonly string[]): string {
  return `${name} ${JSON.stringify(value)}: must be one of ${[...readOpenKind(param).choices, ...known].join(', ')}`;
}

interface Issue {
  code?: string;
  message: string;
  path: readonly PropertyKey[];
}

/** In terms of what the parameter takes, except for rules that say it themselves. */
export const explainByKind: Explain = (param, { code, message }) =>
  code === 'custom' ? message : `must be ${describeParam(param)}`;

function describeProblem({ name, value }: Raw, issue: Issue | undefined, why: string): string {
  const [index] = issue?.path ?? [];
  const isItem = Array.isArray(value) && typeof index === 'number';
  return `${name} ${JSON.stringify(isItem ? value[index] : value)?.slice(0, 80)}: ${why}`;
}

/** Ends "must be ...", for a value of the request. */
export function describeParam({ place, schema }: Param): string {
  const kind = readKind(schema);
  if (!kind.list) return describeKind(kind);
  const { type, choices, maxItems } = kind;
  const items = type === 'choice' ? choices.join(', ') : type === 'text' ? 'strings' : `${type}s`;
  const notes = [
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(place === 'query' ? ['repeat the name for each'] : []),
  ];
  return `a list of ${items}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
}

interface Raw {
  name: string;
  value?: unknown;
  problem?: string;
}

function readRaw(key: string, param: Param, name: string, incoming: RequestParts): Raw {
  const { body, query } = incoming;
  if (param.place === 'path') return { name, value: incoming.path[key] };
  if (param.place === 'document') return { name, value: body };
  const names = [name, ...(param.aliases ?? [])];
  if (param.place === 'body') {
    const fields = isObject(body) ? body : undefined;
    const used = names.find((candidate) => fields !== undefined && Object.hasOwn(fields, candidate));
    if (used !== undefined) return { name: used, value: fields?.[used] };
    if (!param.alsoInQuery || !names.some((candidate) => query.has(candidate)))
      return fields ? { name } : { name, problem: 'body must be a JSON object' };
  }
  const used = names.find((candidate) => query.has(candidate));
  return used === undefined ? { name } : readQuery(param, used, query.getAll(used));
}

function readQuery(param: Param, name: string, texts: string[]): Raw {
  const kind = readKind(param.schema);
  const values = texts.map((text) => readItem(kind, text));
  const wrong = values.indexOf(undefined);
  if (wrong !== -1)
    return { name, problem: `${name} ${JSON.stringify(texts[wrong]?.slice(0, 80))}: must be ${describeParam(param)}` };
  if (kind.list) return { name, value: values };
  return values.length > 1
    ? { name, problem: `${name} is given ${values.length} times, once is allowed` }
    : { name, value: values[0] };
}
