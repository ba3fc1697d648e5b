import { usageError } from '../errors.ts';
import { checkValue, type Kind, type Problem } from './kind.ts';

/** Where a name comes from: the interface document, a public fact, or an assumption of ours (overridable). */
export type Source = 'spec' | 'public' | 'assumed';

/** `document` is the whole body; `local` is never sent. */
export type ParamLocation = 'path' | 'query' | 'body' | 'document' | 'local';

/** One input of an endpoint or a command; `Value` is its type in TypeScript. */
export interface Param<Value = unknown> {
  location: ParamLocation;
  kind: Kind<Value>;
  source: Source;
  help: string;
  /** The service's name for it; default: the key. */
  wire?: string;
  /** Other names that the sandbox accepts. */
  aliases?: readonly string[];
  /** A body field that the sandbox also reads from the query: not every client sends a body with every method. */
  alsoInQuery?: boolean;
  /** Without dashes; default: the key in kebab-case. */
  flag?: string;
  /** How help calls its value, if the last word of the flag does not say it: `--out <file>`. */
  valueName?: string;
  /** A one-letter flag. */
  short?: string;
  /** A list whose items may hold commas: `a,b` is one item. */
  noCommaSplit?: boolean;
  /** Accepts an address, and so a saved name, although its kind accepts other text too. `token`: except coins such as `@107`. */
  takesAddress?: 'wallet' | 'token';
  /** Typed without a flag. Path parameters always are. */
  positional?: boolean;
  /** Shown in help, never sent. */
  serviceDefault?: string;
  /** Keys of options that cannot be given with it. */
  conflicts?: readonly string[];
  /** The key of an option that must be given with it. */
  needs?: string;
}

export type Params = Readonly<Record<string, Param>>;

/** The methods of the service's endpoints. */
export const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const;

type Method = (typeof methods)[number];

/** A schema of zod by what its type is read from: the declarations of the package cannot name zod, which it does not bring. */
interface AnswerSchema<Answer = unknown> {
  readonly _zod: { readonly output: Answer };
}

/** A command line that exits with 0 in the sandbox. */
export interface Example {
  argv: string;
  says: string;
}

/**
 * How further items are reached, by names of inputs and answer fields. `limit`: not at all; `page`: the answer is the array, pages count
 * from 1; `cursor`: the answer holds items and the next cursor; `links`: it holds items and `pagination` with links both ways, or cursors
 * if a link is absent.
 */
export type Paging =
  | { kind: 'limit'; size: string; defaultSize: number; maxSize: number }
  | { kind: 'page'; page: string; size: string; defaultSize: number; maxSize: number }
  | { kind: 'cursor'; cursor: string; size: string; maxSize: number; items: string; next: string }
  | { kind: 'links'; size: string; items: string; older: string; newer: string; atSec: string };

/** One HTTP endpoint, written once; everything mechanical is derived from it. */
export interface Endpoint<Id extends string = string, P extends Params = Params, Answer = unknown>
  extends Definition<Id, P, Answer> {
  source: Source;
}

interface Definition<Id extends string, P extends Params, Answer> {
  /** `noun.verb`: also the words of the command. */
  id: Id;
  method: Method;
  path: string;
  /** Default: `spec`. */
  source?: Source;
  summary: string;
  description?: string;
  params: P;
  /** The schema of an answer, which is loaded to check one. */
  answer: () => Promise<AnswerSchema<Answer>>;
  keyless?: boolean;
  /** Why it should not be used any more, and what instead. */
  deprecated?: string;
  paging?: Paging;
  /** The input of one request, for the OpenAPI document. */
  sample?: InputOf<P>;
  examples: readonly Example[];
}

type ValueOf<P> = P extends Param<infer Value> ? Value : never;
type OptionalKey<P extends Params> = { [K in keyof P]: undefined extends ValueOf<P[K]> ? K : never }[keyof P];

/** The values of parameters, by their keys. */
export type InputOf<P extends Params> = { [K in Exclude<keyof P, OptionalKey<P>>]: ValueOf<P[K]> } & {
  [K in OptionalKey<P>]?: ValueOf<P[K]>;
};

export type AnswerOf<E extends Pick<Endpoint, 'answer'>> = Awaited<ReturnType<E['answer']>>['_zod']['output'];

/** The endpoints among the exports of a module, by the name of the export. */
export type EndpointsOf<M> = { [K in keyof M as M[K] extends Endpoint ? K : never]: M[K] };

export function defineEndpoint<const Id extends string, P extends Params, Answer, const Pages extends Paging = never>(
  definition: Definition<Id, P, Answer> & { paging?: Pages },
): Endpoint<Id, P, Answer> & ([Pages] extends [never] ? unknown : { paging: Pages }) {
  return { ...definition, source: definition.source ?? 'spec' } as never;
}

type ParamOptions = Omit<Param, 'location' | 'kind' | 'help' | 'source'> & { source?: Source };

function param(location: ParamLocation) {
  return <V>(kind: Kind<V>, help: string, more: ParamOptions = {}): Param<V> => ({
    location,
    kind,
    help,
    ...more,
    source: more.source ?? 'spec',
    ...(location === 'path' ? { positional: true } : {}),
  });
}

/** The flag of a parameter, without dashes. */
export function flagName(key: string, { flag }: Pick<Param, 'flag'> = {}): string {
  return flag ?? key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export const inPath = param('path');
export const inQuery = param('query');
export const inBody = param('body');
export const asDocument = param('document');
export const local = param('local');

/** What is wrong with the value of a parameter; `undefined` if nothing is. */
export function checkParam({ location, kind }: Param, value: unknown): Problem | undefined {
  const problem = checkValue(kind, value);
  if (problem !== undefined || location !== 'path' || value === undefined || isPathSegment(value)) return problem;
  return { value, message: segmentRule };
}

/** Whether a path value stays one segment: an empty one, `.` and `..` would lead to another endpoint. */
export function isPathSegment(value: unknown): boolean {
  return value !== '' && !hasDots(String(value));
}

export const segmentRule = 'must be one part of a path: not empty, not . or .., and without them between slashes';

/** Whether `.` or `..` is a whole part between slashes, also percent-encoded or with white space that URL parsers drop. */
export function hasDots(path: string): boolean {
  const kept = path.replaceAll(/[\s\p{Cc}]/gu, '');
  return kept.split(/[\\/]|%(?:25)*(?:2f|5c)/i).some((part) => /^(?:\.|%(?:25)*2e){1,2}$/i.test(part));
}

/** The service's name of a parameter; names that are not from the interface document can be overridden. */
export function wireName(endpoint: Pick<Endpoint, 'id'>, key: string, param: Param, overrides: WireNames): string {
  const own = param.wire ?? key;
  return param.source === 'spec' ? own : (overrides[`${endpoint.id}.${key}`] ?? overrides[`*.${key}`] ?? own);
}

/** `leaderboard.list.limit` or `*.limit` to the name that a deployment uses. */
export type WireNames = Readonly<Record<string, string>>;

type NamedParams = Pick<Endpoint, 'id' | 'params'>;

/** The query and body parameters whose names are not from the interface document; `id`: the key in a `wire` map, `leaderboard.list.limit`. */
export function renamableParams(endpoint: NamedParams) {
  return Object.entries(endpoint.params)
    .filter(([, param]) => isSent(param) && param.source !== 'spec')
    .map(([key, param]) => ({ id: `${endpoint.id}.${key}`, key, param }));
}

/**
 * Refuses a `wire` map that could not work. Errors: `usage` for an unknown endpoint or parameter, a name that is fixed, empty or odd, and
 * two parameters of one request under one name.
 */
export function checkWireNames(wire: WireNames, endpoints: readonly NamedParams[], label: string): void {
  for (const [entry, name] of Object.entries(wire)) {
    if (!/^[\w.[\]-]+$/.test(name))
      throw usageError(`${label} ${entry}: ${JSON.stringify(name)} is not a name (letters, digits, and . _ - [ ])`);
    const [scope = '', key = entry] = entry.split(/\.(?=[^.]*$)/);
    const inScope = endpoints.filter(({ id }) => scope === '*' || id === scope);
    if (inScope.length === 0)
      throw usageError(
        `${label} ${entry}: no endpoint is called ${scope === '' ? entry : scope}`,
        'An entry is <noun>.<verb>.<parameter>, such as leaderboard.list.limit, or *.<parameter> for all endpoints.',
      );
    const known = [...new Set(inScope.flatMap(renamableParams).map((open) => open.key))];
    if (known.includes(key)) continue;
    const problem = inScope.some(({ params }) => Object.hasOwn(params, key))
      ? 'this name comes from the interface document (or is never sent) and cannot be changed'
      : `no parameter of ${scope === '*' ? 'any endpoint' : scope} is called ${key}`;
    throw usageError(
      `${label} ${entry}: ${problem}`,
      known.length === 0
        ? `${scope} has no names that can be changed.`
        : `Names that can be changed here: ${known.join(', ')}.`,
    );
  }
  for (const endpoint of endpoints) checkCollisions(endpoint, wire, label);
}

function checkCollisions(endpoint: NamedParams, wire: WireNames, label: string): void {
  const taken = new Map<string, string>();
  for (const [key, param] of Object.entries(endpoint.params)) {
    if (!isSent(param)) continue;
    const name = wireName(endpoint, key, param, wire);
    const sentAs = `${param.location} ${name}`;
    const other = taken.get(sentAs);
    if (other !== undefined)
      throw usageError(
        `${label}: ${endpoint.id} would send ${other} and ${key} under one name, ${name}`,
        `Give one of them another name, or name the endpoint: ${endpoint.id}.${key}.`,
      );
    taken.set(sentAs, key);
  }
}

function isSent({ location }: Param): boolean {
  return location === 'query' || location === 'body';
}
