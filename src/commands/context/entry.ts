import { local } from '../../api/endpoint.ts';
import { fitting } from '../../api/formats.ts';
import { checkValue, formatted } from '../../api/kind.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import {
  chosenContext,
  findContext,
  lastFour,
  presets,
  readKeyOrigin,
  readOrigin,
  type StoredSettings,
} from '../../lib/config/settings.ts';
import { column, recordView } from '../../lib/output/columns.ts';
import type { Result } from '../../lib/output/result.ts';
import type { View } from '../../lib/output/view.ts';

const nameRule =
  'must begin with a letter or digit and hold only letters, digits, dot, dash and underscore, 64 at most';

export const nameKind = formatted(fitting((text) => /^(?!null$)[A-Za-z0-9][\w.-]{0,63}$/.test(text), nameRule));
export const nameParam = local(nameKind, 'name of the context', { positional: true });

/** Errors: `usage` for a name that no context may have. */
export function checkName(text: string): string {
  if (checkValue(nameKind, text) === undefined) return text;
  throw usageError(`context ${text}: the name of a context ${nameRule}`);
}

export type ContextEntry = ReturnType<typeof describeContext> & { sources?: Readonly<Record<string, string>> };

/** A context as it is stored; an empty one without a name. Errors: `usage` for an unknown name. */
export function describeContext(name: string | undefined, current: string | undefined, stored: StoredSettings) {
  const context = name === undefined ? {} : findContext(name, stored);
  const keyOrigin = readKeyOrigin(context) ?? null;
  const keyStore = keyOrigin === null ? null : (context.keyStore ?? 'file');
  return {
    name: name ?? null,
    current: name !== undefined && name === current,
    builtIn: name !== undefined && Object.hasOwn(presets, name),
    baseUrl: context.baseUrl ?? null,
    serviceName: context.serviceName ?? null,
    layout: context.layout ?? 'five-line',
    wire: context.wire ?? {},
    ...(context.inbox && { inbox: context.inbox }),
    ...(context.inboxCreds && { inboxCreds: context.inboxCreds }),
    keySuffix: keyStore === 'file' ? lastFour(context.apiKey ?? '') : (context.keySuffix ?? null),
    store: keyStore,
    keyOrigin,
  };
}

/** The result of a command that changed a context. */
export function showContext(name: string, { options, io }: Context, stored: StoredSettings): Result {
  return { kind: 'answer', answer: describeContext(name, chosenContext(options, io.env, stored), stored) };
}

const columns: View<unknown, ContextEntry>['columns'] = [
  column.text('name', 'Context', 'name of the context'),
  column.flag('current', 'Current', 'used if no context is named', { show: ({ current }) => (current ? 'yes' : '') }),
  column.text('baseUrl', 'Base URL', 'address of the service; empty for the built-in sandbox'),
  column.text('key', 'Key', 'end of its API key and where it is kept', formatKey, { cut: true }),
  column.text('serviceName', 'Service name', 'first line of the signed text of a comment', { drop: 2 }),
  column.text('layout', 'Layout', 'form of the signed text', { drop: 3 }),
  column.text('inbox', 'Inbox', 'where webhook commands store deliveries', { drop: 4, cut: true }),
  column.text('wire', 'Parameter names', 'parameters that have another name here', formatWireNames, { cut: true }),
  column.text('sources', 'From', 'where each value comes from', formatSources),
];

function formatKey({ keySuffix, store, keyOrigin, baseUrl, name, sources }: ContextEntry): string | null {
  if (sources?.['key'] === 'SOTRA_API_KEY') return `...${keySuffix}`;
  if (store === null) return name === 'sandbox' ? 'built in' : null;
  const elsewhere = keyOrigin === readOrigin(baseUrl ?? '') ? '' : ` for ${keyOrigin} only`;
  return `...${keySuffix ?? ''} (${store})${elsewhere}`;
}

function formatWireNames({ wire }: ContextEntry): string | null {
  return Object.keys(wire).length === 0 ? null : JSON.stringify(wire);
}

const storedSources = ['current', 'context', 'preset', 'default', 'sandbox'];

/** The values that override the stored context: `Base URL: SOTRA_BASE_URL, the rest: context staging`. */
function formatSources({ name, sources }: ContextEntry): string | null {
  if (sources === undefined) return null;
  const overriding = columns.flatMap(({ key, header }) => {
    const source = sources[key] ?? 'default';
    return storedSources.includes(source) ? [] : [`${header}: ${source}`];
  });
  const rest = name === null ? 'defaults' : `context ${name}`;
  return overriding.length === 0 ? rest : `${overriding.join(', ')}, the rest: ${rest}`;
}

export const listView: View<{ contexts: ContextEntry[] }, ContextEntry> = {
  layout: 'table',
  rows: ({ contexts }) => contexts,
  columns: columns.map((column) =>
    column.key === 'wire' || column.key === 'sources' ? { ...column, extra: true } : column,
  ),
};

export const showView = recordView<ContextEntry>(columns);
