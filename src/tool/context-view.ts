import type { View } from '../output/view.ts';
import {
  findContext,
  type KeyStore,
  keyOriginOf,
  lastFour,
  originOf,
  presets,
  type StoredSettings,
} from '../settings/settings.ts';

/** A context as it is shown: of its key never more than the last four characters. */
export interface ContextEntry {
  name: string;
  current: boolean;
  builtIn: boolean;
  baseUrl: string | null;
  serviceName: string | null;
  layout: string;
  wire: Readonly<Record<string, string>>;
  keySuffix: string | null;
  store: KeyStore | null;
  /** The origin the key was saved for: it is sent nowhere else. */
  keyOrigin: string | null;
}

/** One context without its key. Errors: `usage` for an unknown name. */
export function contextEntry(name: string, current: string | undefined, stored: StoredSettings): ContextEntry {
  const context = findContext(name, stored);
  const keyOrigin = keyOriginOf(context) ?? null;
  const store = keyOrigin === null ? null : (context.keyStore ?? 'file');
  return {
    name,
    current: name === current,
    builtIn: Object.hasOwn(presets, name),
    baseUrl: context.baseUrl ?? null,
    serviceName: context.serviceName ?? null,
    layout: context.layout ?? 'five-line',
    wire: context.wire ?? {},
    keySuffix: store === 'file' ? lastFour(context.apiKey ?? '') : (context.keySuffix ?? null),
    store,
    keyOrigin,
  };
}

function keyText({ keySuffix, store, keyOrigin, baseUrl, name }: ContextEntry): string | null {
  if (store === null) return name === 'sandbox' ? 'built in' : null;
  const elsewhere = keyOrigin === originOf(baseUrl ?? '') ? '' : ` for ${keyOrigin} only`;
  return `...${keySuffix ?? ''} (${store})${elsewhere}`;
}

const columns: View<unknown, ContextEntry>['columns'] = [
  { key: 'name', header: 'Context', help: 'its name', value: ({ name }) => name },
  {
    key: 'current',
    header: 'Current',
    help: 'used when no context is named',
    value: ({ current }) => current,
    show: ({ current }) => (current ? 'yes' : ''),
  },
  {
    key: 'baseUrl',
    header: 'Base URL',
    help: 'address of the service; none for the sandbox, which runs inside the command',
    value: ({ baseUrl }) => baseUrl,
  },
  { key: 'key', header: 'Key', help: 'end of its key and where it is kept', value: keyText, cut: 'end' },
  {
    key: 'serviceName',
    header: 'Service name',
    help: 'first line of the signed text of a comment',
    value: ({ serviceName }) => serviceName,
    drop: 2,
  },
  { key: 'layout', header: 'Layout', help: 'form of the signed text', value: ({ layout }) => layout, drop: 3 },
  {
    key: 'wire',
    header: 'Wire names',
    help: 'parameters that this deployment calls otherwise',
    value: ({ wire }) => (Object.keys(wire).length === 0 ? null : JSON.stringify(wire)),
    cut: 'end',
  },
];

/** All contexts, one a line. */
export const listView: View<{ contexts: ContextEntry[] }, ContextEntry> = {
  layout: 'table',
  rows: ({ contexts }) => contexts,
  columns: columns.map((column) => (column.key === 'wire' ? { ...column, extra: true } : column)),
};

/** One context. */
export const showView: View<ContextEntry, ContextEntry> = { layout: 'record', rows: (entry) => [entry], columns };
