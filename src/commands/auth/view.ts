import type { KeyStore, Service } from '../../lib/config/settings.ts';
import { column, recordView } from '../../lib/output/columns.ts';

export interface AuthStatus {
  context: string | null;
  baseUrl: string;
  keySource: Service['keySource'];
  keySuffix: string | null;
  store: KeyStore | null;
  valid?: boolean;
}

const sources: Record<NonNullable<Service['keySource']>, string> = {
  SOTRA_API_KEY: 'the variable SOTRA_API_KEY',
  context: 'the context',
  sandbox: 'the built-in sandbox',
};

export const statusView = recordView<AuthStatus>([
  column.text('context', 'Context', 'context in use'),
  column.text('baseUrl', 'Base URL', 'address of the service'),
  column.text('keySuffix', 'Key', 'last four characters of the key', {
    show: ({ keySuffix }) => `...${keySuffix ?? ''}`,
  }),
  column.text('keySource', 'From', 'SOTRA_API_KEY, context or sandbox', {
    show: ({ keySource }) => (keySource === null ? '' : sources[keySource]),
  }),
  column.text('store', 'Stored in', 'keychain or file, for a stored key', {
    show: ({ store }) => (store === 'file' ? 'the settings file, unencrypted (mode 0600)' : undefined),
  }),
  column.flag('valid', 'Valid', 'whether the service accepts the key (with --check)', {
    show: ({ valid }) => (valid === undefined ? 'not checked' : valid ? 'yes' : 'no, the service rejects it'),
  }),
]);

export function describeStatus({ context, baseUrl, keySource, keySuffix, keyStore }: Service): AuthStatus {
  return { context: context ?? null, baseUrl, keySource, keySuffix, store: keyStore };
}
