import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { checkParam, type Endpoint, local, type Param, type Params } from '../api/endpoint.ts';
import { defined, tryParseJson } from '../api/json.ts';
import {
  checkValue,
  integer,
  type JsonSchema,
  type Kind,
  listOf,
  optional,
  parseText,
  text,
  toJsonSchema,
} from '../api/kind.ts';
import { nextInput } from '../client/paginate.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import type { AnyView } from '../lib/output/view.ts';
import { chooseColumns, formatAnswer, listKnown } from './answer.ts';

export type Values = Readonly<Record<string, unknown>>;

export interface Tool {
  name: string;
  description: string;
  /** Asks, changes something at the service, or uses a private key. */
  access: 'read' | 'write' | 'sign';
  annotations: ToolAnnotations;
  params: Params;
  /** A text that the user must agree to before each call. Errors: as in `call`. */
  question?: (input: Values, context: Context) => Promise<string>;
  /** The lines of the answer. Errors: `usage` naming the input; those of a call. */
  call: (input: Values, context: Context) => Promise<readonly string[]>;
}

const flags = { read: '', write: '--allow-writes', sign: '--allow-signing --key <name>' };

/** The allowed tools, or the named ones among them. Errors: `usage` for a name that is unknown or not allowed. */
export function chooseTools(all: readonly Tool[], names: readonly string[] | undefined, allowed: readonly string[]) {
  for (const name of names ?? []) {
    const tool = all.find((each) => each.name === name);
    if (tool === undefined) {
      const known = all.map((each) => each.name);
      throw usageError(`--tools ${name}: there is no such tool`, listKnown(name, known));
    }
    if (!allowed.includes(tool.access))
      throw usageError(`--tools ${name}: is not allowed`, `Add ${flags[tool.access]}.`);
  }
  return all.filter(({ access, name }) => allowed.includes(access) && (names?.includes(name) ?? true));
}

/** Rows of an answer without a `limit`. */
export const defaultRows = 10;

/** Inputs that choose what is shown. */
export const shownParams = {
  limit: local(optional(integer(1)), 'rows', { serviceDefault: String(defaultRows) }),
  fields: local(optional(listOf(text())), 'columns'),
};

/** The tool of an endpoint, and how its answer is shown. */
export function endpointTool(endpoint: Endpoint, view: AnyView): Tool {
  const { id, method, summary, params, paging } = endpoint;
  const isRead = method === 'GET';
  const limitParam = params['limit'];
  const isDestructive = method === 'DELETE' || id === 'profile.set-name' || id === 'follow.bulk';
  return {
    name: id.replaceAll(/[.-]/g, '_'),
    description: summary.split(';')[0] ?? '',
    access: isRead ? 'read' : 'write',
    annotations: isRead
      ? { readOnlyHint: true }
      : { destructiveHint: isDestructive, idempotentHint: method !== 'POST' },
    params: isRead
      ? {
          ...params,
          ...shownParams,
          ...(limitParam && { limit: { ...limitParam, serviceDefault: String(defaultRows) } }),
        }
      : params,
    call: async ({ fields, limit = defaultRows, ...given }, context) => {
      // An unknown column is refused before anything is asked.
      chooseColumns(view, fields);
      const input = limitParam ? { ...given, limit } : given;
      const { data } = await context.client.call(endpoint, input);
      // A cursor or page would skip the rows that are cut.
      const isWhole = !isRead || (limitParam && paging?.kind !== 'limit');
      const maxRows = isWhole ? Number.POSITIVE_INFINITY : Number(limit);
      return formatAnswer(view, data, { input, fields, maxRows, next: paging && nextInput(paging, input, data) });
    },
  };
}

/** The JSON Schema of an object of these inputs. */
export function makeInputSchema(params: Params): JsonSchema {
  const entries = Object.entries(params);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([key, param]) => [key, makeParamSchema(param)])),
    required: entries.filter(([, { kind }]) => !kind.optional).map(([key]) => key),
    additionalProperties: false,
  };
}

function makeParamSchema({ kind, help, serviceDefault }: Param): JsonSchema {
  const description = serviceDefault === undefined ? help : `${help}; default: ${serviceDefault}`;
  // Not every client takes an enum of numbers.
  if (kind.type === 'choice' && typeof kind.choices[0] === 'number')
    return { type: 'number', description: `${description}: ${kind.choices.join(', ')}` };
  return { ...toJsonSchema(kind), description };
}

const maxShownLength = 200;

/** The checked input of a tool, saved names (`@whale`) replaced. Errors: `usage` naming the input. */
export async function readToolInput(params: Params, given: Values, context: Context): Promise<Values> {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(params, key));
  if (unknown !== undefined)
    throw usageError(`${unknown}: there is no such input`, listKnown(unknown, Object.keys(params)));
  const { aliases = {} } = JSON.stringify(given).includes('"@') ? (await context.config.settings()).read() : {};
  const input: Record<string, unknown> = {};
  for (const [key, param] of Object.entries(params)) {
    input[key] = readValue(param.kind, given[key], aliases);
    if (input[key] === undefined && !param.kind.optional) throw usageError(`${key} is required: ${param.help}`);
    const problem = checkParam(param, input[key]);
    if (problem === undefined) continue;
    const { value, message } = problem;
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    throw usageError(`${key} ${shown.slice(0, maxShownLength)}: ${message}`);
  }
  return defined(input);
}

/** Some clients send null for an unset input, a number as text, text as a number, or a list as its JSON text or its one item. */
function readValue(kind: Kind, value: unknown, aliases: Readonly<Record<string, string>>): unknown {
  if (value === undefined || (value === null && !kind.nullable)) return undefined;
  if (kind.type === 'list') {
    const parsed = typeof value === 'string' && value.startsWith('[') ? tryParseJson(value) : undefined;
    return [parsed ?? value].flat().map((item) => readValue(kind.item, item, aliases));
  }
  if (typeof value === 'number' && kind.type === 'text') return String(value);
  if (typeof value !== 'string') return value;
  const alias = value.startsWith('@') && checkValue(kind, value) !== undefined ? value.slice(1) : '';
  return Object.hasOwn(aliases, alias) ? aliases[alias] : parseText(kind, value);
}
