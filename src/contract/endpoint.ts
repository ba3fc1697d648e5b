import type { z } from 'zod';
import { usageError } from '../errors.ts';

/** Where a name comes from: the interface document, a public fact, or an assumption of ours (overridable). */
export type Source = 'spec' | 'public' | 'assumed';

/** Where a parameter travels. `document` is the whole body; `local` never leaves the machine. */
export type Place = 'path' | 'query' | 'body' | 'document' | 'local';

export interface Param<S extends z.ZodType = z.ZodType> {
  place: Place;
  schema: S;
  source: Source;
  help: string;
  /** The service's name for it; the key when absent. */
  wire?: string;
  /** Other names the sandbox accepts when the first is not used. */
  aliases?: readonly string[];
  /** The sandbox takes a field of the body from the query too: not every client sends a body with every method. */
  alsoInQuery?: boolean;
  /** The flag without dashes; the key in kebab-case when absent. */
  flag?: string;
  /** One letter that does the same as the flag. */
  short?: string;
  /** What the flag was called before: taken, and shown nowhere. */
  oldFlags?: readonly string[];
  /** A list whose items may hold commas: several by repeating the flag only. */
  whole?: boolean;
  /** What is refused before sending although the service takes it, because it would not do what the user expects. */
  sendRule?: SendRule;
  /** An address stands there although the schema takes other text too: a saved name may stand there. `token`: a coin such as `@107` is none. */
  takesAddress?: 'wallet' | 'token';
  /** Typed without a flag, in the order of the params. Path parameters always are. */
  positional?: boolean;
  /** What the service does when it is left out; help only, never sent. */
  serviceDefault?: string;
}

/** True for what may be sent, and the reason where it may not. */
interface SendRule {
  allows: (value: unknown) => boolean;
  why: string;
}

export type Params = Readonly<Record<string, Param>>;

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A command line that runs to exit 0 in the sandbox, and what it shows. */
export interface Example {
  argv: string;
  says: string;
}

/**
 * How further items are reached, by names of inputs and of fields of the answer. `limit`: not at all, the list only has a length;
 * `page`: the answer is the array, pages count from 1; `cursor`: the answer holds items and the next cursor; `links`: it
 * holds items and `pagination` with links both ways, and cursors for the two inputs where a link is absent; items are ordered by `atSec`.
 */
export type Paging =
  | { kind: 'limit'; size: string; defaultSize: number; maxSize: number }
  | { kind: 'page'; page: string; size: string; defaultSize: number; maxSize: number }
  | { kind: 'cursor'; cursor: string; size: string; maxSize: number; items: string; next: string }
  | { kind: 'links'; size: string; items: string; older: string; newer: string; atSec: string };

/** One HTTP endpoint, written once; everything mechanical is derived from it. */
export interface Endpoint<Id extends string = string, P extends Params = Params, R extends z.ZodType = z.ZodType> {
  /** `noun.verb`: also the words of the command. */
  id: Id;
  method: Method;
  /** With `{name}` for each path parameter. */
  path: string;
  source: Source;
  summary: string;
  description?: string;
  params: P;
  answer: R;
  /** Usable without an API key too. */
  keyless?: boolean;
  /** Why it should not be used any more, and what instead. */
  deprecated?: string;
  paging?: Paging;
  examples: readonly Example[];
}

/** The checked input of an endpoint or command. */
export type InputOf<P extends Params> = z.output<z.ZodObject<{ [K in keyof P]: P[K]['schema'] }>>;

export type AnswerOf<E extends { answer: z.ZodType }> = z.output<E['answer']>;

/** The endpoints among the exports of a module, by the name of the export. */
export type EndpointsOf<M> = { [K in keyof M as M[K] extends Endpoint ? K : never]: M[K] };

/** The endpoint as given; ties the types together. */
export function defineEndpoint<const Id extends string, P extends Params, R extends z.ZodType>(
  endpoint: Endpoint<Id, P, R>,
): Endpoint<Id, P, R> {
  return endpoint;
}

type More = Omit<Param, 'place' | 'schema' | 'help' | 'source'> & { source?: Source };

function param(place: Place, defaultSource: Source) {
  return <S extends z.ZodType>(schema: S, help: string, more: More = {}): Param<S> => ({
    place,
    schema,
    help,
    ...more,
    source: more.source ?? defaultSource,
    ...(place === 'path' ? { positional: true } : {}),
  });
}

/** A `{name}` of the path: always required, always typed without a flag. */
export const inPath = <S extends z.ZodType>(schema: S, help: string, more: More = {}): Param<S> =>
  param('path', 'spec')(schema.refine(isPathSegment, segmentRule), help, more);

/** Whether a value of the path stays one segment of it: an empty one, `.` and `..` would lead to another endpoint. */
export function isPathSegment(value: unknown): boolean {
  return value !== '' && !hasDots(String(value));
}

export const segmentRule = 'must be one part of a path: neither empty nor . or .., nor with them between slashes';

/** Whether `.` or `..` stands alone between slashes, however it is written; what parsers of addresses drop does not count. */
export function hasDots(path: string): boolean {
  const kept = path.replaceAll(/[\s\p{Cc}]/gu, '');
  return kept.split(/[\\/]|%(?:25)*(?:2f|5c)/i).some((part) => /^(?:\.|%(?:25)*2e){1,2}$/i.test(part));
}
/** A query parameter; lists repeat the key. */
export const inQuery = param('query', 'spec');
/** A field of the JSON body. */
export const inBody = param('body', 'spec');
/** The whole JSON body. */
export const asDocument = param('document', 'spec');
/** An input of the command that is never sent. */
export const local = param('local', 'spec');

/** The service's name of a parameter, after overrides (`<endpoint id>.<key>` -> name) where the name is not spec. */
export function wireName(endpoint: Pick<Endpoint, 'id'>, key: string, param: Param, overrides: WireNames): string {
  const own = param.wire ?? key;
  return param.source === 'spec' ? own : (overrides[`${endpoint.id}.${key}`] ?? overrides[`*.${key}`] ?? own);
}

/** Overrides of wire names: `leaderboard.list.limit` or `*.limit` to the name a deployment uses. */
export type WireNames = Readonly<Record<string, string>>;

/** A parameter whose wire name is not from the interface document, so that a deployment may call it otherwise. */
export interface OpenName {
  /** What a `wire` map calls it: `leaderboard.list.limit`. */
  id: string;
  key: string;
  param: Param;
}

/** The parameters of an endpoint that a `wire` map can rename: query and body, not from the interface document. */
export function openNames(endpoint: Endpoint): OpenName[] {
  return Object.entries(endpoint.params)
    .filter(([, param]) => travels(param) && param.source !== 'spec')
    .map(([key, param]) => ({ id: `${endpoint.id}.${key}`, key, param }));
}

/**
 * Refuses a `wire` map that could not do what it says. `label` is where it was typed, such as `--wire`. Errors: `usage` naming the entry
 * for an unknown endpoint or parameter, one whose name is from the interface document, an empty name, and two parameters of one
 * request under one name.
 */
export function checkWireNames(wire: WireNames, endpoints: readonly Endpoint[], label: string): void {
  for (const [entry, name] of Object.entries(wire)) {
    if (!/^[\w.[\]-]+$/.test(name))
      throw usageError(`${label} ${entry}: ${JSON.stringify(name)} is not a name (letters, digits, and . _ - [ ])`);
    checkEntry(entry, endpoints, label);
  }
  for (const endpoint of endpoints) checkCollisions(endpoint, wire, label);
}

function travels({ place }: Param): boolean {
  return place === 'query' || place === 'body';
}

function checkEntry(entry: string, endpoints: readonly Endpoint[], label: string): void {
  const dot = entry.lastIndexOf('.');
  const [scope, key] = [entry.slice(0, Math.max(dot, 0)), entry.slice(dot + 1)];
  const inScope = scope === '*' ? endpoints : endpoints.filter((endpoint) => endpoint.id === scope);
  if (inScope.length === 0)
    throw usageError(
      `${label} ${entry}: no endpoint is called ${scope === '' ? entry : scope}`,
      'An entry is <noun>.<verb>.<parameter>, such as leaderboard.list.limit, or *.<parameter> for all endpoints.',
    );
  const open = inScope.flatMap(openNames);
  if (open.some((one) => one.key === key)) return;
  const known = [...new Set(open.map((one) => one.key))].join(', ');
  const where = scope === '*' ? 'any endpoint' : scope;
  const exists = inScope.some((endpoint) => Object.hasOwn(endpoint.params, key));
  throw usageError(
    exists
      ? `${label} ${entry}: this name is given by the interface document (or never sent) and cannot change`
      : `${label} ${entry}: no parameter of ${where} is called ${key}`,
    known === '' ? `${scope} has no names that can change.` : `Names that can change here: ${known}.`,
  );
}

function checkCollisions(endpoint: Endpoint, wire: WireNames, label: string): void {
  const taken = new Map<string, string>();
  for (const [key, param] of Object.entries(endpoint.params)) {
    if (!travels(param)) continue;
    const name = wireName(endpoint, key, param, wire);
    const place = `${param.place} ${name}`;
    const other = taken.get(place);
    if (other !== undefined)
      throw usageError(
        `${label}: ${endpoint.id} would send ${other} and ${key} under one name, ${name}`,
        `Give one of them another name, or name the endpoint: ${endpoint.id}.${key}.`,
      );
    taken.set(place, key);
  }
}
