import { type Command, defineCommand, type Result } from '../cli/command.ts';
import { option } from '../cli/params.ts';
import type { Context } from '../context.ts';
import { orUndefined, SotraError, usageError } from '../errors.ts';
import { command } from '../model/shell.ts';
import { column, recordView } from '../output/columns.ts';
import { showPlan } from '../output/confirm.ts';
import { chosenName } from './context-commands.ts';
import {
  findContext,
  type KeyStore,
  keyOriginOf,
  lastFour,
  readEnv,
  type Service,
  type StoredContext,
  type StoredSettings,
} from './settings.ts';

const logout = defineCommand({
  words: ['auth', 'logout'],
  summary: 'Remove the stored API key of a context',
  params: {},
  examples: [
    { argv: 'auth logout', says: 'of the current context' },
    { argv: 'auth logout --context staging', says: 'of another one' },
  ],
  uses: ['service', 'changes'],
  exitCodes: [3],
  run: (_, context) => runLogout(context),
});

const status = defineCommand({
  words: ['auth', 'status'],
  summary: 'Which API key is used, where it comes from and where it is kept',
  description: 'Ends with exit code 4 when there is no key, and with --check when the service refuses it.',
  params: { check: option.flag('check that the service accepts the key') },
  examples: [
    { argv: '--sandbox auth status', says: "the sandbox's own key" },
    { argv: '--sandbox auth status --check --json', says: 'as JSON, with the answer of the service' },
  ],
  uses: ['requests'],
  exitCodes: [3, 4, 6, 7, 8, 9, 13],
  view: async () => statusView,
  run: authStatus,
});

export const commands: readonly Command[] = [logout, status];

async function runLogout(context: Context): Promise<Result> {
  const store = await context.store();
  const name = needName(context, store.read());
  const before = findContext(name, store.read());
  if (keyOriginOf(before) === undefined) context.note(`Context ${name} has no stored key.`);
  else if (context.options.dryRun) {
    const where = before.keyStore === 'keychain' ? 'the keychain' : store.path;
    return showPlan([{ action: 'remove', what: `API key of context ${name}`, detail: where }]);
  } else {
    await dropFromKeychain(name, before, {}, context);
    await store.update(context.world, (now) => {
      const { [name]: own = {}, ...others } = now.contexts;
      const kept = withoutKey(own);
      return { ...now, contexts: { ...others, ...(Object.keys(kept).length === 0 ? {} : { [name]: kept }) } };
    });
    if (before.keyStore !== 'keychain') context.note(`The key of context ${name} is removed from ${store.path}.`);
  }
  if (readEnv(context.world.env, 'SOTRA_API_KEY') !== undefined) context.warn('SOTRA_API_KEY is still set and is used');
  return { kind: 'none' };
}

export function needName(context: Context, stored: StoredSettings): string {
  const name = chosenName(context, stored);
  if (name === 'sandbox')
    throw usageError(
      'the built-in sandbox has its own keys and stores none',
      'Use another of them: SOTRA_API_KEY=sandbox-key-b sotra --sandbox ...',
    );
  if (name !== undefined) return name;
  throw usageError(
    'no context is chosen',
    'Name one: sotra auth login --context clicker (the public deployment), or make one: sotra auth login --context <name> --base-url https://...',
  );
}

export function withoutKey({
  apiKey: _,
  sealedKey,
  keyStore,
  keyOrigin,
  keySuffix,
  ...kept
}: StoredContext): StoredContext {
  return kept;
}

/** Removes a key that the settings do not point to any more. */
export async function dropFromKeychain(name: string, before: StoredContext, after: StoredContext, context: Context) {
  if (before.keyStore !== 'keychain' || before.keyOrigin === undefined) return;
  if (after.keyStore === 'keychain' && after.keyOrigin === before.keyOrigin) return;
  await (await import('./keychain.ts')).deleteKeychain({ context: name, baseUrl: before.keyOrigin });
  context.note(`The key ...${before.keySuffix ?? ''} for ${before.keyOrigin} is removed from the keychain.`);
}

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

export const statusView = recordView<AuthStatus>([
  column.text('context', 'Context', 'the context in use'),
  column.text('baseUrl', 'Base URL', 'address of the service'),
  column.text('keySuffix', 'Key', 'last four characters of the key', {
    show: ({ keySuffix }) => `...${keySuffix ?? ''}`,
  }),
  column.text('keySource', 'From', 'SOTRA_API_KEY, context or sandbox', {
    show: ({ keySource }) => (keySource === null ? '' : sources[keySource]),
  }),
  column.text('store', 'Kept in', 'keychain, sealed or file, for a stored key'),
  column.flag('valid', 'Valid', 'whether the service accepts the key; with --check', {
    show: ({ valid }) => (valid === undefined ? 'not checked' : valid ? 'yes' : 'no, the service refuses it'),
  }),
]);

/** The key in use and where it comes from. Errors: `key-missing` with the same facts as details; those of a call with `check`. */
async function authStatus({ check }: { check?: boolean | undefined }, context: Context): Promise<Result> {
  const service = await orUndefined(context.service(), 'no-service');
  const status: AuthStatus = {
    context: service?.context ?? null,
    baseUrl: service?.baseUrl ?? null,
    keySource: service?.keySource ?? null,
    keySuffix: service?.apiKey ? lastFour(service.apiKey) : null,
    store: service?.keyStore ?? null,
  };
  if (service === undefined || service.apiKey === null) throw keyMissing(status, service);
  const notes =
    service.keyStore !== null && service.keyStore !== 'keychain'
      ? [`The settings are in ${(await context.store()).path}.`]
      : [];
  if (!check) return { kind: 'answer', answer: status, view: statusView, notes };
  const answer = await orUndefined(context.request({ method: 'GET', path: checkPath }), 'key-refused', 'forbidden');
  const valid = answer !== undefined;
  return { kind: 'answer', answer: { ...status, valid }, view: statusView, notes, exitCode: valid ? 0 : 4 };
}

function keyMissing(status: AuthStatus, service: Service | undefined): SotraError {
  const login =
    status.context === null
      ? 'sotra auth login --context <name>'
      : command`sotra auth login --context ${status.context}`;
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

export const checkPath = '/v2/leaderboard?limit=1';
