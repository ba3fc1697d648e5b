import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { orUndefined, SotraError, usageError } from '../../errors.ts';
import type { KeyStore, Service } from '../../lib/config/settings.ts';
import { column, recordView } from '../../lib/output/columns.ts';
import type { Result } from '../../lib/output/result.ts';

/** A cheap request that shows whether a service answers and accepts the key. */
export const checkRequest = { method: 'GET', path: '/v2/leaderboard?limit=1' };

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

/** Errors: `no-service`; `key-missing` with the status as details; with `check` those of a call. */
export async function showStatus(check: boolean, context: Context): Promise<Result> {
  const { preview, curl } = context.options;
  if (preview && !check)
    throw usageError(`${curl ? '--curl' : '--dry-run'} needs --check: without it nothing is sent`, 'Add --check.');
  if (preview) return { kind: 'request', request: await context.client.previewRequest(checkRequest) };
  const service = await context.config.service();
  const status = describeStatus(service);
  if (service.apiKey === null) throw missingKey(service, status);
  const notes = service.keyStore === 'file' ? [`The settings are in ${(await context.config.settings()).path}.`] : [];
  if (!check) return { kind: 'answer', answer: status, notes };
  const accepted = await orUndefined(context.client.request(checkRequest), 'key-refused', 'forbidden');
  const valid = accepted !== undefined;
  return { kind: 'answer', answer: { ...status, valid }, notes, exitCode: valid ? 0 : 4 };
}

function missingKey({ baseUrl, context, keyProblem }: Service, details: AuthStatus): SotraError {
  const why = keyProblem === undefined ? '' : `; ${keyProblem}`;
  const login = context === undefined ? 'sotra auth login' : command`sotra auth login --context ${context}`;
  return new SotraError('key-missing', `no API key for ${baseUrl}${why}`, {
    hint: `Store one: ${login}. Or set SOTRA_API_KEY.`,
    details,
  });
}
