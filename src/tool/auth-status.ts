import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { column } from '../output/columns.ts';
import type { View } from '../output/view.ts';
import { type KeyStore, lastFour, type Service } from '../settings/settings.ts';

export interface AuthStatus {
  context: string | null;
  baseUrl: string | null;
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

export const statusView: View<AuthStatus, AuthStatus> = {
  layout: 'record',
  rows: (status) => [status],
  columns: [
    column.text('context', 'Context', 'the context in use'),
    column.text('baseUrl', 'Base URL', 'address of the service'),
    column.text('keySuffix', 'Key', 'last four characters of the key', {
      show: ({ keySuffix }) => `...${keySuffix ?? ''}`,
    }),
    column.text('keySource', 'From', 'SOTRA_API_KEY, context or sandbox', {
      show: ({ keySource }) => (keySource === null ? '' : sources[keySource]),
    }),
    column.text('store', 'Kept in', 'file or keychain, for a stored key'),
    column.flag('valid', 'Valid', 'whether the service accepts the key; with --check', {
      show: ({ valid }) => (valid === undefined ? 'not checked' : validity(valid)),
    }),
  ],
};

function validity(valid: boolean): string {
  return valid ? 'yes' : 'no, the service refuses it';
}

/** The key in use and where it comes from. Errors: `key-missing` with the same facts as details; those of a call with `check`. */
export async function authStatus({ check }: { check?: boolean | undefined }, context: Context): Promise<Result> {
  const service = await serviceOf(context);
  const status: AuthStatus = {
    context: service?.context ?? null,
    baseUrl: service?.baseUrl ?? null,
    keySource: service?.keySource ?? null,
    keySuffix: service?.apiKey ? lastFour(service.apiKey) : null,
    store: service?.keyStore ?? null,
  };
  if (service === undefined || service.apiKey === null) throw keyMissing(status, service);
  const notes = service.keyStore === 'file' ? [`The settings are in ${(await context.store()).path}.`] : [];
  if (!check) return { kind: 'answer', answer: status, view: statusView, notes };
  const valid = await isAccepted(context);
  return { kind: 'answer', answer: { ...status, valid }, view: statusView, notes, exitCode: valid ? 0 : 4 };
}

/** The service in use; `undefined` where nothing names one. */
export async function serviceOf(context: Context): Promise<Service | undefined> {
  try {
    return await context.service();
  } catch (error) {
    if (error instanceof SotraError && error.code === 'no-service') return undefined;
    throw error;
  }
}

function keyMissing(status: AuthStatus, service: Service | undefined): SotraError {
  const login = `sotra auth login --context ${status.context ?? '<name>'}`;
  if (service === undefined)
    return new SotraError('key-missing', 'no service is configured, so there is no API key', {
      hint: `Choose a service and store its key: ${login} --base-url https://...`,
      details: status,
    });
  const bound = service.keyRefusedFor === undefined ? '' : `; the stored one was saved for ${service.keyRefusedFor}`;
  return new SotraError('key-missing', `no API key for ${status.baseUrl}${bound}`, {
    hint: `Store one with ${login}, or set SOTRA_API_KEY.`,
    details: status,
  });
}

async function isAccepted(context: Context): Promise<boolean> {
  try {
    await context.request({ method: 'GET', path: checkPath });
    return true;
  } catch (error) {
    if (error instanceof SotraError && (error.code === 'key-refused' || error.code === 'forbidden')) return false;
    throw error;
  }
}

/** A cheap request that shows whether a key is accepted. */
export const checkPath = '/v2/leaderboard?limit=1';
