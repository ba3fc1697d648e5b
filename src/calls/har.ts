import type { LogEntry } from './entry.ts';

/** An HTTP archive (HAR 1.2) of these entries. */
export function wrapInHar(entries: readonly LogEntry[], version: string) {
  return { log: { version: '1.2', creator: { name: 'sotra', version }, entries } };
}
